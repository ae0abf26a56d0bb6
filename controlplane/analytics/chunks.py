"""Slices ↔ the records that travel: a slice that is too long for one is cut into chunks. Pure.

Chunks that were read back are joined again; what is not whole, or fits nothing, is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spark_analytics.contracts.telemetry import (
    CHUNK_BYTES_MAX,
    CHUNK_VERSION,
    CHUNKS_MAX,
    SLICE_ARRAYS,
    TELEMETRY_VERSION,
)

Key = tuple[str, str, str]
"""(kind, topic, group or "")."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record for the telemetry topic."""

    key: bytes
    value: bytes


def encoded(
    slices: Iterable[Mapping[str, Any]], *, bytes_max: int = CHUNK_BYTES_MAX
) -> list[Record]:
    """The slices as they are sent; no value is longer than `bytes_max`, unless a single partition
    is. The chunks of one slice have one key and follow each other.
    """
    found = []
    for one in slices:
        key = f"{one['kind']}|{one['topic']}|{one.get('group', '')}".encode()
        found += [Record(key, value) for value in _values(one, bytes_max)]
    return found


def whole(records: Iterable[Any]) -> dict[tuple[Key, int], dict[str, Any]]:
    """The slices among records that were read, by key and `ts_ms`, in no order of these.

    A record that came twice counts once. Who may write to the topic may write anything: what is
    neither a slice nor a chunk is left out, and so is a slice of which a chunk is missing.
    """
    found: dict[tuple[Key, int], dict[str, Any]] = {}
    chunks: dict[tuple[Key, int, int], dict[int, dict[str, Any]]] = {}
    for record in records:
        try:
            key = (record["kind"], record["topic"], record.get("group") or "")
            at = (key, record["ts_ms"])
            if _is_chunk(record):
                chunks.setdefault((*at, record["chunks"]), {})[record["chunk"]] = record
            elif record["v"] == TELEMETRY_VERSION and record.get("chunks") is None:
                found[at] = record
        except (KeyError, TypeError, AttributeError):
            continue
    for (key, ts_ms, count), parts in chunks.items():
        if len(parts) == count:
            found[key, ts_ms] = _joined([parts[number] for number in range(count)])
    return found


def _values(one: Mapping[str, Any], bytes_max: int) -> Iterator[bytes]:
    value = _json(one)
    if len(value) <= bytes_max:
        yield value
        return
    names = ("partition", *SLICE_ARRAYS[one["kind"]])
    runs = list(_runs(one, names, bytes_max))
    for number, (start, end) in enumerate(runs):
        part = {name: one[name][start:end] for name in names}
        numbered = {"chunk": number, "chunks": len(runs)}
        yield _json({**one, "v": CHUNK_VERSION, **part, **numbered})


def _runs(
    one: Mapping[str, Any], names: Sequence[str], bytes_max: int
) -> Iterator[tuple[int, int]]:
    """From which partition to which each chunk goes: as many as fit, at least one."""
    nothing = dict.fromkeys(names, ())
    numbered = {"chunk": CHUNKS_MAX, "chunks": CHUNKS_MAX}
    room = bytes_max - len(_json({**one, "v": CHUNK_VERSION, **nothing, **numbered}))
    start = taken = 0
    for at, values in enumerate(zip(*(one[name] for name in names), strict=True)):
        # A comma each, of which the last is too many.
        cost = sum(5 if value is None else len(str(value)) + 1 for value in values)
        if at > start and taken + cost > room:
            yield start, at
            start, taken = at, 0
        taken += cost
    yield start, len(one["partition"])


def _is_chunk(record: Mapping[str, Any]) -> bool:
    chunk, chunks = record.get("chunk"), record.get("chunks")
    return (
        record.get("v") == CHUNK_VERSION
        and type(chunk) is int
        and type(chunks) is int
        and 0 <= chunk < chunks <= CHUNKS_MAX
        and all(isinstance(record.get(name), list) for name in _arrays(record))
    )


def _arrays(record: Mapping[str, Any]) -> tuple[str, ...]:
    return ("partition", *SLICE_ARRAYS[record["kind"]])


def _joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One slice, as it was before it was cut."""
    first = {name: value for name, value in parts[0].items() if name not in {"chunk", "chunks"}}
    arrays = {name: [value for part in parts for value in part[name]] for name in _arrays(parts[0])}
    return {**first, "v": TELEMETRY_VERSION, **arrays}


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
