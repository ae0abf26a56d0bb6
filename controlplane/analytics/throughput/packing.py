"""Positions, layouts and rates as the bytes that the tables hold. Pure.

Clients choose names with characters that no text column takes, and 100,000 numbers are a third as
long packed as written out. What cannot be unpacked was not packed here: it counts as none.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from controlplane.analytics.throughput.rates import Key, LogAt, Positions, Rates, rates_of

COLUMNS = len(Rates._fields)
SHARD_SERIES = 1_000
"""About as many are in one block: a question about one topic reads one block a step."""
MARK_CHARS = 40
_LEVEL = 1  # most rates are 0, for which the fastest is as good
_UNPACKABLE = (zlib.error, ValueError, TypeError, KeyError, IndexError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The series of one block, in order."""

    mark: str
    shard: int
    shards: int
    keys: tuple[Key, ...]

    def packed(self) -> bytes:
        return _zipped(self.keys)

    def of_kind(self, kind: str) -> Layout:
        """The same series for another kind's blocks."""
        text = json.dumps([kind, self.mark])
        return replace(self, mark=hashlib.sha256(text.encode()).hexdigest()[:MARK_CHARS])


def shards_of(count: int) -> int:
    """A power of two, so that few series change their block when their number does."""
    return 1 << max(0, math.ceil(math.log2(max(1, count) / SHARD_SERIES)))


def shard_of(name: Any, shards: int) -> int:
    """By the first name of a key: all partitions of a topic are in one."""
    return zlib.crc32(json.dumps(name).encode()) & (shards - 1)


def layouts(kind: str, keys: Iterable[Key]) -> list[Layout]:
    """Every key is in exactly one; none of them is empty."""
    ordered = sorted(keys, key=lambda key: [str(part).zfill(10) for part in key])
    shards = shards_of(len(ordered))
    by_shard: dict[int, list[Key]] = {}
    for key in ordered:
        name = key[1] if len(key) > 1 else ""
        by_shard.setdefault(shard_of(name, shards), []).append(key)
    return [
        Layout(mark=_mark(kind, shards, found), shard=shard, shards=shards, keys=tuple(found))
        for shard, found in sorted(by_shard.items())
    ]


def _mark(kind: str, shards: int, keys: Sequence[Key]) -> str:
    text = json.dumps([kind, shards, keys])
    return hashlib.sha256(text.encode()).hexdigest()[:MARK_CHARS]


def unpacked_keys(data: bytes) -> list[Key]:
    try:
        return [tuple(key) for key in _unzipped(data)]
    except _UNPACKABLE:
        return []


def packed_rates(keys: Iterable[Key], rates: Mapping[Key, Rates]) -> bytes:
    flat = array("f")
    for key in keys:
        flat.extend(math.nan if value is None else value for value in rates.get(key, Rates()))
    if sys.byteorder != "little":
        flat.byteswap()
    return zlib.compress(flat.tobytes(), _LEVEL)


def unpacked_rates(data: bytes, wanted: Iterable[int]) -> dict[int, Rates]:
    """By place in the layout, those that are wanted and there."""
    flat = array("f")
    try:
        flat.frombytes(zlib.decompress(data))
    except _UNPACKABLE:
        return {}
    if sys.byteorder != "little":
        flat.byteswap()
    found = {}
    for at in wanted:
        row = flat[at * COLUMNS : (at + 1) * COLUMNS]
        if len(row) == COLUMNS:
            *values, known = row
            found[at] = rates_of([None if math.isnan(one) else one for one in values], known)
    return found


def packed_positions(at: Positions) -> bytes:
    return _zipped(
        {
            "ts_ms": at.ts_ms,
            "topics": [
                [name, at.ids[name], [[partition, *log] for partition, log in logs.items()]]
                for name, logs in at.logs.items()
            ],
            "groups": [
                [group, [[topic, list(each.items())] for topic, each in topics.items()]]
                for group, topics in at.commits.items()
            ],
        }
    )


def unpacked_positions(data: bytes) -> Positions | None:
    try:
        found = _unzipped(data)
        return Positions(
            ts_ms=found["ts_ms"],
            ids={name: topic_id for name, topic_id, _ in found["topics"]},
            logs={
                name: {partition: LogAt(*log) for partition, *log in logs}
                for name, _, logs in found["topics"]
            },
            commits={
                group: {topic: dict(each) for topic, each in topics}
                for group, topics in found["groups"]
            },
        )
    except _UNPACKABLE:
        return None


def _zipped(value: Any) -> bytes:
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), _LEVEL)


def _unzipped(data: bytes) -> Any:
    return json.loads(zlib.decompress(data))
