"""Carries out on a follower's replica what the fetcher core decides."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.replication.effects import (
    AppendToLog,
    RaiseLogStart,
    TruncateFully,
    TruncateTo,
    UpdateHighWatermark,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataplane.broker.replicas.partition import Partition
    from dataplane.replication.effects import FollowerEffect

_log = logging.getLogger(__name__)


def carry_out(partition: Partition, effects: Sequence[FollowerEffect]) -> int:
    """Bytes appended. KafkaError: our log refuses the records. OSError: our log has failed.

    Records are appended straight from the connection's buffer.
    """
    log = partition.log
    size = 0
    for effect in effects:
        match effect:
            case AppendToLog(records):
                log.append_as_follower(records)
                size = len(records)
            case UpdateHighWatermark(offset):
                partition.high_watermark_from_leader(offset)
            case RaiseLogStart(offset):
                log.delete_records_before(min(offset, log.log_end_offset))
            case TruncateTo(offset):
                log.truncate_to(offset)
            case TruncateFully(offset):
                _log.warning(
                    "%s: the leader's log begins at %d, beyond ours: starting over there",
                    partition.topic_partition,
                    offset,
                )
                log.truncate_fully_and_start_at(offset)
    return size
