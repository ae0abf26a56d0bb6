"""Reads of topics: lists and pages from the observed tables, plans from the brokers.

What a plan reads is a handful of bulk calls whatever the number of topics.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import BigIntegerField, Case, Count, F, Max, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Left
from django.db.models.lookups import Exact

from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import reader_of
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import NotFound
from controlplane.common.times import iso
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import ALIVE_STATES, ClusterReader, total
from controlplane.gateway.types import INTERNAL_TOPICS, ConfigEntry, TopicDescription
from controlplane.observed import listings
from controlplane.observed.listings import FOR_EVER, Listed, Wanted
from controlplane.observed.models import ObservedRow
from controlplane.observed.readers import Reader
from controlplane.observed.rows import config_rows, partition_rows
from controlplane.observed.sections import TOPICS
from controlplane.observed.selectors import (
    Section,
    own_settings,
    reason_alone,
    rows_to_cut,
    shown,
    topic_defaults,
)
from controlplane.observed.services import observed_row
from controlplane.observed.sightings import Drifted, told
from controlplane.operations.blast_radius import Extent, amount, listed
from controlplane.operations.models import Operation
from controlplane.operations.selectors import VERIFIED_STATES, verified
from controlplane.operations.states import ACTIVE_STATES, SUCCEEDED
from controlplane.tenants.models import Tenant
from controlplane.topics.drift import (
    COUNTED,
    Desired,
    Difference,
    Verified,
    desired_topics,
    differences,
    drift_said,
)
from controlplane.topics.history import Done, config_history
from controlplane.topics.models import OPEN_STATES, RetentionLease
from controlplane.topics.rules import OWN_PREFIX, RETENTION_MS, is_internal

TOPIC_KINDS = ("topic.create", "topic.update", "topic.partitions", "topic.delete")
HISTORY_KINDS = (
    "topic.create",
    "topic.update",
    "topic.delete",
    "topic.retention_lease",
    "topic.retention_restore",
)
HISTORY_MAX = 100
"""Operations that a topic's history goes back."""
LEASES_SHOWN = 100
"""Of those that have ended."""
TOPIC = "topic"
INTERNAL, TROUBLE = "internal", "trouble"
TOPIC_FILTERS = (INTERNAL, TROUBLE)
"""Internal ones too; only those that are not as they should be."""
TOPIC_ORDERS: dict[str, Any] = {
    "name": "key",
    "health": "harm",
    "partitions": "partitions",
    "replication_factor": "replication_factor",
    "records": "records",
    "size": "size_bytes",
    "retention": Case(
        When(retention_ms__lt=0, then=Value(FOR_EVER)),
        default=F("retention_ms"),
        output_field=BigIntegerField(),
    ),
}
TOPIC_FIGURES = {
    "partitions": (Sum, "partitions"),
    "largest_bytes": (Max, "size_bytes"),
    "replication_factor_max": (Max, "replication_factor"),
}
DRIFT_OPERATIONS_MAX = 5_000
"""The last so many operations are looked through for topics that were changed outside."""
DRIFT_NAMES_MAX = 2_000
NOTHING_DESIRED = Desired()
Compared = tuple[dict[str, Any], Desired, list[Difference]]
"""A topic's row, what is desired of it, and where it differs."""
LEASES_COUNTED_MAX = 500
"""Open leases that `drift_revision` looks at."""


def topic_row(row: ObservedRow, at: Section) -> dict[str, Any]:
    """A row of the list; what could not be read is null."""
    found = shown(row, at)
    return {**found, "internal": is_internal(found["name"], flagged=found["internal"])}


