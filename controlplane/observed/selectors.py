"""Reads of the observed tables, each for a `Reader`, whose part of them it gives."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Case, Q, QuerySet, When
from django.utils import timezone

from controlplane.common.problems import Problem, Unavailable
from controlplane.common.times import iso
from controlplane.gateway.errors import GatewayError
from controlplane.observed import readers, rules
from controlplane.observed.models import (
    ObservedAcl,
    ObservedBroker,
    ObservedCluster,
    ObservedGroup,
    ObservedQuota,
    ObservedReassignment,
    ObservedRow,
    ObservedTopic,
    ObservedUser,
)
from controlplane.observed.placement import on_broker, placed
from controlplane.observed.readers import Part, Reader, group_part
from controlplane.observed.revisions import REVISION
from controlplane.observed.rows import broker_key
from controlplane.observed.sections import (
    ACLS,
    BROKERS,
    DEGRADED,
    GROUPS,
    HEALTHY,
    NOT_ASKED,
    QUOTAS,
    REASSIGNMENTS,
    TOPICS,
    UNKNOWN,
    UNREACHABLE,
    USERS,
)

MODELS: dict[str, type[ObservedRow]] = {
    BROKERS: ObservedBroker,
    TOPICS: ObservedTopic,
    GROUPS: ObservedGroup,
    USERS: ObservedUser,
    ACLS: ObservedAcl,
    QUOTAS: ObservedQuota,
    REASSIGNMENTS: ObservedReassignment,
}
SHOWN = ("key", "row", "as_of", "unread", "touched_at")
LOAD = ("id", "leaders", "replicas", "size_bytes")
NOT_YET = "The cluster has not been observed yet."
NOBODY_LOOKS = "nobody has looked at the cluster since then"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """How a section of a cluster was last read.

    Attributes:
        as_of: null: it never was.
        reason: why what is shown may be old or not all of it; empty: all was read.
        old_because: why rows may be others by now; empty: the last pass read them, though perhaps
            not every number of them.
        revision: another one as soon as any row of it differs; empty: not known.
    """

    as_of: datetime | None = None
    tried_at: datetime | None = None
    reason: str = ""
    old_because: str = ""
    code: str = ""
    retriable: bool = True
    revision: str = ""

    def problem(self) -> Problem:
        """For a question about a section that was never read."""
        if not self.reason:
            return Unavailable(NOT_YET, code="not-observed")
        return GatewayError(self.code, self.reason, retriable=self.retriable).as_problem()

    def as_row(self) -> dict[str, Any]:
        return {"as_of": iso(self.as_of), "stale_reason": self.reason or None}

    def aside_from(self, error: GatewayError, *, sees_whole: bool) -> "Section":
        """The same, shown because the brokers did not say now what they are asked each time.

        Raises:
            GatewayError: they refuse, or nothing was ever read: then nothing is known.
        """
        if not error.retriable or self.as_of is None:
            raise error
        said = error.said if sees_whole else readers.AWAY
        return replace(self, reason=said, old_because=said)


def section_of(observed: ObservedCluster | None, name: str, reader: Reader) -> Section:
    reader.require(name)
    kept = observed.sections.get(name) if observed is not None else None
    if observed is None or kept is None:
        return Section()
    reason = kept["reason"] if reader.sees_whole else _reason_for_a_part(kept)
    old_because = reason if kept["code"] or kept["missing"] else ""
    if rules.is_overdue(timezone.now(), observed.due_at, _interval_s()):
        reason, old_because = reason or NOBODY_LOOKS, old_because or NOBODY_LOOKS
    return Section(
        as_of=_moment(kept["as_of"]),
        tried_at=_moment(kept["tried_at"]),
        reason=reason,
        old_because=old_because,
        code=kept["code"],
        retriable=kept["retriable"],
        revision=kept.get(REVISION, ""),
    )


def _reason_for_a_part(kept: dict[str, Any]) -> str:
    if not kept["reason"]:
        return ""
    if kept["code"]:
        return readers.AWAY if kept["retriable"] else readers.REFUSED
    return NOT_ASKED if kept["missing"] else readers.NOT_ALL


def asked_now() -> dict[str, Any]:
    """The age of what the brokers were just asked, as `Section.as_row` has it."""
    return {"as_of": iso(timezone.now()), "stale_reason": None}


def section(reader: Reader, name: str) -> Section:
    return section_of(light().filter(pk=reader.cluster_id).first(), name, reader)


def sections(reader: Reader, names: Iterable[str]) -> dict[str, Section]:
    """As `section`, of several in one statement."""
    observed = light().filter(pk=reader.cluster_id).first()
    return {name: section_of(observed, name, reader) for name in names}


def light() -> QuerySet[ObservedCluster]:
    """Clusters without what only a topic's own page needs."""
    return ObservedCluster.objects.defer("topic_defaults")


