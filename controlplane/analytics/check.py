"""Gold beside what it was made from and beside the brokers of this moment. Pure.

A gold row is of one sample, so it must equal the telemetry record of that sample, always. It equals
the live offsets and log directories only where nothing moved since: `settle` says which it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from controlplane.analytics.chunks import Key
from controlplane.analytics.slices import Sample, group_record, topic_record
from spark_analytics.contracts.telemetry import KIND_GROUP, KIND_TOPIC


class Verdict(StrEnum):
    EQUAL = "equal"
    MOVED = "moved since"
    DIFFERENT = "DIFFERENT"
    NO_RECORD = "NO RECORD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One number of gold: lag in records of a group, or bytes of a topic."""

    key: Key
    sampled_ms: int
    value: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One claim with what stands beside it."""

    claim: Claim
    recorded: int | None
    live: int | None
    verdict: Verdict


def number_of(record: Mapping[str, Any]) -> int | None:
    """Lag in records of a group's record, bytes of a topic's; null when a part is unknown.

    Written from the definition in plain Python, not from Spark's formulas.
    """
    if record["kind"] == KIND_TOPIC:
        return _sum(record["size_bytes"])
    committed = [
        (end, at)
        for end, at in zip(record["log_end_offset"], record["committed_offset"], strict=True)
        if at >= 0
    ]
    if not committed:
        return None
    return _sum([None if end is None else max(0, end - at) for end, at in committed])


def live_records(cluster_id: str, sample: Sample) -> dict[Key, dict[str, Any]]:
    """What the collector would write of this look, by key."""
    by_name = {topic.name: topic for topic in sample.topics}
    found = {
        (KIND_TOPIC, name, ""): topic_record(cluster_id, sample, topic)
        for name, topic in by_name.items()
    }
    for group, committed in sample.committed.items():
        for name in {tp.topic for tp in committed} & by_name.keys():
            record = group_record(cluster_id, sample, group, by_name[name])
            found[KIND_GROUP, name, group] = record
    return found


def compare(
    claims: Sequence[Claim],
    recorded: Mapping[tuple[Key, int], Mapping[str, Any]],
    live: Mapping[Key, Mapping[str, Any]],
    *,
    quiesced: bool,
) -> list[Line]:
    """A line per claim. With `quiesced` a difference to the live numbers is a difference."""
    return [_line(claim, recorded, live, quiesced=quiesced) for claim in claims]


def _line(
    claim: Claim,
    recorded: Mapping[tuple[Key, int], Mapping[str, Any]],
    live: Mapping[Key, Mapping[str, Any]],
    *,
    quiesced: bool,
) -> Line:
    record, now = recorded.get((claim.key, claim.sampled_ms)), live.get(claim.key)
    then_value = None if record is None else number_of(record)
    live_value = None if now is None else number_of(now)
    if record is None:
        verdict = Verdict.NO_RECORD
    elif then_value != claim.value:
        verdict = Verdict.DIFFERENT
    elif live_value == claim.value:
        verdict = Verdict.EQUAL
    else:
        verdict = Verdict.DIFFERENT if quiesced or _stands(record, now) else Verdict.MOVED
    return Line(claim=claim, recorded=then_value, live=live_value, verdict=verdict)


def _stands(record: Mapping[str, Any], now: Mapping[str, Any] | None) -> bool:
    """Every offset is what it was: another number then is no movement."""
    names = ("partition", "committed_offset", "log_start_offset", "log_end_offset")
    return now is not None and all(record.get(name) == now.get(name) for name in names)


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
