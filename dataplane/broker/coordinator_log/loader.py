"""Reading one partition of a coordinator's topic from its start into a shard."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from dataplane.log.appending.end_marker import read_marker
from dataplane.wire.record_batch import iter_batches, iter_records

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.replicas.partition import Partition

    Replay = Callable[[bytes, bytes | None], None]

_log = logging.getLogger(__name__)

READ_BYTES: Final = 1024 * 1024


class Transactions(Protocol):
    """Takes what lies in transactions: records count once their marker says so."""

    def replay_in_transaction(self, producer_id: int, key: bytes, value: bytes | None) -> None: ...

    def transaction_ended(self, producer_id: int, *, is_commit: bool) -> None: ...


async def load(partition: Partition, replay: Replay, transactions: Transactions) -> int:
    """Replay every key and value of the log; gives way to the loop after every read.

    Returns the record count.

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
            if header.is_control:
                marker = read_marker(memoryview(data)[position : position + header.size_bytes])
                if marker is not None:
                    transactions.transaction_ended(header.producer_id, is_commit=marker.is_commit)
                continue
            take = replay
            if header.is_transactional:
                take = partial(transactions.replay_in_transaction, header.producer_id)
            for record in iter_records(data, position):
                if record.offset >= offset and record.key is not None:
                    count += _try(take, partition, record.offset, record.key, record.value)
        if next_offset == offset:
            break
        offset = next_offset
        await asyncio.sleep(0)
    return count


def _try(replay: Replay, partition: Partition, offset: int, key: bytes, value: bytes | None) -> int:
    try:
        replay(key, value)
    except ValueError as error:
        # One record of a newer release must not take the whole partition down.
        _log.warning("%s offset %d skipped: %s", partition.topic_partition, offset, error)
        return 0
    return 1
