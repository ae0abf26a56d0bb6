"""Reads what the rules ask, in a few statements for all tenants and clusters together."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings

from controlplane.alerts import facts_burns, facts_groups, facts_tenant
from controlplane.alerts.fact_types import (
    BrokerFact,
    ClusterFacts,
    FailedDir,
    TenantFacts,
    Trouble,
    points_of,
)
from controlplane.alerts.models import BrokerTrack
from controlplane.analytics.models import CollectorState
from controlplane.clusters.hosts import BrokerKey, HostsUnavailableError, hosts
from controlplane.clusters.models import MANAGED, WATCHED_PHASES, Broker, Cluster
from controlplane.clusters.reports import Observed
from controlplane.observed import rules as observed_rules
from controlplane.observed.models import ObservedBroker, ObservedCluster, ObservedTopic
from controlplane.observed.rows import partition_rows
from controlplane.observed.sections import BROKERS, TOPICS, UNREACHABLE
from controlplane.observed.selectors import light
from controlplane.tenants.models import CLOSED, Tenant

MIN_ISR = "min.insync.replicas"
TROUBLES_MAX = 2_000
"""Topics in trouble that are read of one cluster; the counts are then of these."""
LARGEST_MAX = 20
"""Topics of a cluster among which the largest on a broker is looked for."""
REASON_MAX = 200
Partitions = dict[frozenset[int], tuple[int, ...]]


@dataclass(slots=True)
class _Rows:
    """What the tables have, by cluster."""

    observed: dict[str, ObservedCluster] = field(default_factory=dict)
    brokers: defaultdict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    placed: defaultdict[str, list[Broker]] = field(default_factory=lambda: defaultdict(list))
    tracks: dict[tuple[str, int], BrokerTrack] = field(default_factory=dict)
    collectors: dict[str, CollectorState] = field(default_factory=dict)
    reports: dict[BrokerKey, Observed] | None = None
    zookeeper: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """`starts` are what agents say now, by (cluster, broker), for `tracks` to keep."""

    tenants: tuple[TenantFacts, ...]
    starts: Mapping[tuple[str, int], int]


def read(now: datetime, open_groups: Mapping[str, Collection[str]]) -> Facts:
    """All tenants that are not closed.

    Args:
        now: what ages are reckoned from.
        open_groups: by cluster, groups with an open alert: what is said of those is read even
            where it is good, as nothing said is not the same as nothing wrong.
    """
    clusters = list(
        Cluster.objects.filter(deleted_at=None, phase__in=WATCHED_PHASES)
        .only("id", "tenant_id", "name", "kind", "created_at")
        .order_by("pk")
    )
    rows = _rows([cluster.id for cluster in clusters])
    judged = facts_groups.read([cluster.id for cluster in clusters], open_groups, now)
    burns = facts_burns.read(clusters, now)
    mine: defaultdict[str, list[ClusterFacts]] = defaultdict(list)
    for cluster in clusters:
        found = _cluster(cluster, rows, now)
        found = facts_groups.with_groups(found, judged[cluster.id])
        mine[cluster.tenant_id].append(facts_burns.with_burns(found, burns.get(cluster.id)))
    tenants = Tenant.objects.exclude(state=CLOSED).order_by("pk").values_list("pk", flat=True)
    others = facts_tenant.read(now)
    asked = {cluster.tenant_id for cluster in clusters if rows.placed[cluster.id]}
    return Facts(
        tuple(
            TenantFacts(
                id=tenant_id,
                clusters=tuple(mine[tenant_id]),
                operations=tuple(others.operations[tenant_id]),
                keys=tuple(others.keys[tenant_id]),
                limits=tuple(others.limits(tenant_id)),
                zookeeper=rows.zookeeper if tenant_id in asked else None,
            )
            for tenant_id in tenants
        ),
        _starts(rows),
    )


def _rows(ids: list[str]) -> _Rows:
    rows = _Rows()
    rows.observed = {row.pk: row for row in light().filter(pk__in=ids)}
    found = ObservedBroker.objects.filter(cluster_id__in=ids, gone=False).order_by("key")
    for cluster_id, row in found.values_list("cluster_id", "row"):
        rows.brokers[cluster_id].append(row)
    # Those that join or leave are their operation's: that they are not up is no fault.
    placed = Broker.objects.filter(cluster_id__in=ids, desired_state="running")
    placed = placed.defer("tls_token").order_by("broker_id")
    for broker in placed:
        rows.placed[broker.cluster_id].append(broker)
    for track in BrokerTrack.objects.filter(cluster_id__in=ids):
        rows.tracks[track.cluster_id, track.broker_id] = track
    rows.collectors = CollectorState.objects.in_bulk(ids)
    keys = [(broker.host_id, broker.key) for some in rows.placed.values() for broker in some]
    if keys:
        try:
            rows.reports = hosts().observed(keys)
        except HostsUnavailableError as error:
            rows.zookeeper = reason(str(error)) or "no answer"
    return rows


def _starts(rows: _Rows) -> dict[tuple[str, int], int]:
    found = {}
    for cluster_id, brokers in rows.placed.items():
        for broker in brokers:
            report = (rows.reports or {}).get((broker.host_id, broker.key))
            if report is not None and not report.disagreement(broker.generation):
                found[cluster_id, broker.broker_id] = report.restarts
    return found


def _cluster(cluster: Cluster, rows: _Rows, now: datetime) -> ClusterFacts:
    observed = rows.observed.get(cluster.id)
    away, is_refusing = _away(observed, now)
    collector = rows.collectors.get(cluster.id)
    placed = rows.placed[cluster.id]
    is_read = observed is not None and not away
    troubles, min_isr_known = (
        _troubles(observed, _live(rows.brokers[cluster.id]))
        if observed is not None and is_read
        else (None, False)
    )
    return ClusterFacts(
        id=cluster.id,
        name=cluster.name,
        is_managed=cluster.kind == MANAGED and bool(placed),
        created_at=cluster.created_at,
        away=away,
        is_refusing=is_refusing,
        seen_at=_as_of(observed, BROKERS),
        brokers=_brokers(cluster.id, rows) if is_read else None,
        controller_id=observed.controller_id if observed is not None else None,
        troubles=troubles,
        min_isr_known=min_isr_known,
        agents_known=rows.reports is not None,
        certificates=tuple(
            (broker.broker_id, broker.certificate_ends_at)
            for broker in placed
            if broker.certificate_ends_at is not None
        ),
        sampled_at=collector.last_sample_at if collector is not None else None,
        sample_error=reason(collector.last_error) if collector is not None else "",
    )


def _away(observed: ObservedCluster | None, now: datetime) -> tuple[str, bool]:
    """(why it is not known of now, whether it was asked and did not answer)."""
    if observed is None:
        return "it has not been observed yet", False
    if observed_rules.is_overdue(now, observed.due_at, settings.OBSERVE_INTERVAL_S):
        return "nobody has looked at it for a while", False
    if observed.health == UNREACHABLE:
        said = next((reason["text"] for reason in observed.reasons), "")
        return reason(said) or "it does not answer", True
    if _as_of(observed, BROKERS) is None:
        return "it has not been observed yet", False
    if not _is_read(observed, BROKERS):
        return "its brokers could not be read", True
    return "", False


def reason(said: str) -> str:
    """As a part of a sentence: without its full stop, and where it is long without its end."""
    if len(said) <= REASON_MAX:
        return said.rstrip(".")
    return said[:REASON_MAX].rpartition(" ")[0] + " …"


def _as_of(observed: ObservedCluster | None, section: str) -> datetime | None:
    kept = observed.sections.get(section) if observed is not None else None
    return datetime.fromisoformat(kept["as_of"]) if kept and kept["as_of"] else None


def _is_read(observed: ObservedCluster, section: str) -> bool:
    """Whether the last pass read it. What was read may still lack values, which are null."""
    kept = observed.sections.get(section)
    return bool(kept and kept["as_of"] and not kept["code"])


def _live(brokers: Iterable[Mapping[str, Any]]) -> frozenset[int]:
    return frozenset(row["id"] for row in brokers if row["live"])


def _brokers(cluster_id: str, rows: _Rows) -> tuple[BrokerFact, ...]:
    seen = {row["id"]: row for row in rows.brokers[cluster_id]}
    wanted = {broker.broker_id for broker in rows.placed[cluster_id]}
    largest = _largest_topics(
        cluster_id, [row["id"] for row in seen.values() if _is_half_full(row)]
    )
    names = _directory_names(rows, cluster_id)
    found = []
    for broker_id in sorted({*seen, *wanted}):
        row, track = seen.get(broker_id, {}), rows.tracks.get((cluster_id, broker_id))
        found.append(
            BrokerFact(
                id=broker_id,
                live=bool(row.get("live")),
                size_bytes=row.get("size_bytes"),
                disk_total_bytes=row.get("disk_total_bytes"),
                disk_usable_bytes=row.get("disk_usable_bytes"),
                largest_topic=largest.get(broker_id),
                failed_dirs=_failed_dirs(row, names.get(broker_id, {})),
                sizes=points_of(track.sizes) if track is not None else (),
                starts=points_of(track.starts) if track is not None else (),
            )
        )
    return tuple(found)


def _directory_names(rows: _Rows, cluster_id: str) -> dict[int, dict[str, str]]:
    """By broker, what its agent calls each directory, by path; of those that said it."""
    reports = rows.reports or {}
    return {
        broker.broker_id: {each.path: each.name for each in report.log_dirs}
        for broker in rows.placed[cluster_id]
        if (report := reports.get((broker.host_id, broker.key))) is not None
    }


def _failed_dirs(row: Mapping[str, Any], names: Mapping[str, str]) -> tuple[FailedDir, ...] | None:
    """Null: not read, as of rows from before this was asked."""
    failed = row.get("failed_log_dirs")
    if failed is None:
        return None
    return tuple(
        FailedDir(each["path"], each["error"], names.get(each["path"], "")) for each in failed
    )


def _is_half_full(row: Mapping[str, Any]) -> bool:
    total, usable = row.get("disk_total_bytes"), row.get("disk_usable_bytes")
    return bool(total) and usable is not None and usable * 2 < total


def _largest_topics(cluster_id: str, brokers: Collection[int]) -> dict[int, str]:
    """By broker the topic whose replicas there hold most, of the largest of the cluster."""
    if not brokers:
        return {}
    rows = ObservedTopic.objects.filter(cluster_id=cluster_id, gone=False, size_bytes__gt=0)
    held: defaultdict[int, Counter[str]] = defaultdict(Counter)
    large = rows.order_by("-size_bytes", "key")[:LARGEST_MAX]
    for name, detail in large.values_list("key", "detail"):
        for part in partition_rows(detail):
            for broker in set(part["replicas"]).intersection(brokers):
                held[broker][name] += part["size_bytes"] or 0
    return {broker: max(sizes, key=sizes.__getitem__) for broker, sizes in held.items()}


# -- partitions -----------------------------------------------------------------------------
def _troubles(
    observed: ObservedCluster, live: frozenset[int]
) -> tuple[tuple[Trouble, ...] | None, bool]:
    """(topics in trouble, whether their least in-sync replicas are known); null: not read now.

    Only clusters whose summary counts any have their topics looked at. A topic that has fewer
    replicas than its own `min.insync.replicas`, all in sync, is no one of these.
    """
    summary = observed.summary
    if summary is None or not _is_read(observed, TOPICS):
        return None, False
    if not summary["under_replicated"] and not summary["offline"]:
        return (), True
    default = (
        ObservedCluster.objects.filter(pk=observed.pk)
        .values_list("topic_defaults", flat=True)
        .first()
        or {}
    ).get(MIN_ISR)
    rows = ObservedTopic.objects.filter(cluster_id=observed.pk, gone=False)
    bad = rows.filter(row__under_replicated__gt=0) | rows.filter(row__offline__gt=0)
    found, known = [], True
    for name, detail in bad.order_by("key").values_list("key", "detail")[:TROUBLES_MAX]:
        least = _least_in_sync(detail["configs"], default)
        known = known and least is not None
        found.append(trouble(name, detail["partitions"], live, least))
    return tuple(found), known


def _least_in_sync(
    configs: list[dict[str, str]] | None, default: dict[str, str] | None
) -> int | None:
    if configs is None:
        return None
    own = next((row["value"] for row in configs if row["name"] == MIN_ISR), None)
    value = own if own is not None else (default or {}).get("value")
    return int(value) if value is not None and value.isdigit() else None


def trouble(
    topic: str, partitions: Iterable[list[Any]], live: frozenset[int], least: int | None
) -> Trouble:
    """By the brokers that they lack; `partitions` as `ObservedTopic.detail` has them."""
    offline: dict[frozenset[int], list[int]] = {}
    behind: dict[frozenset[int], list[int]] = {}
    refusing: dict[frozenset[int], list[int]] = {}
    for number, leader, _, replicas, isr, *_ in partitions:
        wanted, in_sync = frozenset(replicas), frozenset(isr)
        if leader is None:
            offline.setdefault(wanted - live, []).append(number)
        elif in_sync < wanted:
            behind.setdefault(wanted - in_sync, []).append(number)
            if least is not None and len(in_sync) < least:
                refusing.setdefault(wanted - in_sync, []).append(number)
    return Trouble(topic, _frozen(offline), _frozen(behind), _frozen(refusing))


def _frozen(found: dict[frozenset[int], list[int]]) -> Partitions:
    return {brokers: tuple(numbers) for brokers, numbers in found.items()}