def with_drift(reader: Reader, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the list with their `drift`: since when and by whom, in a fixed number of statements.

    Of what an operation under way may be about to change nothing is claimed.
    """
    compared(reader, rows)
    drifted = [
        Drifted(area=TOPIC, name=row["name"], field=each["field"], row=each, as_of=row["as_of"])
        for row in rows
        for each in row["drift"]
    ]
    said = iter(told(reader, drifted).rows)
    for row in rows:
        seen = [(each, next(said)) for each in row["drift"]]
        row["drift"] = [{**each, **since} for each, since in seen if since is not None]
    return rows


def compared(reader: Reader, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with their `drift` as it is worked out from operations alone."""
    desired = _desired(reader.cluster_id, [row["name"] for row in rows])
    return _said(_compared(reader, rows, desired, own_settings(reader, desired)))


def _said(found: Iterable[Compared]) -> list[dict[str, Any]]:
    rows = []
    for row, desired, differs in found:
        row["drift"] = [drift_said(row["name"], desired, each) for each in differs]
        rows.append(row)
    return rows


def _compared(
    reader: Reader,
    rows: list[dict[str, Any]],
    desired: Mapping[str, Desired],
    own: Mapping[str, list[dict[str, Any]] | None],
) -> Iterator[Compared]:
    """Each row with what is desired of it and where it differs; `own` as of `own_settings`."""
    held = dict(
        open_leases(reader.cluster_id).filter(topic__in=desired).values_list("topic", "held_ms")
    )
    for row in rows:
        name = row["name"]
        wanted = desired.get(name, NOTHING_DESIRED)
        found = differences(wanted, row, own.get(name))
        yield row, wanted, [each for each in found if not _is_leased(each, held.get(name))]


def topics_listed(reader: Reader, wanted: Wanted) -> Listed:
    """A page of the topics that the reader sees, internal ones only when they are asked for.

    The filter `trouble` takes those with partitions out of sync or without a leader, and those that
    were changed outside, as far as the last operations tell.
    """
    return listings.listed(
        reader,
        _rows_wanted(reader, wanted),
        wanted,
        match=_match(reader, wanted),
        order=TOPIC_ORDERS[wanted.sort or "name"],
        figures=TOPIC_FIGURES,
    )


def topic_names(reader: Reader, wanted: Wanted) -> list[str]:
    """Of all that match, in the order that is asked for; one more than a file may have at most."""
    rows = _rows_wanted(reader, wanted).filter(_match(reader, wanted))
    return listings.names_of(rows, wanted, TOPIC_ORDERS[wanted.sort or "name"])


def _rows_wanted(reader: Reader, wanted: Wanted) -> QuerySet[ObservedRow]:
    rows = rows_to_cut(reader, TOPICS)
    if INTERNAL in wanted.filters:
        return rows
    return rows.filter(Q(internal=False)).exclude(_reserved())


def _match(reader: Reader, wanted: Wanted) -> Q:
    if TROUBLE not in wanted.filters:
        return wanted.matching()
    return wanted.matching() & (Q(harm__gt=0) | Q(key__in=drifted_names(reader)))


def _reserved() -> Q:
    """As `is_internal` says by the name, by the database."""
    own = Q(Exact(Left("key", len(OWN_PREFIX)), Value(OWN_PREFIX)))
    return own | Q(key__in=sorted(INTERNAL_TOPICS))


def drifted_names(reader: Reader) -> list[str]:
    """Topics that are not as the last operations about them left them."""
    found = [row for row, _, differs in _operated_compared(reader) if differs]
    active = Operation.objects.filter(cluster_id=reader.cluster_id, state__in=ACTIVE_STATES)
    if found and active.exists():
        # One that is under way may be about to change one of them.
        found = [row for row in with_drift(reader, found) if row["drift"]]
    return [row["name"] for row in found]


def drifted_rows(reader: Reader) -> list[dict[str, Any]]:
    """{name, drift} of the same, as `compared` works it out."""
    return [row for row in _said(_operated_compared(reader)) if row["drift"]]


def _operated_compared(reader: Reader) -> Iterator[Compared]:
    """Of the topics that the last operations were about; of a row, what comparing needs."""
    last = verified(reader.cluster_id, TOPIC_KINDS).reverse().values_list("resource", flat=True)
    resources = dict.fromkeys(last[:DRIFT_OPERATIONS_MAX])
    names = [resource.removeprefix("topic/") for resource in resources][:DRIFT_NAMES_MAX]
    found = rows_to_cut(reader, TOPICS).filter(key__in=names)
    rows, own = [], {}
    for name, *numbers, configs in found.values_list("key", *COUNTED, "detail__configs"):
        rows.append({"name": name, "as_of": None, **dict(zip(COUNTED, numbers, strict=True))})
        own[name] = configs
    return _compared(reader, rows, _desired(reader.cluster_id, list(own)), own)


def drift_revision(cluster_id: str) -> list[Any] | None:
    """What the drift of topics is worked out from beside the topics: another value as soon as any
    of it differs, in two statements. None: too many leases are open to be looked at.

    Who made it, and since when, is for those who keep it (`drift.selectors.sightings_revision`).
    """
    is_done, is_active = Q(state__in=VERIFIED_STATES), Q(state__in=ACTIVE_STATES)
    done = Operation.objects.filter(is_done | is_active, cluster_id=cluster_id).aggregate(
        count=Count("pk", filter=is_done),
        last=Max("finished_at", filter=is_done),
        active=Count("pk", filter=is_active),
        newest=Max("pk", filter=is_active),
    )
    held = open_leases(cluster_id).order_by("pk").values_list("pk", "held_ms")
    leases = list(held[: LEASES_COUNTED_MAX + 1])
    if len(leases) > LEASES_COUNTED_MAX:
        return None
    return [
        done["count"],
        iso(done["last"]),
        [done["active"], done["newest"]],
        [list(each) for each in leases],
    ]


def _is_leased(found: Difference, held_ms: int | None) -> bool:
    """Whether it differs because a lease holds it so."""
    is_held = held_ms is not None and found.observed == str(held_ms)
    return is_held and found.field == RETENTION_MS


def _desired(cluster_id: str, names: list[str]) -> dict[str, Desired]:
    resources = [f"topic/{name}" for name in names]
    about = verified(cluster_id, TOPIC_KINDS, resources).values_list(
        "finished_at", "pk", "kind", "plan__inputs"
    )
    moves = verified(cluster_id, ["reassignment"]).values_list("finished_at", "pk", "kind")
    newest: list[tuple[Any, str, str, dict[str, Any]]] = [(*row, {}) for row in moves.reverse()[:1]]
    found = desired_topics(
        Verified(id=pk, kind=kind, inputs=inputs)
        for _, pk, kind, inputs in sorted([*about, *newest], key=lambda row: row[:2])
    )
    return {name: found[name] for name in names if name in found}


def topic_detail(reader: Reader, name: str) -> dict[str, Any]:
    """A topic with its partitions and settings.

    Raises:
        NotFound: the brokers have no such topic, or the reader does not see it.
    """
    found = observed_row(reader, TOPICS, name)
    if found is None:
        raise NotFound(f"There is no topic {name}.")
    row, at = found
    listed_row = {**topic_row(row, at), "stale_reason": reason_alone(row, at)}
    with_drift(reader, [listed_row])
    kept = ("name", "internal", "topic_id", "size_bytes", "as_of", "stale_reason", "drift")
    return {key: listed_row[key] for key in kept} | {
        "partitions": partition_rows(row.detail),
        "configs": config_rows(row.detail, topic_defaults(reader.cluster_id)),
        "lease": _lease_of(reader.cluster_id, name, listed_row["topic_id"]),
    }


def topic_config_history(
    tenant: Tenant, scope: Scope, cluster: Cluster, name: str
) -> dict[str, Any]:
    """Who changed which setting of the topic, when, from what to what; newest first.

    A topic that has been deleted keeps its history; without one, it has to be there.

    Raises:
        NotFound: the scope does not cover the topic, or there neither is nor was one.
        Problem: nothing is known of it, and the cluster cannot be asked.
    """
    if not scope.sees(Area.TOPIC, cluster.name, name):
        raise NotFound(f"There is no topic {name}.")
    rows = (
        verified(cluster.pk, HISTORY_KINDS, [f"topic/{name}"])
        .filter(tenant=tenant)
        .select_related("plan")
        .prefetch_related("reverted_by")
        .order_by("-finished_at", "-pk")[: HISTORY_MAX + 1]
    )
    if not rows and observed_row(reader_of(cluster, scope), TOPICS, name) is None:
        raise NotFound(f"There is no topic {name}.")
    found = config_history(_done(row) for row in rows)
    return {"data": found[:HISTORY_MAX], "complete": len(rows) <= HISTORY_MAX}


def _done(row: Operation) -> Done:
    undone = [each.pk for each in row.reverted_by.all() if each.state == SUCCEEDED]
    return Done(
        id=row.pk,
        kind=row.kind,
        at=iso(row.finished_at),
        actor=row.actor,
        reason=row.reason,
        undone_by=undone[0] if undone else None,
        inputs=row.plan.inputs,
        diff=row.plan.diff,
    )


def open_leases(cluster_id: str | None) -> QuerySet[RetentionLease]:
    return RetentionLease.objects.filter(cluster_id=cluster_id, state__in=OPEN_STATES)


def leased_row(cluster_id: str | None, name: str, topic_id: str) -> RetentionLease | None:
    """The lease of this very topic, not of an earlier one of its name."""
    row = open_leases(cluster_id).filter(topic=name).first()
    return row if row is not None and row.topic_id == topic_id else None


def leased_until(cluster_id: str | None, name: str) -> str | None:
    row = open_leases(cluster_id).filter(topic=name).first()
    return iso(row.ends_at) if row is not None else None


def lease_list(cluster: Cluster, scope: Scope) -> list[dict[str, Any]]:
    """Those that are open, and of the others the last ones; newest first, of the topics seen."""
    rows = RetentionLease.objects.filter(cluster=cluster)
    open_first = [*rows.filter(state__in=OPEN_STATES).order_by("-pk")]
    ended = rows.exclude(state__in=OPEN_STATES).order_by("-pk")[:LEASES_SHOWN]
    return [
        _lease_dict(row)
        for row in (*open_first, *ended)
        if scope.sees(Area.TOPIC, cluster.name, row.topic)
    ]


def _lease_dict(row: RetentionLease) -> dict[str, Any]:
    return {
        "topic": row.topic,
        "state": row.state,
        "operation_id": row.operation_id,
        "held_ms": row.held_ms,
        "before_ms": row.before_ms,
        "reason": row.reason,
        "created_at": iso(row.created_at),
        "ends_at": iso(row.ends_at),
        "ended_at": iso(row.ended_at),
        "how_ended": row.how_ended,
        "tries": row.tries,
        "problem": row.problem,
    }


def _lease_of(cluster_id: str, name: str, topic_id: str) -> dict[str, Any] | None:
    row = leased_row(cluster_id, name, topic_id)
    if row is None:
        return None
    return {
        "until": iso(row.ends_at),
        "from_ms": row.before_ms,
        "to_ms": row.held_ms,
        "state": row.state,
        "operation_id": row.operation_id,
        "problem": row.problem,
    }


def described_topic(gateway: ClusterGateway, name: str) -> TopicDescription:
    topic = gateway.describe_topics([name]).get(name)
    if topic is None:
        raise NotFound(f"There is no topic {name}.")
    return topic


def config_values(entries: Iterable[ConfigEntry]) -> dict[str, str | None]:
    return {entry.name: entry.value for entry in entries}


def deletion_extents(gateway: ClusterGateway, topic: TopicDescription) -> list[Extent]:
    """What goes with the topic, who reads it, and the ACLs that cover it."""
    reader = ClusterReader(gateway)
    groups = reader.groups()
    readers = {name: use for name, use in groups.known.items() if topic.name in use.topics}
    acls = reader.acls()
    covering = [acl.words() for acl in acls.known if acl.covers("TOPIC", topic.name)]
    return [
        amount("records", "records", "record", total(reader.records([topic]))),
        amount("bytes", "bytes", "byte", total(reader.leader_bytes([topic]))),
        listed("groups", "groups-reading", "group", readers, groups.gaps, of=Area.GROUP),
        listed(
            "active_groups",
            "groups-reading-now",
            "group",
            [name for name, use in readers.items() if use.state in ALIVE_STATES],
            groups.gaps,
            of=Area.GROUP,
        ),
        listed("acls", "acls-covering", "ACL", covering, acls.gaps, of=Area.ACCESS),
    ]


def held_extents(gateway: ClusterGateway, topic: TopicDescription) -> list[Extent]:
    """All that a change of settings could delete at most."""
    reader = ClusterReader(gateway)
    records, held = total(reader.records([topic])), total(reader.leader_bytes([topic]))
    return [
        amount("records", "records-held", "record", records),
        amount("bytes", "bytes-held", "byte", held),
    ]


def reading_groups(gateway: ClusterGateway, topic: str) -> Extent:
    groups = ClusterReader(gateway).groups()
    names = [name for name, use in groups.known.items() if topic in use.topics]
    return listed("groups", "groups-reading", "group", names, groups.gaps, of=Area.GROUP)
