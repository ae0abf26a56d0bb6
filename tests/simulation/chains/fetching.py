"""Reads of one partition as a consumer does them: with the list of aborted transactions."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from dataplane.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from dataplane.wire.record_batch import iter_batches, iter_records

if TYPE_CHECKING:
    from tests.simulation.chains.session import Session

COMMITTED, UNCOMMITTED = 1, 0
_MARKER_KEY = struct.Struct(">hh")


class Read(NamedTuple):
    """`records`: offset and value of each that the isolation level shows. `next_offset`: behind
    everything that was looked at.
    """

    records: list[tuple[int, bytes]]
    next_offset: int
    high_watermark: int
    last_stable_offset: int


async def fetch(session: Session, topic: str, partition: int, offset: int, isolation: int) -> Read:
    """EndedError."""
    request = FetchRequest(
        max_wait_ms=50,
        min_bytes=1,
        max_bytes=1 << 20,
        isolation_level=isolation,
        session_id=0,
        session_epoch=-1,
        topics=[
            FetchTopic(
                topic=topic,
                partitions=[
                    FetchPartition(
                        partition=partition,
                        fetch_offset=offset,
                        partition_max_bytes=session.random.choice((500, 1 << 20)),
                    )
                ],
            )
        ],
    )
    answer = await session.of_leader(
        topic, partition, request, 12, lambda a: a.responses[0].partitions[0].error_code
    )
    got = answer.responses[0].partitions[0]
    records, behind = _visible(got, offset) if got.records else ([], offset)
    return Read(records, behind, got.high_watermark, got.last_stable_offset)


def _visible(got: Any, offset: int) -> tuple[list[tuple[int, bytes]], int]:
    """As a client does it: a transaction of the list is skipped up to its marker."""
    data = memoryview(bytes(got.records))
    listed = sorted((a.first_offset, a.producer_id) for a in got.aborted_transactions or ())
    aborted: set[int] = set()
    offset_behind = offset
    records = []
    for position, header in iter_batches(data):
        while listed and listed[0][0] <= header.last_offset:
            aborted.add(listed.pop(0)[1])
        batch = data[position : position + header.size_bytes]
        if header.is_control:
            marker = next(iter(iter_records(batch)))
            if _MARKER_KEY.unpack(bytes(marker.key or b""))[1] == 0:  # abort
                aborted.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborted):
            records += [
                (record.offset, bytes(record.value or b""))
                for record in iter_records(batch)
                if record.offset >= offset
            ]
        offset_behind = header.next_offset
    return records, max(offset, offset_behind)
