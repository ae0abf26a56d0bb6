"""Where a group stands in each partition, and its diagnosis, as REST shows them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from controlplane.common.times import iso
from controlplane.groups.diagnosis import Diagnosis, Place, Standing

Row = Mapping[str, Any]
_OF_COLLECTOR = (
    "lag_s",
    "lag_s_at_least",
    "produce_records_per_s",
    "consume_records_per_s",
    "eta_s",
    "stuck_s",
    "expires_in_s",
    "first_loss_in_s",
    "lost_records",
    "is_behind",
)
_OF_COMMITS = frozenset(_OF_COLLECTOR) - {"produce_records_per_s"}
"""What a partition without a commit has none of."""
SHOWN = tuple(name for name in _OF_COLLECTOR if name != "is_behind")


def places_of(detail: Row, standings: Sequence[Standing]) -> list[Place]:
    """By topic and partition, from the observed detail of a group and what is kept of each."""
    owners = {
        (part["topic"], part["partition"]): member["member_id"]
        for member in detail["members"]
        for part in member["partitions"]
    }
    kept = {each.topic: each.by_partition for each in standings if each.by_partition is not None}
    return [
        Place(
            topic=topic,
            partition=number,
            committed=committed,
            log_start=start,
            log_end=end,
            owner=owners.get((topic, number)),
            **_facts(kept.get(topic), number, has_commit=committed is not None),
        )
        for topic, number, committed, start, end, _ in detail["offsets"]
    ]


def _facts(
    kept: Mapping[str, list[float | None]] | None, number: int, *, has_commit: bool
) -> dict[str, Any]:
    if kept is None:
        return {}
    found: dict[str, Any] = {}
    for name in _OF_COLLECTOR:
        values = kept.get(name, [])
        value = values[number] if number < len(values) else None
        found[name] = None if not has_commit and name in _OF_COMMITS else value
    lost, is_behind = found["lost_records"], found["is_behind"]
    found["lost_records"] = None if lost is None else int(lost)
    found["is_behind"] = None if is_behind is None else is_behind == 1
    return found


def place_dict(
    place: Place, *, owner: Row | None, sampled_ms: int | None, metadata: str
) -> dict[str, Any]:
    """`lag` is of the commit; without one between none and all that is held is unread."""
    at_least, at_most = place.lag, place.lag
    if place.committed is None:
        at_least, at_most = 0, place.held
    return {
        "topic": place.topic,
        "partition": place.partition,
        "committed": place.committed,
        "log_start": place.log_start,
        "log_end": place.log_end,
        "lag": place.lag,
        "unread_at_least": at_least,
        "unread_at_most": at_most,
        "metadata": metadata,
        "owner": None
        if owner is None
        else {name: owner[name] for name in ("member_id", "client_id", "host")},
        "sampled_at": _moment(sampled_ms),
        **{name: getattr(place, name) for name in SHOWN},
    }


def unread_at_most(row: Row) -> int | None:
    """Of a group's row: behind its commits, and all that partitions without one hold.

    A group that has committed nothing has no lag: nothing of it is unknown.
    """
    behind = row["lag"] if row["topics"] else 0
    held = row["uncommitted_records"]
    return None if behind is None or held is None else behind + held


def diagnosis_dict(found: Diagnosis) -> dict[str, Any]:
    row = asdict(found)
    as_of = _moment(row.pop("as_of_ms"))
    return {**row, "partitions": list(found.partitions), "unknown": list(found.unknown)} | {
        "as_of": as_of
    }


def _moment(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(datetime.fromtimestamp(at_ms / 1000, UTC))
