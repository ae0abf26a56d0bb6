"""What of a cluster is not as it was left, now: desired by verified operations, against the tables.

Nothing is claimed of what was not read, of what an operation that is under way changes, and of what
was read before the last operation about it had ended.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.db.models import Max, QuerySet

from controlplane.access.selectors import access_compared
from controlplane.clusters.models import MANAGED, Cluster
from controlplane.common.kafka_configs import is_tenants
from controlplane.drift.differences import (
    ACL,
    QUOTA,
    REPLICAS,
    SETTING,
    TOPIC,
    USER,
    Difference,
)
from controlplane.drift.models import DriftLook
from controlplane.drift.of_quotas import Set, desired_quotas, quotas_drift
from controlplane.drift.of_replicas import (
    ANSWER_MOVES_MAX,
    Moved,
    Replicas,
    Wanted,
    desired_replicas,
    placement_drift,
    racks_drift,
    within,
)
from controlplane.drift.of_settings import (
    Brokers,
    Configured,
    Seen,
    desired_settings,
    settings_drift,
)
from controlplane.drift.of_settings import Wanted as WantedSetting
from controlplane.drift.who import Tried, is_under_way, kinds_about, tried_as
from controlplane.gateway.types import QuotaEntity
from controlplane.observed.models import ObservedRow, ObservedTopic
from controlplane.observed.readers import Reader
from controlplane.observed.reading import KEPT_MAX
from controlplane.observed.sections import BROKERS, QUOTAS, REASSIGNMENTS, TOPICS
from controlplane.observed.selectors import Section, detailed_rows, rows_of, rows_to_cut, section
from controlplane.operations.models import Operation
from controlplane.operations.selectors import verified
from controlplane.operations.states import ACTIVE_STATES
from controlplane.topics.selectors import drifted_rows

OPERATIONS_MAX: Final = 1_000
"""Of a kind, the newest: what was desired by older ones alone is not compared."""
MOVES_OPERATIONS_MAX: Final = 200
PARTITIONS_MAX: Final = 20_000
"""That the newest reassignments speak of."""
KEYS_MAX: Final = 200
ACTIVE_MAX: Final = 100
PLANS_AT_ONCE: Final = 5
"""That are in memory: each may name thousands of partitions, of which its topics are kept."""
TOPICS_A_STATEMENT: Final = 500
NEVER_READ: Final = "It has not been read yet."


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """How what an area was compared with was read; `as_of` null: nothing is known of it."""

    name: str
    as_of: datetime | None
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class Found:
    """Attributes:
    held: marks of what an operation under way may make otherwise, of which nothing is claimed.
    wanted_at: by mark when the operation that left it had ended.
    under_way: operations for which something is held.
    """

    areas: list[Area] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    held: set[str] = field(default_factory=set)
    wanted_at: dict[str, datetime] = field(default_factory=dict)
    under_way: set[str] = field(default_factory=set)


def found_in(
    reader: Reader, cluster: Cluster, look: DriftLook | None, racks_in: Collection[str] | None
) -> Found:
    """Of what the reader sees; an area that they do not see is not in it.

    `racks_in`: topics whose replicas are looked at for racks; None: all.
    """
    found = Found()
    if reader.sees_whole:
        _settings(found, cluster, look)
    if reader.may_see(QUOTAS):
        _quotas(found, reader)
    _replicas(found, reader, racks_in)
    _topics(found, reader)
    if reader.may_see(QUOTAS):
        _access(found, reader)
    settle(found, reader.cluster_id)
    return found


def settle(found: Found, cluster_id: str) -> None:
    """Claim nothing of what an operation under way may make otherwise, and date the rest."""
    _hold(found, cluster_id)
    _date(found)


def wanted_settings(cluster: Cluster) -> dict[str, WantedSetting]:
    """By key, the first `KEYS_MAX`."""
    written, made = {}, None
    if cluster.kind == MANAGED:
        written = {key: str(text) for key, text in cluster.config.items() if is_tenants(key)}
        made = verified(cluster.pk, ("cluster.create",)).values_list("pk", "finished_at").first()
    rows = verified(cluster.pk, ("cluster.configure",)).values_list(
        "pk", "finished_at", "plan__diff__changes"
    )
    newest = list(rows.reverse()[:OPERATIONS_MAX])
    wanted = desired_settings(
        (
            Configured(id=pk, at=at, changes=changes)
            for pk, at, changes in reversed(newest)
            if at is not None
        ),
        written=written,
        made_by=made[0] if made else None,
        made_at=made[1] if made else None,
    )
    return {key: wanted[key] for key in sorted(wanted)[:KEYS_MAX]}


def _settings(found: Found, cluster: Cluster, look: DriftLook | None) -> None:
    at = look.settings_at if look is not None else None
    reason = look.settings_reason if look is not None else ""
    found.areas.append(Area(name=SETTING, as_of=at, reason=reason))
    if look is None or at is None:
        return
    wanted = {
        key: each
        for key, each in wanted_settings(cluster).items()
        if each.at is None or each.at < at
    }
    found.differences += settings_drift(wanted, seen_settings(look.settings, wanted))


def seen_settings(kept: Mapping[str, Mapping[str, Any]], wanted: Collection[str]) -> Brokers:
    """Brokers that were not asked for one of the keys say nothing of it: they count as silent."""
    return {
        int(broker): {
            key: Seen(value=row[0], source=row[1], hidden=row[2])
            for key, row in entries.items()
            if row is not None
        }
        for broker, entries in kept.items()
        if all(key in entries for key in wanted)
    }


def _quotas(found: Found, reader: Reader) -> None:
    at = section(reader, QUOTAS)
    found.areas.append(Area(name=QUOTA, as_of=at.as_of, reason=at.reason))
    if at.as_of is None:
        return
    rows = verified(reader.cluster_id, ("quota.set",)).values_list(
        "pk", "finished_at", "plan__inputs", "plan__diff"
    )
    newest = list(rows.reverse()[:OPERATIONS_MAX])
    wanted = desired_quotas(
        Set(id=pk, at=ended, inputs=inputs, after=diff["after"])
        for pk, ended, inputs, diff in reversed(newest)
        if ended is not None
    )
    if not wanted:
        return
    seen: dict[QuotaEntity, Mapping[str, float]] = {}
    for row in rows_of(reader, QUOTAS):
        entity = tuple((kind, name) for kind, name in row.row["entity"])
        seen[entity] = row.row["values"]
    is_cut = len(seen) >= KEPT_MAX
    known = {
        key: each
        for key, each in wanted.items()
        if each.at < at.as_of and not (is_cut and key[0] not in seen)
    }
    found.differences += quotas_drift(known, seen)


# -- replicas -----------------------------------------------------------------------------------
def _replicas(found: Found, reader: Reader, racks_in: Collection[str] | None) -> None:
    at = section(reader, TOPICS)
    found.areas.append(Area(name=REPLICAS, as_of=at.as_of, reason=at.reason))
    if at.as_of is None:
        return
    wanted = _wanted_replicas(reader)
    brokers = [row.row for row in rows_of(reader, BROKERS)]
    live = sorted(row["id"] for row in brokers if row["live"])
    racks = {row["id"]: row["rack"] for row in brokers if row["live"] and row.get("rack")}
    moving = {(row.row["topic"], row.row["partition"]) for row in rows_of(reader, REASSIGNMENTS)}
    looks_at_racks = len(set(racks.values())) > 1
    names = set(wanted) | set(racks_in or ()) if looks_at_racks else set(wanted)
    every = looks_at_racks and racks_in is None
    room = ANSWER_MOVES_MAX
    for row in _topic_rows(reader, None if every else names):
        read_at = max(filter(None, (row.touched_at, row.as_of or at.as_of)))
        now = {
            part[0]: tuple(part[3])
            for part in row.detail["partitions"]
            if (row.key, part[0]) not in moving
        }
        left = {
            number: each for number, each in wanted.get(row.key, {}).items() if each.at < read_at
        }
        for each in _of_topic(row.key, left, now, live, racks if looks_at_racks else {}):
            kept, room = within(each, room)
            found.differences.append(kept)


def _of_topic(
    topic: str,
    left: Mapping[int, Wanted],
    now: Mapping[int, Replicas],
    live: Collection[int],
    racks: Mapping[int, str],
) -> list[Difference]:
    placed = placement_drift(topic, left, now, live=live)
    shared = racks_drift(topic, now, racks, accepted=left, live=live) if racks else None
    return [each for each in (placed, shared) if each is not None]


def _topic_rows(reader: Reader, names: Collection[str] | None) -> Iterator[ObservedRow]:
    """With their details; None: all that the reader sees."""
    if names is None:
        rows = rows_to_cut(reader, TOPICS).only("key", "detail", "as_of", "touched_at")
        yield from rows.iterator(chunk_size=TOPICS_A_STATEMENT)
        return
    ordered = sorted(names)
    for start in range(0, len(ordered), TOPICS_A_STATEMENT):
        yield from detailed_rows(reader, TOPICS, ordered[start : start + TOPICS_A_STATEMENT])


def _wanted_replicas(reader: Reader) -> dict[str, dict[int, Wanted]]:
    """By topic and partition, of the newest reassignments."""
    rows = verified(reader.cluster_id, ("reassignment",)).values_list(
        "pk", "finished_at", "plan__diff__partitions"
    )
    newest: list[Moved] = []
    partitions = 0
    for pk, ended, moved in rows.reverse()[:MOVES_OPERATIONS_MAX].iterator(chunk_size=5):
        if ended is None:
            continue
        newest.append(Moved(id=pk, at=ended, partitions=moved))
        partitions += len(moved)
        if partitions >= PARTITIONS_MAX:
            break
    topics = {row["topic"] for each in newest for row in each.partitions}
    made = {}
    if topics:
        about = verified(reader.cluster_id, ("topic.create", "topic.delete")).order_by()
        made = {
            resource.removeprefix("topic/"): ended
            for resource, ended in about.values_list("resource").annotate(Max("finished_at"))
            if resource.removeprefix("topic/") in topics
        }
    found: dict[str, dict[int, Wanted]] = {}
    for tp, each in desired_replicas(reversed(newest), made).items():
        found.setdefault(tp.topic, {})[tp.partition] = each
    return found


# -- topics, users, rules -----------------------------------------------------------------------
def _topics(found: Found, reader: Reader) -> None:
    at = section(reader, TOPICS)
    found.areas.append(Area(name=TOPIC, as_of=at.as_of, reason=at.reason))
    if at.as_of is None:
        return
    for row in drifted_rows(reader):
        found.differences += [
            difference_of(TOPIC, row["name"], each["field"], each) for each in row["drift"]
        ]


def _access(found: Found, reader: Reader) -> None:
    drift = access_compared(reader)
    for name, of in ((USER, "users"), (ACL, "acls")):
        at = _moment(drift[of]["as_of"])
        found.areas.append(Area(name=name, as_of=at, reason=drift[of]["stale_reason"] or ""))
    found.differences += [difference_of(row["area"], row["name"], "", row) for row in drift["data"]]


def difference_of(area: str, name: str, what: str, row: Mapping[str, Any]) -> Difference:
    """Of what another app has worked out."""
    return Difference(
        area=area,
        name=name,
        field=what,
        desired=row["desired"],
        observed=row["observed"],
        operation_id=row["operation_id"],
        text=row["text"],
        text_code=row["text_code"],
        params=row["params"],
        back=row["back"],
        back_problem=row["back_problem"],
        back_problem_code=row["back_problem_code"],
        back_problem_params=row["back_problem_params"],
        adopt=row["adopt"],
        adopt_problem=row["adopt_problem"],
        adopt_problem_code=row["adopt_problem_code"],
        adopt_problem_params=row["adopt_problem_params"],
    )


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


# -- what is under way --------------------------------------------------------------------------
def _hold(found: Found, cluster_id: str) -> None:
    """Take out what an operation under way may make otherwise."""
    active = active_of(cluster_id, kinds_about(found.differences))
    kept = []
    for each in found.differences:
        by = {tried.id for tried in active if is_under_way(each, tried)}
        if by:
            found.held.add(each.mark)
            found.under_way |= by
        else:
            kept.append(each)
    found.differences = kept


def active_of(cluster_id: str, kinds: Collection[str]) -> list[Tried]:
    if not kinds:
        return []
    rows = Operation.objects.filter(
        cluster_id=cluster_id, state__in=ACTIVE_STATES, kind__in=sorted(kinds)
    )
    return tried_in(rows.order_by("pk")[:ACTIVE_MAX])


def tried_in(rows: QuerySet[Operation]) -> list[Tried]:
    found = rows.values_list(
        "pk",
        "kind",
        "actor",
        "finished_at",
        "created_at",
        "resource",
        "plan__inputs",
        "plan__diff",
    )
    return [
        tried_as(
            id=pk,
            kind=kind,
            actor=actor,
            at=finished_at or created_at,
            resource=resource,
            inputs=inputs,
            diff=diff,
        )
        for pk, kind, actor, finished_at, created_at, resource, inputs, diff in found.iterator(
            chunk_size=PLANS_AT_ONCE
        )
    ]


def _date(found: Found) -> None:
    ids = {each.operation_id for each in found.differences if each.operation_id}
    ended = dict(Operation.objects.filter(pk__in=ids).values_list("pk", "finished_at"))
    for each in found.differences:
        at = ended.get(each.operation_id) if each.operation_id else None
        if at is not None:
            found.wanted_at[each.mark] = at


def topic_count(cluster_id: str) -> int:
    return ObservedTopic.objects.filter(cluster_id=cluster_id).count()


def section_revision(reader: Reader) -> str:
    """Another text as soon as a topic or a broker differs; empty: not known."""
    revisions: list[Section] = [section(reader, TOPICS), section(reader, BROKERS)]
    texts = [each.revision for each in revisions]
    return " ".join(texts) if all(texts) else ""