def rows_to_cut(reader: Reader, name: str, search: str = "") -> QuerySet[ObservedRow]:
    """The rows of a section that the reader sees, by key; each is shown through `cut`.

    `search` is a part of the key. Details are loaded only where `cut` needs them.
    """
    reader.require(name)
    model = MODELS[name]
    needs_detail = name == GROUPS and not reader.sees_all_topics
    found: QuerySet[ObservedRow] = (
        model.objects.filter(reader.names(name), cluster_id=reader.cluster_id, gone=False)  # type: ignore[attr-defined] # concrete
        .only(*SHOWN, *(["detail"] if needs_detail else []))
        .order_by("key")
    )
    return found.filter(key__icontains=search) if search else found


def cut(reader: Reader, row: ObservedRow) -> ObservedRow:
    """The row as the reader sees it, not to be saved."""
    if isinstance(row, ObservedGroup) and not reader.sees_all_topics:
        row.row, row.detail = group_part(reader, row.row, row.detail)
    if row.unread and not reader.sees_whole:
        row.unread = readers.NOT_READ
    return row


def rows_of(reader: Reader, name: str) -> Iterator[ObservedRow]:
    """Every row of a section that the reader sees, by key."""
    return (cut(reader, row) for row in rows_to_cut(reader, name))


def names_holding(of: Sequence[Reader], name: str, text: str, limit: int) -> list[tuple[str, str]]:
    """(cluster id, key) of a section's rows whose key holds `text`, in one statement.

    Those that begin with it come first. Readers who do not see the section are left out.
    """
    area = readers.AREAS[name]
    seen = [
        reader
        for reader in of
        if name in readers.NAMED or reader.scope.sees(area, reader.cluster_name)
    ]
    by_names = [(reader.names(name), reader.cluster_id) for reader in seen]
    # One list for all that are seen whole: most people see every cluster so.
    where = Q(cluster_id__in=[id_ for names, id_ in by_names if not names])
    for names, id_ in by_names:
        if names:
            where |= Q(cluster_id=id_) & names
    model = MODELS[name]
    rows = (
        model.objects.filter(where, gone=False, key__icontains=text)  # type: ignore[attr-defined] # concrete
        .annotate(rank=Case(When(key__istartswith=text, then=0), default=1))
        .order_by("rank", "key", "cluster_id")
        .values_list("cluster_id", "key")
    )
    return list(rows[:limit])


def row_of(reader: Reader, name: str, key: str) -> ObservedRow | None:
    found = rows_to_cut(reader, name).only(*SHOWN, "detail").filter(key=key).first()
    return cut(reader, found) if found is not None else None


def details_of(reader: Reader, name: str, keys: Collection[str]) -> dict[str, dict[str, Any]]:
    """The details of these rows, by key, as the reader sees them; in one statement."""
    found = rows_to_cut(reader, name).filter(key__in=keys)
    if name != GROUPS or reader.sees_all_topics:
        return dict(found.values_list("key", "detail"))  # nothing of a detail is cut
    found = found.only(*SHOWN, "detail")
    return {row.key: cut(reader, row).detail for row in found}


def detailed_rows(reader: Reader, name: str, keys: Collection[str]) -> list[ObservedRow]:
    """The rows of these keys that the reader sees, with their details, by key."""
    found = rows_to_cut(reader, name).only(*SHOWN, "detail").filter(key__in=keys)
    return [cut(reader, row) for row in found]


