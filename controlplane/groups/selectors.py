"""Reads of groups: lists and pages from the observed tables. Plans ask the brokers (`rules`)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.utils import timezone

from controlplane.common.problems import NotFound
from controlplane.groups.diagnosis import GroupFacts, Place, Standing, diagnose
from controlplane.groups.places import diagnosis_dict, place_dict, places_of, unread_at_most
from controlplane.groups.sources import judgements
from controlplane.observed.models import ObservedRow
from controlplane.observed.readers import Reader
from controlplane.observed.sections import GROUPS
from controlplane.observed.selectors import Section, details_of, reason_alone, shown
from controlplane.observed.services import observed_row
from spark_analytics.contracts.statuses import Severity

DETAILED_MAX = 200
"""Groups of a list whose partitions are looked at, the worst first; of more only the sums are."""
_HARMED = frozenset({Severity.WARNING, Severity.DANGER})


def group_row(row: ObservedRow, at: Section) -> dict[str, Any]:
    """A row of the list; the lag is null while a part of it is not known.

    The lag is that of the commits. `unread_at_most` counts all records of partitions without one,
    as a consumer reads them that begins at the earliest.
    """
    unknown = {"uncommitted_partitions": None, "uncommitted_records": None}
    found = {**unknown, **shown(row, at)}
    return {**found, "unread_at_most": unread_at_most(found)}


def with_diagnosis(reader: Reader, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the list with their `diagnosis`, in a number of statements that grows by 500 rows."""
    standings = _standings(reader, [row["group"] for row in rows])
    harmed = sorted(
        (name for name, found in standings.items() if any(s.severity in _HARMED for s in found)),
        key=lambda name: max(standing.harm for standing in standings[name]),
        reverse=True,
    )[:DETAILED_MAX]
    details = details_of(reader, GROUPS, harmed) if harmed else {}
    standings |= _by_partition(reader, {name: standings[name] for name in harmed})
    for row in rows:
        found, detail = standings.get(row["group"], []), details.get(row["group"])
        places = [] if detail is None else places_of(detail, found)
        row["diagnosis"] = _diagnosis(row, found, places, detail or {})
    return rows


def group_detail(reader: Reader, group: str) -> dict[str, Any]:
    """A group with its members, its place in each partition, and its diagnosis.

    Raises:
        NotFound: the brokers have no such group, or the reader does not see it.
    """
    found = observed_row(reader, GROUPS, group)
    if found is None:
        raise NotFound(f"There is no group {group}.")
    row, at = found
    shown_row = group_row(row, at)
    standings = _by_partition(reader, _standings(reader, [group])).get(group, [])
    places = places_of(row.detail, standings)
    members = {member["member_id"]: member for member in row.detail["members"]}
    sampled = {each.topic: each.sampled_ms for each in standings if each.by_partition is not None}
    metadata = {(topic, number): text for topic, number, *_, text in row.detail["offsets"]}
    return {
        **shown_row,
        "stale_reason": reason_alone(row, at),
        "diagnosis": _diagnosis(shown_row, standings, places, row.detail),
        "members": row.detail["members"],
        "offsets": [
            place_dict(
                place,
                owner=members.get(place.owner or ""),
                sampled_ms=sampled.get(place.topic),
                metadata=metadata[place.topic, place.partition],
            )
            for place in places
        ],
    }


def _standings(reader: Reader, groups: list[str]) -> dict[str, list[Standing]]:
    """Of what the reader sees of their topics."""
    found = judgements().of(reader.cluster_id, groups)
    return {
        group: [standing for standing in standings if reader.sees_topic(standing.topic)]
        for group, standings in found.items()
    }


def _by_partition(
    reader: Reader, standings: Mapping[str, list[Standing]]
) -> dict[str, list[Standing]]:
    """The same with what is kept of each partition, where the verdict is the collector's."""
    if not standings:
        return {}
    kept = judgements().partitions_of(reader.cluster_id, standings.keys())
    return {
        group: [
            replace(each, by_partition=kept.get((group, each.topic))) if each.is_live else each
            for each in found
        ]
        for group, found in standings.items()
    }


def _diagnosis(
    row: Mapping[str, Any],
    standings: Iterable[Standing],
    places: Iterable[Place],
    detail: Mapping[str, Any],
) -> dict[str, Any]:
    members = detail.get("members", [])
    facts = GroupFacts(
        state=row["state"],
        count=len(members) if members else row["members"],
        now_ms=int(timezone.now().timestamp() * 1000),
        members={each["member_id"]: f"{each['client_id']} ({each['host']})" for each in members},
        standings=tuple(standings),
        places=tuple(places),
        lag=row["lag"],
        uncommitted_partitions=row["uncommitted_partitions"],
        uncommitted_records=row["uncommitted_records"],
    )
    return diagnosis_dict(diagnose(facts))
