"""The collector: one sample of one cluster, never two at a time, with its lateness on record."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import DataError
from django.db.models import F
from django.utils import timezone

from controlplane.analytics.chunks import encoded
from controlplane.analytics.judge import Judge, store
from controlplane.analytics.models import CollectorState
from controlplane.analytics.sampler import SampleLateError, Sampler
from controlplane.analytics.slices import Sample, records
from controlplane.analytics.telemetry import Publisher, TelemetryPublisher, ensure_topic
from controlplane.analytics.throughput.store import note
from controlplane.clusters.connections import (
    connection_spec,
    follow_removals,
    gateway_for,
    passage_for,
)
from controlplane.clusters.models import WATCHED_PHASES, Cluster
from controlplane.common import leases
from controlplane.common.lease_keeper import HeldLease, LeaseLostError, keeper
from controlplane.common.once_a_minute import OnceAMinute
from controlplane.common.redis_link import LINK
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.records import NOT_ACKNOWLEDGED
from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S

log = logging.getLogger(__name__)
SAMPLE_BUDGET_S = 8.0
LEASE = timedelta(seconds=5)
"""Renewed at each third: of a collector that was killed no further sample is missed."""
_UNJUDGED = (ArithmeticError, LookupError, TypeError, ValueError, DataError)


@dataclass(slots=True)
class _Watch:
    """What this process keeps of one cluster between samples."""

    spec: ConnectionSpec
    publisher: Publisher
    judge: Judge
    sampler: Sampler = field(default_factory=Sampler)
    topic_ensured: bool = False


_complaints = OnceAMinute(LINK)
_lock = threading.Lock()
_watches: dict[str, _Watch] = {}


def watched_cluster_ids() -> list[str]:
    """Clusters that are up, and not of a deleted tenant's past."""
    rows = Cluster.objects.filter(deleted_at=None, phase__in=WATCHED_PHASES)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def tenant_of(cluster_id: str) -> str | None:
    """Whose cluster it is; None when it is not watched any more."""
    rows = Cluster.objects.filter(pk=cluster_id, deleted_at=None, phase__in=WATCHED_PHASES)
    found = rows.values_list("tenant_id", flat=True).first()
    if found is None:
        _forget(cluster_id)
        return None
    return str(found)


def collect_cluster(cluster_id: str) -> bool:
    """Sample and publish. False when another collector is at it, or the cluster is gone."""
    cluster = Cluster.objects.filter(
        pk=cluster_id, deleted_at=None, phase__in=WATCHED_PHASES
    ).first()
    if cluster is None:
        _forget(cluster_id)
        return False
    began = timezone.now()
    before, _ = CollectorState.objects.get_or_create(pk=cluster_id)
    rows = CollectorState.objects.filter(pk=cluster_id)
    # Nobody has begun another one since that was read.
    unchanged = rows.filter(last_started_at=before.last_started_at)
    lease = keeper().claim(unchanged, cluster_id, LEASE, last_started_at=began)
    if lease is None:
        return False
    try:
        count, unjudged = _sample_and_publish(cluster, lease, began, before.last_started_at)
    except LeaseLostError as lost:
        log.warning("collector of %s: %s", cluster_id, lost)
        leases.release(rows, lease.token)
        _took_none(cluster_id, began, before.last_started_at)
        return False
    except (GatewayError, SampleLateError) as error:
        if _complaints.may(f"collector:{cluster_id}"):
            log.warning("collector of %s: %s", cluster_id, error)
        leases.release(rows, lease.token, failures=F("failures") + 1, last_error=str(error)[:400])
        _took_none(cluster_id, began, before.last_started_at)
        return False
    finally:
        lease.drop()
    _record_success(before, lease.token, began, count, unjudged)
    return True


def _sample_and_publish(
    cluster: Cluster, lease: HeldLease, began: datetime, before: datetime | None
) -> tuple[int, str]:
    """How many records, and why they could not be judged, or not as well as ever, if so.

    Raises:
        LeaseLostError: another collector may be at it; nothing was published.
    """
    gateway = gateway_for(cluster)
    watch = _watch(cluster)
    if not watch.topic_ensured:
        ensure_topic(gateway)
        watch.topic_ensured = True
    sample = watch.sampler.sample(gateway, budget_s=SAMPLE_BUDGET_S)
    rows = records(cluster.id, sample)
    lease.check()
    try:
        passage_for(cluster).run(
            lambda: watch.publisher.publish(encoded(rows)),
            what="publish telemetry",
            is_particular=True,
            away={NOT_ACKNOWLEDGED},
        )
    except GatewayError:
        # The topic may have been deleted under us, the password changed: start from nothing.
        _forget(cluster.id)
        raise
    unmeasured = _measure(cluster.id, sample)
    try:
        verdicts = watch.judge.see(watch.spec, rows, began=began, before=before)
        store(cluster.id, sample, verdicts, timezone.now())
        short = watch.judge.shortfall(sample.ts_ms)
    except _UNJUDGED:
        # The sample is published: what somebody's numbers do to our formulas stops no sampling.
        log.exception("the groups of %s were not judged", cluster.id)
        _forget(cluster.id)
        return len(rows), "The sample was taken; its groups could not be judged."
    if short and _complaints.may(f"collector-catch-up:{cluster.id}"):
        log.warning("collector of %s: %s", cluster.id, short)
    return len(rows), short or unmeasured


def _measure(cluster_id: str, sample: Sample) -> str:
    """Why the throughput since the last step is not kept, if so; the sample counts all the same."""
    try:
        note(cluster_id, sample)
    except _UNJUDGED:
        log.exception("the throughput of %s was not measured", cluster_id)
        return "The sample was taken; its throughput could not be measured."
    return ""


def _took_none(cluster_id: str, began: datetime, before: datetime | None) -> None:
    """What began here and published nothing is nothing that this process has missed."""
    with _lock:
        watch = _watches.get(cluster_id)
        if watch is not None and watch.judge.began == before:
            watch.judge.began = began


def _record_success(
    before: CollectorState, token: str, began: datetime, count: int, unjudged: str
) -> None:
    now = timezone.now()
    late_ms = 0
    if before.last_started_at is not None:
        since_s = (began - before.last_started_at).total_seconds()
        late_ms = max(0, int((since_s - SAMPLE_INTERVAL_S) * 1000))
    leases.release(
        CollectorState.objects.filter(pk=before.pk),
        token,
        first_sample_at=before.first_sample_at or now,
        last_sample_at=now,
        took_ms=int((now - began).total_seconds() * 1000),
        lateness_ms=late_ms,
        slices=count,
        samples=F("samples") + 1,
        failures=0,
        last_error=unjudged,
    )


def _watch(cluster: Cluster) -> _Watch:
    spec = connection_spec(cluster)
    with _lock:
        found = _watches.get(cluster.id)
        if found is not None and found.spec == spec:
            return found
        made = _Watch(
            spec=spec, publisher=TelemetryPublisher(spec), judge=Judge(cluster_id=cluster.id)
        )
        _watches[cluster.id] = made
    if found is not None:
        found.publisher.close()
    return made


def _forget(cluster_id: str) -> None:
    with _lock:
        found = _watches.pop(cluster_id, None)
    if found is not None:
        found.publisher.close()


# A removed cluster is sampled by nobody, so nothing else would close its producer here.
follow_removals(_forget)