def shown(row: ObservedRow, at: Section) -> dict[str, Any]:
    """What the list shows of a row, with its age and why it alone is old."""
    is_newer = row.touched_at is not None and at.as_of is not None and row.touched_at > at.as_of
    as_of = row.touched_at if is_newer else row.as_of or at.as_of
    return {**row.row, "as_of": iso(as_of), "stale_reason": row.unread or None}


def reason_alone(row: ObservedRow, at: Section) -> str | None:
    """Why a row that has a page of its own may be old: also what its whole section lacks."""
    return row.unread or at.reason or None


def own_settings(reader: Reader, names: Collection[str]) -> dict[str, list[dict[str, Any]] | None]:
    """What these topics set themselves, as far as it differs from the cluster; None: unknown."""
    rows = ObservedTopic.objects.filter(reader.names(TOPICS), cluster_id=reader.cluster_id)
    found = rows.filter(key__in=names)
    return dict(found.values_list("key", "detail__configs"))


def topic_defaults(cluster_id: str) -> dict[str, Any]:
    """Of the cluster itself: they name no topic."""
    found = ObservedCluster.objects.filter(pk=cluster_id).values_list("topic_defaults", flat=True)
    return found.first() or {}


def kept_settings(cluster_id: str, names: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """What these topics set themselves, where it was ever read; for passes, not for readers."""
    found = ObservedTopic.objects.filter(cluster_id=cluster_id, key__in=names, gone=False)
    details = found.values_list("key", "detail")
    return {key: detail["configs"] for key, detail in details if detail["configs"] is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """A cluster as last observed.

    Attributes:
        live: ids of the brokers in the cluster, when they were read last; null: never.
        is_current: whether that was read by the last pass.
        unknown_because: why it was not.
    """

    health: dict[str, Any]
    controller_id: int | None = None
    live: frozenset[int] | None = None
    brokers: tuple[dict[str, Any], ...] = ()
    is_current: bool = False
    unknown_because: str | None = None


def cluster_views(of: Sequence[Reader]) -> dict[str, ClusterView]:
    """Of each of their clusters, by id, in two statements.

    Where partitions are in trouble, another one counts those of a reader of a part.
    """
    cluster_ids = [reader.cluster_id for reader in of]
    observed = {row.pk: row for row in light().filter(pk__in=cluster_ids)}
    brokers: dict[str, list[dict[str, Any]]] = {}
    found = ObservedBroker.objects.filter(cluster_id__in=cluster_ids, gone=False).order_by("key")
    for cluster_id, row in found.values_list("cluster_id", "row"):
        brokers.setdefault(cluster_id, []).append(row)
    return {
        reader.cluster_id: _view(
            reader, observed.get(reader.cluster_id), brokers.get(reader.cluster_id, [])
        )
        for reader in of
    }


def _view(
    reader: Reader, observed: ObservedCluster | None, brokers: Iterable[dict[str, Any]]
) -> ClusterView:
    at = section_of(observed, BROKERS, reader)
    if observed is None or (at.as_of is None and not at.reason):
        return ClusterView(health=_health(*rules.not_observed(), at))
    if at.reason == NOBODY_LOOKS:
        status, reasons = rules.out_of_date()
    else:
        status, reasons = _judged(reader, observed)
    rows = tuple(brokers)
    return ClusterView(
        health=_health(status, reasons, at),
        controller_id=observed.controller_id,
        live=None if at.as_of is None else frozenset(row["id"] for row in rows if row["live"]),
        brokers=rows,
        is_current=status in {HEALTHY, DEGRADED},
        unknown_because=at.reason if status in {UNREACHABLE, UNKNOWN} and at.reason else None,
    )


def _judged(reader: Reader, observed: ObservedCluster) -> tuple[str, list[dict[str, str]]]:
    if reader.sees_whole:
        return observed.health, observed.reasons
    part = _part(reader) if rules.counts_partitions(observed.reasons) else Part()
    return rules.health_of_a_part(
        observed.health,
        observed.reasons,
        under_replicated=part.under_replicated,
        offline=part.offline,
    )


def _part(reader: Reader) -> Part:
    found = Part()
    details = rows_to_cut(reader, TOPICS).values_list("detail", flat=True)
    for detail in details.iterator(chunk_size=1_000):
        found.add(detail)
    return found


def _health(status: str, reasons: list[dict[str, str]], at: Section) -> dict[str, Any]:
    return {"status": status, "reasons": reasons, "as_of": iso(at.as_of)}


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _interval_s() -> float:
    interval: float = settings.OBSERVE_INTERVAL_S
    return interval


def summary(reader: Reader) -> dict[str, Any] | None:
    """{topics, partitions, under_replicated, offline, size_bytes}; None: never read.

    The size is null for a reader of a part.
    """
    found = ObservedCluster.objects.filter(pk=reader.cluster_id).values_list("summary", flat=True)
    whole = found.first()
    if whole is None or reader.sees_whole:
        return whole
    return _part(reader).summary()


def placed_on(reader: Reader, broker: int) -> dict[str, Any]:
    """What a broker leads and holds of the topics that the reader sees; see `placement`."""
    kept = _kept_placement(reader, broker) if reader.sees_whole else None
    return kept or _on_broker(broker, rows_to_cut(reader, TOPICS))


def _kept_placement(reader: Reader, broker: int) -> dict[str, Any] | None:
    """As the last pass counted it, unless what is known of topics is not all of that pass."""
    at = sections(reader, (TOPICS, BROKERS))
    topics, brokers = at[TOPICS], at[BROKERS]
    if topics.as_of is None or topics.as_of != brokers.as_of or topics.old_because:
        return None
    touched = ObservedTopic.objects.filter(cluster_id=reader.cluster_id)
    if touched.filter(touched_at__gte=topics.as_of).exists():
        return None
    rows = ObservedBroker.objects.filter(cluster_id=reader.cluster_id, key=broker_key(broker))
    found: dict[str, Any] = rows.values_list("detail", flat=True).first() or {}
    return found.get("placement")


def trouble_on(reader: Reader, broker: int) -> dict[str, Any]:
    """The same of topics alone of which a partition is out of sync or offline: few, as a rule."""
    return _on_broker(broker, rows_to_cut(reader, TOPICS).filter(Q(harm__gt=0)))


def _on_broker(broker: int, rows: QuerySet[ObservedRow]) -> dict[str, Any]:
    details = rows.values_list("key", "detail").iterator(chunk_size=1_000)
    return on_broker(broker, ((name, placed(detail)) for name, detail in details))


def loads(reader: Reader) -> list[dict[str, Any]]:
    """Rows {id, leaders, replicas, size_bytes} by broker id; what is not known is null.

    For a reader of a part they count its topics, on the brokers that are there or hold those.
    """
    rows = [row.row for row in rows_of(reader, BROKERS)]
    if not reader.sees_whole:
        part = _part(reader)
        rows = [
            {
                **row,
                "leaders": part.leaders[row["id"]] if row["leaders"] is not None else None,
                "replicas": part.replicas[row["id"]] if row["replicas"] is not None else None,
                "size_bytes": None,
            }
            for row in rows
            if row["live"] or part.replicas[row["id"]]
        ]
    return [{name: row[name] for name in LOAD} for row in rows]


def held_only_by(cluster_id: str, brokers: Collection[int]) -> int | None:
    """How many partitions have all their replicas on these brokers, as last observed.

    Null when the topics of the cluster were never read.
    """
    known = ObservedCluster.objects.filter(pk=cluster_id).first()
    if known is None or not (known.sections.get(TOPICS) or {}).get("as_of"):
        return None
    wanted = set(brokers)
    rows = ObservedTopic.objects.filter(cluster_id=cluster_id, gone=False)
    found = 0
    for detail in rows.values_list("detail", flat=True).iterator():
        for _, _, _, replicas, *_ in detail["partitions"]:
            found += bool(replicas) and wanted.issuperset(replicas)
    return found
