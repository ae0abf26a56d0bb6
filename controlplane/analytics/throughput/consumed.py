"""What groups read of each partition over a step, and the bytes that say so. Pure.

Commits are counted, so that a number is exact; what fell (an offset reset) and what was not
committed at both ends is not known. A block has a row a series of a layout of groups, and in it a
cell a partition from 0 on: 0 is no commit, 1 is not known, n is n - 2 records.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, pairwise

from controlplane.analytics.throughput.rates import Key, Positions, is_same

CELLS_MAX = 200_000
"""Of one cluster; with more none is kept. A topic's partitions up to the last with a commit."""
RECORDS_MAX = 2**32 - 3
"""Of one step; more is no rate."""
_LEVEL = 1
_CELL_BYTES = 4
_NO_COMMIT, _UNKNOWN, _NONE = 0, 1, 2
_UNPACKABLE = (zlib.error, ValueError, IndexError)

Consumed = Mapping[Key, Mapping[int, int | None]]
"""By group and topic ("g", group, topic): records by partition; None is unknown."""


def consumed_between(before: Positions, after: Positions) -> Consumed:
    """Of every partition with a commit now; meant for looks that have rates between them."""
    found: dict[Key, dict[int, int | None]] = {}
    for group, topics in after.commits.items():
        earlier = before.commits.get(group, {})
        for topic, now in topics.items():
            was = earlier.get(topic, {}) if is_same(before, after, topic) else {}
            found["g", group, topic] = {
                partition: _step(was.get(partition), offset)
                for partition, offset in now.items()
                if partition >= 0
            }
    return found


def _step(was: int | None, now: int) -> int | None:
    return now - was if was is not None and 0 <= now - was <= RECORDS_MAX else None


def cells_of(consumed: Consumed) -> int:
    """How many a step takes; a partition's number may be anything that brokers say."""
    return sum(max(each) + 1 for each in consumed.values() if each)


def packed_consumed(keys: Iterable[Key], consumed: Consumed, span_ms: int) -> bytes:
    """In a layout's order. All cells' lowest bytes first: most are zeros, which pack well."""
    rows = [_cells(consumed.get(key, {})) for key in keys]
    flat = array("I", [span_ms, len(rows), *(len(row) for row in rows)])
    for row in rows:
        flat.extend(row)
    if sys.byteorder != "little":
        flat.byteswap()
    raw = flat.tobytes()
    planes = b"".join(raw[at::_CELL_BYTES] for at in range(_CELL_BYTES))
    return zlib.compress(planes, _LEVEL)


def _cells(records: Mapping[int, int | None]) -> array[int]:
    row = array("I", bytes(_CELL_BYTES * (max(records, default=-1) + 1)))
    for partition, count in records.items():
        row[partition] = _UNKNOWN if count is None else count + _NONE
    return row


def unpacked_consumed(
    data: bytes, wanted: Mapping[int, Iterable[int]]
) -> Iterator[tuple[int, int, float | None]]:
    """(place in the layout, partition, records a second) of what is wanted and has a commit.

    `wanted`: partitions by place. What cannot be unpacked says nothing.
    """
    flat = _flat(data)
    if len(flat) < 2 or flat[0] == 0 or len(flat) < flat[1] + 2:
        return
    span_s, count = flat[0] / 1000, flat[1]
    ends = accumulate(flat[2 : count + 2], initial=count + 2)
    for place, (start, end) in enumerate(pairwise(ends)):
        for partition in wanted.get(place, ()):
            at = start + partition
            if at < min(end, len(flat)) and flat[at] != _NO_COMMIT:
                known = flat[at] != _UNKNOWN
                yield place, partition, (flat[at] - _NONE) / span_s if known else None


def _flat(data: bytes) -> array[int]:
    flat = array("I")
    try:
        planes = zlib.decompress(data)
        size = len(planes) // _CELL_BYTES
        raw = bytearray(size * _CELL_BYTES)
        for at in range(_CELL_BYTES):
            raw[at::_CELL_BYTES] = planes[at * size : (at + 1) * size]
    except _UNPACKABLE:
        return flat
    flat.frombytes(bytes(raw))
    if sys.byteorder != "little":
        flat.byteswap()
    return flat
