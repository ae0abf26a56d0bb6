"""Checks about a cluster: its brokers, partitions, disks, certificates."""

import time
from collections.abc import Iterator
from functools import partial

from django.utils import timezone

from controlplane.alerts.selectors import starts_lately
from controlplane.clusters.models import Broker
from controlplane.clusters.selectors import cluster_get, host_rows, seen_gateway
from controlplane.gateway.readings import ClusterReader, Gap
from controlplane.gateway.types import LogDirSpace
from controlplane.observed.rows import config_rows, partition_rows
from controlplane.observed.sections import BROKERS, TOPICS
from controlplane.observed.selectors import (
    cluster_views,
    row_of,
    rows_of,
    rows_to_cut,
    section,
    summary,
    topic_defaults,
)
from controlplane.runbooks import rules
from controlplane.runbooks.checks.base import DEADLINE_S, Asked, Check
from controlplane.runbooks.rules import Finding

MIN_ISR = "min.insync.replicas"


def answers(asked: Asked) -> Finding:
    """One question to the brokers, now."""
    described = seen_gateway(asked.cluster(), asked.scope).describe_cluster()
    text = f"It answers, and names {len(described.brokers)} brokers."
    return rules.finding(True, text, timezone.now(), brokers=len(described.brokers))


def health(asked: Asked) -> Finding:
    reader = asked.reader()
    view = cluster_views([reader])[reader.cluster_id]
    at = section(reader, BROKERS)
    return rules.health(view.health["status"], view.health["reasons"], at.as_of)


def brokers(asked: Asked) -> Finding:
    reader = asked.reader()
    at = section(reader, BROKERS)
    return rules.brokers([row.row for row in rows_of(reader, BROKERS)], at.as_of, at.old_because)


def controller(asked: Asked) -> Finding:
    reader = asked.reader()
    view = cluster_views([reader])[reader.cluster_id]
    live = view.live if view.is_current else None
    return rules.controller(view.controller_id, live, section(reader, BROKERS).as_of)


def partitions(asked: Asked, *, what: str) -> Finding:
    reader = asked.reader()
    at = section(reader, TOPICS)
    return rules.partitions(summary(reader), what, at.as_of, at.old_because)


def under_min_isr(asked: Asked) -> Finding:
    reader = asked.reader()
    at = section(reader, TOPICS)
    defaults = topic_defaults(reader.cluster_id)

    def rows() -> Iterator[tuple[str, int, int, int | None]]:
        found = rows_to_cut(reader, TOPICS).values_list("key", "detail")
        for key, detail in found.iterator(chunk_size=1_000):
            settings = config_rows(detail, defaults) or []
            value = next((row["value"] for row in settings if row["name"] == MIN_ISR), None)
            least = int(value) if value and value.isdigit() else None
            for part in partition_rows(detail):
                yield key, part["partition"], len(part["isr"]), least

    return rules.under_min_isr(rows(), at.as_of, at.old_because)


def disks(asked: Asked) -> Finding:
    return rules.disks(*_spaces(asked), timezone.now())


def log_directories(asked: Asked) -> Finding:
    """Whether one has failed."""
    return rules.log_directories(*_spaces(asked), timezone.now())


def _spaces(asked: Asked) -> tuple[list[LogDirSpace], list[str]]:
    """Each broker is asked; those whose turn did not come are not known."""
    gateway = seen_gateway(asked.cluster(), asked.scope)
    reader = ClusterReader(gateway)
    end_s = time.monotonic() + DEADLINE_S
    spaces: list[LogDirSpace] = []
    gaps: list[str] = []
    for node in gateway.describe_cluster().brokers:
        if time.monotonic() > end_s:
            gaps.append(f"broker {node.id} was not asked, the others took too long")
            continue
        answer = reader.ask(node.id, partial(gateway.log_dir_space, [node.id]))
        if isinstance(answer, Gap):
            gaps.append(answer.reason)
        else:
            spaces += answer
    return spaces, gaps


def broker(asked: Asked) -> Finding:
    """Whether one broker is in the cluster."""
    reader = asked.reader()
    at = section(reader, BROKERS)
    found = row_of(reader, BROKERS, f"{int(asked['broker']):010d}")
    if found is None:
        return rules.unread(f"Nobody knows a broker {asked['broker']}.", at.as_of)
    return rules.brokers([found.row], at.as_of, at.old_because)


def restarts(asked: Asked) -> Finding:
    """Starts of the time that the alert counts them in, by what its evaluator has noted."""
    cluster_id = asked.cluster().pk
    found = cluster_get(asked.tenant, asked.scope, cluster_id)
    within_s, starts = starts_lately(asked.tenant, cluster_id, timezone.now())
    return rules.restarts(found["brokers"], starts, within_s)


def certificate(asked: Asked) -> Finding:
    rows = Broker.objects.filter(cluster=asked.cluster()).exclude(certificate_ends_at=None)
    first = rows.order_by("certificate_ends_at").values_list("certificate_ends_at", flat=True)
    return rules.certificate(first.first(), timezone.now())


def zookeeper(asked: Asked) -> Finding:
    """Whether this service's ZooKeeper answers it; that of a registered cluster is not asked."""
    del asked
    host_rows()
    return rules.finding(True, "ZooKeeper answers this service.", timezone.now())


CLUSTER = ("cluster",)
CHECKS = (
    Check(name="cluster-answers", needs=CLUSTER, run=answers),
    Check(name="cluster-health", needs=CLUSTER, run=health),
    Check(name="brokers-alive", needs=CLUSTER, run=brokers),
    Check(name="broker-alive", needs=("cluster", "broker"), run=broker),
    Check(name="broker-restarts", needs=CLUSTER, run=restarts),
    Check(name="controller", needs=CLUSTER, run=controller),
    Check(name="partitions-offline", needs=CLUSTER, run=partial(partitions, what="offline")),
    Check(
        name="partitions-under-replicated",
        needs=CLUSTER,
        run=partial(partitions, what="under_replicated"),
    ),
    Check(name="partitions-under-min-isr", needs=CLUSTER, run=under_min_isr),
    Check(name="disk-usage", needs=CLUSTER, run=disks),
    Check(name="log-directories", needs=CLUSTER, run=log_directories),
    Check(name="certificate-end", needs=CLUSTER, run=certificate),
    Check(name="zookeeper-answers", needs=(), run=zookeeper),
)
