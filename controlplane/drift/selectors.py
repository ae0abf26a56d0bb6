"""Reads: what of a cluster is not as it was left, as of now, with since when and by whom."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Max, Sum
from django.utils import timezone

from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import reader_of
from controlplane.common.grants import Scope
from controlplane.common.times import iso
from controlplane.drift.differences import REPLICAS, Difference, cut
from controlplane.drift.finding import PLANS_AT_ONCE, Found, difference_of, found_in, settle
from controlplane.drift.models import DriftLook, DriftSighting
from controlplane.drift.who import Window, unknown
from controlplane.observed.drift_sentences import unread_said
from controlplane.observed.readers import Reader
from controlplane.observed.sightings import BY_OPERATION, UNKNOWN, Drifted, Told
from controlplane.operations.models import Operation
from controlplane.operations.scopes import is_seen

DIFFERENCES_MAX: Final = 500
"""That are listed; the rest is counted."""
FOR_WHOLE: Final = "known to those with a role on the whole cluster"
NOT_YET: Final = "not-yet"


def cluster_drift(cluster: Cluster, scope: Scope) -> dict[str, Any]:
    """{data, left_out, areas, under_way}: of what the scope covers.

    Of an area that was never read nothing is claimed: its age is null then, with the reason.
    `under_way`: operations for which something is held back that they may be about to change.
    Operations that the scope does not show are not named, here as under `/operations`.
    """
    reader = reader_of(cluster, scope)
    look = DriftLook.objects.filter(pk=cluster.pk).first()
    found = found_in(reader, cluster, look, topics_sharing_racks(cluster.pk))
    shown = found.differences[:DIFFERENCES_MAX]
    known = _sightings(reader.cluster_id, shown)
    named = _named(reader, found, shown, known.values())
    read_at = {each.name: each.as_of for each in found.areas if each.as_of is not None}
    return {
        "data": [
            {
                **each.as_row(),
                **_seen(reader, found, each, read_at[each.area], known.get(each.mark), named=named),
            }
            for each in shown
        ],
        "left_out": len(found.differences) - len(shown),
        "areas": [
            {
                "area": each.name,
                "as_of": iso(each.as_of),
                "stale_reason": each.reason or None,
                "count": sum(one.area == each.name for one in found.differences)
                if each.as_of is not None
                else None,
            }
            for each in found.areas
        ],
        "under_way": sorted(found.under_way & named),
    }


def sightings(reader: Reader, drifted: Sequence[Drifted]) -> Told:
    """As `observed.sightings.Sightings`: the core of `cluster_drift`, of what other doors show."""
    differences = [difference_of(one.area, one.name, one.field, one.row) for one in drifted]
    found = Found(differences=list(differences))
    settle(found, reader.cluster_id)
    known = _sightings(reader.cluster_id, found.differences)
    named = _named(reader, found, found.differences, known.values())
    now = timezone.now()
    rows = [
        None
        if each.mark in found.held
        else _seen(
            reader, found, each, _moment(one.as_of) or now, known.get(each.mark), named=named
        )
        for each, one in zip(differences, drifted, strict=True)
    ]
    return Told(rows, sorted(found.under_way & named))


def sightings_revision(cluster_id: str, area: str) -> list[Any]:
    """Another value as soon as what is known of who, or of since when, differs in an area."""
    rows = DriftSighting.objects.filter(cluster_id=cluster_id, area=area)
    found = rows.aggregate(count=Count("pk"), last=Max("changed_at"), asked=Sum("asked"))
    return [found["count"], iso(found["last"]), found["asked"] or 0]


def topics_sharing_racks(cluster_id: str) -> list[str]:
    """Those that the last look has found so; `found_in` looks at them once more."""
    rows = DriftSighting.objects.filter(cluster_id=cluster_id, area=REPLICAS)
    names = rows.order_by("name").values_list("name", flat=True)
    return sorted(set(names))


def _named(
    reader: Reader, found: Found, shown: Iterable[Difference], rows: Iterable[DriftSighting]
) -> frozenset[str]:
    """Operations that the reader may see, of those that the answer would name."""
    ids = {each.operation_id for each in shown} | {row.who["operation_id"] for row in rows}
    return _seen_of(reader, {each for each in ids | found.under_way if each is not None})


def _seen_of(reader: Reader, ids: Collection[str]) -> frozenset[str]:
    """As `operations.scopes.shows`, of one cluster's operations in one statement."""
    if reader.sees_whole or not ids:
        return frozenset(ids)
    names = {reader.cluster_id: reader.cluster_name}
    rows = Operation.objects.filter(pk__in=ids, cluster_id=reader.cluster_id)
    rows = rows.select_related("plan").defer("memo", "plan__impact")
    return frozenset(
        row.pk
        for row in rows.iterator(chunk_size=PLANS_AT_ONCE)
        if is_seen(reader.scope, row.plan, names, reader.cluster_id)
    )


def _seen(
    reader: Reader,
    found: Found,
    each: Difference,
    read_at: datetime,
    row: DriftSighting | None,
    *,
    named: Collection[str],
) -> dict[str, Any]:
    """{equal_at, seen_at, changed_at, who}, and `operation_id` null where it is not `named`."""
    is_hidden = each.operation_id is not None and each.operation_id not in named
    hidden = {"operation_id": None} if is_hidden else {}
    is_same = row is not None and (row.desired, row.observed) == (
        cut(each.desired),
        cut(each.observed),
    )
    if row is None or not is_same:
        window = Window(equal_at=found.wanted_at.get(each.mark), seen_at=read_at)
        since = row if row is not None and row.desired == cut(each.desired) else window
        return {
            "equal_at": iso(since.equal_at),
            "seen_at": iso(since.seen_at),
            "changed_at": iso(window.seen_at),
            "who": unknown(window, unread_said(NOT_YET)),
            **hidden,
        }
    # Kept by an earlier version it has no code: its English is shown.
    kept = {**unread_said(), **row.who}
    who = kept if reader.sees_whole else _for_a_part(row, named)
    return {
        "equal_at": iso(row.equal_at),
        "seen_at": iso(row.seen_at),
        "changed_at": iso(row.changed_at),
        "who": who,
        **hidden,
    }


def _for_a_part(row: DriftSighting, named: Collection[str]) -> dict[str, Any]:
    """Principals and brokers' logs are of the whole cluster; an operation and its user may be."""
    is_theirs = row.who["by"] == BY_OPERATION and row.who["operation_id"] in named
    if is_theirs or row.who["by"] == UNKNOWN:
        return {**row.who, **unread_said()}
    hidden = unknown(Window(equal_at=row.equal_at, seen_at=row.seen_at))
    return {**hidden, "text": FOR_WHOLE}


def _sightings(cluster_id: str, shown: Sequence[Difference]) -> dict[str, DriftSighting]:
    """By mark; of more than `DIFFERENCES_MAX` all of their areas, which looks bound."""
    rows = DriftSighting.objects.filter(cluster_id=cluster_id)
    if len(shown) <= DIFFERENCES_MAX:
        rows = rows.filter(mark__in=[each.mark for each in shown])
    else:
        rows = rows.filter(area__in={each.area for each in shown})
    return {row.mark: row for row in rows}


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
