"""A follower's side of one partition: what to fetch next, and what to do with the answer."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from dataplane.broker.partition import Partition
    from dataplane.wire.messages.fetch import PartitionData

_log = logging.getLogger(__name__)

NO_EPOCH = -1


class Following:
    """One followed partition. Divergence is found and cut by the leader's epochs (KIP-595)."""

    __slots__ = ("delayed_until_s", "leader_epoch", "needs_leader_range", "partition")

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.leader_epoch = partition.leader_epoch
        self.delayed_until_s = 0.0
        self.needs_leader_range = False

    @property
    def fetch_offset(self) -> int:
        return self.partition.log.log_end_offset

    @property
    def last_fetched_epoch(self) -> int:
        epoch = self.partition.log.latest_epoch
        return NO_EPOCH if epoch is None else epoch

    def on_answer(self, asked_offset: int, answer: PartitionData) -> int:
        """Take an answer to a fetch from `asked_offset`; bytes appended. KafkaError, OSError.

        An answer that no longer fits the log (the set of partitions changed while it travelled)
        is ignored.
        """
        log = self.partition.log
        if asked_offset != log.log_end_offset:
            return 0
        if answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self.needs_leader_range = True
            return 0
        if answer.error_code != ErrorCode.NONE:
            raise KafkaError(ErrorCode(answer.error_code))
        if answer.diverging_epoch.epoch >= 0:
            self._truncate(answer.diverging_epoch.epoch, answer.diverging_epoch.end_offset)
            return 0
        size = 0
        records = answer.records
        if records is not None and len(records):
            log.append_as_follower(records)
            size = len(records)
        if answer.log_start_offset > log.log_start_offset:
            log.update_high_watermark(max(answer.high_watermark, log.high_watermark))
            log.delete_records_before(min(answer.log_start_offset, log.log_end_offset))
        self.partition.high_watermark_from_leader(answer.high_watermark)
        return size

    def _truncate(self, leader_epoch: int, leader_end_offset: int) -> None:
        """Cut what the leader does not have: the end of the last epoch that both know."""
        log = self.partition.log
        epoch, end_offset = log.end_offset_for_epoch(leader_epoch)
        if epoch == leader_epoch:
            target = min(leader_end_offset, end_offset)
        elif epoch >= 0:
            target = end_offset
        else:
            target = log.high_watermark
        _log.info(
            "%s: our log parts from the leader's: truncating from %d to %d",
            self.partition.topic_partition,
            log.log_end_offset,
            target,
        )
        log.truncate_to(max(target, log.log_start_offset))

    def on_leader_range(self, start_offset: int, end_offset: int) -> None:
        """Our end lies outside the leader's log: cut to its end, or start anew at its start."""
        log = self.partition.log
        self.needs_leader_range = False
        if end_offset < log.log_end_offset:
            log.truncate_to(max(end_offset, log.log_start_offset))
        elif start_offset > log.log_end_offset:
            _log.warning(
                "%s: the leader begins at %d, after our end %d: starting anew there",
                self.partition.topic_partition,
                start_offset,
                log.log_end_offset,
            )
            log.truncate_fully_and_start_at(start_offset)
