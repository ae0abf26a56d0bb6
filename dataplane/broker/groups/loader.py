"""Reading one partition of `__consumer_offsets` from its start into a group shard."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from dataplane.groups.records import CoordinatorRecord
from dataplane.wire.record_batch import iter_batches, iter_records

if TYPE_CHECKING:
    from dataplane.broker.replicas.partition import Partition
    from dataplane.groups.shard import GroupShard

_log = logging.getLogger(__name__)

READ_BYTES: Final = 1024 * 1024


async def load(partition: Partition, shard: GroupShard) -> int:
    """Replay the whole log; gives way to the loop after every read. Returns the record count.

    The leader's log is the truth, so records above the high watermark count too: they will be
    committed, or leadership is lost. KafkaError or OSError when the log cannot be read.
    """
    log = partition.log
    offset, end_offset, count = log.log_start_offset, log.log_end_offset, 0
    while offset < end_offset:
        data = log.read(offset, READ_BYTES, end_offset, min_one_batch=True).read()
        next_offset = offset
        for position, header in iter_batches(data):
            next_offset = header.next_offset
            if header.is_control or header.is_transactional:
                continue  # transactional offset commits are not served
            for record in iter_records(data, position):
                if record.offset >= offset and record.key is not None:
                    count += _replay(partition, shard, record.offset, record.key, record.value)
        if next_offset == offset:
            break
        offset = next_offset
        await asyncio.sleep(0)
    return count


def _replay(
    partition: Partition, shard: GroupShard, offset: int, key: bytes, value: bytes | None
) -> int:
    try:
        shard.replay(CoordinatorRecord(key, value))
    except ValueError as error:
        # One record of a newer release must not take the whole partition down.
        _log.warning("%s offset %d skipped: %s", partition.topic_partition, offset, error)
        return 0
    return 1
