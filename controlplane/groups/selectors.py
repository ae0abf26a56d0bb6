"""Reads of groups: lists and pages from the observed tables. Plans ask the brokers (`rules`)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from django.db.models import F, Max, Q, QuerySet
from django.db.models.fields.json import KT
from django.utils import timezone

from controlplane.common.problems import NotFound
from controlplane.groups.diagnosis import GroupFacts, Place, Standing, diagnose
from controlplane.groups.places import diagnosis_dict, place_dict, places_of, unread_at_most
from controlplane.groups.sources import judgements
from controlplane.observed.listings import (
    EXPORT_ROWS_MAX,
    Listed,
    Wanted,
    listed,
    named,
    names_in_order,
    names_of,
    page_within,
)
from controlplane.observed.models import ObservedRow
from controlplane.observed.readers import Reader
from controlplane.observed.sections import GROUPS
from controlplane.observed.selectors import (
    Section,
    cut,
    details_of,
    reason_alone,
    rows_to_cut,
    shown,
)
from controlplane.observed.services import observed_row
from spark_analytics.contracts.statuses import Severity

DETAILED_MAX = 200
"""Groups of a list whose partitions are looked at, the worst first; of more only the sums are."""
_HARMED = frozenset({Severity.WARNING, Severity.DANGER})

LAGGING, TROUBLE = "lagging", "trouble"
GROUP_FILTERS = (LAGGING, TROUBLE)
"""What a list of groups may be asked for: only those that may have something unread; only those
that need somebody.
"""
MAY_BE_UNREAD = Q(lag__gt=0) | Q(lag=None) | Q(row__uncommitted_records__gt=0)
UNKNOWN_UNREAD = {"uncommitted_partitions": None, "uncommitted_records": None}
COLUMNS: dict[str, Any] = {
    "group": "key",
    "state": KT("row__state"),
    "members": "members",
    "lag": "lag",
    "coordinator": "coordinator",
}
JUDGED = ("verdict", "seconds")
"""Orders by what was made of a group, which is in no column of its row."""
GROUP_ORDERS = (*COLUMNS, *JUDGED)


class Judged(NamedTuple):
    """How a group does on its worst topic; a tuple, as a page makes one of each of its groups.

    Attributes:
        harm: sorts the worst last; null: nobody has judged it.
        is_trouble: whether it is worth somebody's attention.
    """

    harm: tuple[int, ...] | None = None
    lag_s: float | None = None
    is_trouble: bool = False


NOT_JUDGED = Judged()
Judgements = Callable[[], Mapping[str, Judged]]


def groups_listed(reader: Reader, wanted: Wanted, judgements: Judgements) -> Listed:
    """A page of the groups that the reader sees; `judgements` are asked where the order needs them.

    The database orders and pages, but by what its rows do not say: a judgement, or the lag in the
    part of the topics that the reader sees. Then names and those numbers are read, and no more.
    """
    rows = rows_to_cut(reader, GROUPS)
    if _is_told_here(reader, wanted):
        lags = _lags_in_order(reader, rows, wanted, judgements)
        names = [*lags]
        page = page_within(wanted, len(names))
        return Listed(
            rows=named(reader, rows, names[(page - 1) * wanted.size : page * wanted.size]),
            page=page,
            matched=len(names),
            total=rows.count() if _is_narrowed(wanted) else len(names),
            figures={
                "largest_lag": max((lag for lag in lags.values() if lag is not None), default=None)
            },
        )
    return listed(
        reader,
        rows,
        wanted,
        match=_match(wanted),
        order=COLUMNS[wanted.sort or "group"],
        figures={"largest_lag": (Max, "lag")},
    )


def group_names(reader: Reader, wanted: Wanted, judgements: Judgements) -> list[str]:
    """Of all that match, in the order that is asked for; one more than a file may have at most."""
    rows = rows_to_cut(reader, GROUPS)
    if _is_told_here(reader, wanted):
        return [*_lags_in_order(reader, rows, wanted, judgements)][: EXPORT_ROWS_MAX + 1]
    return names_of(rows.filter(_match(wanted)), wanted, COLUMNS[wanted.sort or "group"])


def _is_judged(wanted: Wanted) -> bool:
    return wanted.sort in JUDGED or TROUBLE in wanted.filters


def _is_told_here(reader: Reader, wanted: Wanted) -> bool:
    """Whether the order is of what no column says."""
    return _is_judged(wanted) or not reader.sees_all_topics


def _is_narrowed(wanted: Wanted) -> bool:
    return bool(wanted.search or wanted.only_first or wanted.filters)


def _match(wanted: Wanted) -> Q:
    found = wanted.matching()
    return found & MAY_BE_UNREAD if LAGGING in wanted.filters else found


def _lags_in_order(
    reader: Reader, rows: QuerySet[ObservedRow], wanted: Wanted, judgements: Judgements
) -> dict[str, int | None]:
    """The lag by name, of all that match, in the order that is asked for."""
    facts = list(_facts(reader, rows.filter(wanted.matching()), wanted))
    judged = judgements() if _is_judged(wanted) else {}
    if TROUBLE in wanted.filters:
        facts = [one for one in facts if judged.get(one[0], NOT_JUDGED).is_trouble]
    lags = {one[0]: one[1] for one in facts}
    if wanted.sort in JUDGED:
        worth = _worth_judged(wanted.sort, lags, judged)
    else:
        worth = {one[0]: one[-1] for one in facts}
    return {name: lags[name] for name in names_in_order(worth, wanted)}


def _facts(
    reader: Reader, rows: QuerySet[ObservedRow], wanted: Wanted
) -> Iterable[tuple[Any, ...]]:
    """(name, lag, and last what the order is of where a column says it), as the reader sees them:
    the lag is the last one too where no other column says it.
    """
    order, is_lagging = wanted.sort, LAGGING in wanted.filters
    if reader.sees_all_topics:
        rows = rows.filter(MAY_BE_UNREAD) if is_lagging else rows
        column = COLUMNS.get(order, "lag")
        value = F(column) if isinstance(column, str) else column
        more = () if column == "lag" else (value,)
        return rows.order_by().values_list("key", "lag", *more)
    cuts = (cut(reader, row) for row in rows.iterator(chunk_size=500))
    return (
        (row.key, row.row["lag"], row.row.get(order or "group"))
        for row in cuts
        if not is_lagging or unread_at_most({**UNKNOWN_UNREAD, **row.row}) != 0
    )


def _worth_judged(
    order: str, lags: Mapping[str, int | None], judged: Mapping[str, Judged]
) -> dict[str, Any]:
    """By name what a judgement is worth; None: nobody has judged it."""
    found = judged.get
    if order == "seconds":
        return {name: found(name, NOT_JUDGED).lag_s for name in lags}
    # Equal harm: the longer lag first, one that is not known before none.
    return {
        name: None if (harm := found(name, NOT_JUDGED).harm) is None else (*harm, lag or 0)
        for name, lag in lags.items()
    }


def group_row(row: ObservedRow, at: Section) -> dict[str, Any]:
    """A row of the list; the lag is null while a part of it is not known.

    The lag is that of the commits. `unread_at_most` counts all records of partitions without one,
    as a consumer reads them that begins at the earliest.
    """
    found = {**UNKNOWN_UNREAD, **shown(row, at)}
    return {**found, "unread_at_most": unread_at_most(found)}


def with_diagnosis(
    reader: Reader,
    rows: list[dict[str, Any]],
    judged: Mapping[str, list[Standing]] | None = None,
) -> list[dict[str, Any]]:
    """Rows of the list with their `diagnosis`, in a number of statements that grows by 500 rows.

    `judged` is what `Judgements.of` would say of them, of those who have read it already.
    """
    names = [row["group"] for row in rows]
    standings = _standings(reader, names) if judged is None else _seen(reader, judged)
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
    return _seen(reader, judgements().of(reader.cluster_id, groups))


def _seen(reader: Reader, judged: Mapping[str, list[Standing]]) -> dict[str, list[Standing]]:
    if reader.sees_all_topics:
        return dict(judged)
    return {
        group: [standing for standing in standings if reader.sees_topic(standing.topic)]
        for group, standings in judged.items()
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
