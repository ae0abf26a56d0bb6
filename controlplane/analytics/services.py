"""Writes: ask for a run, cancel one, forget old rows."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F, Max
from django.utils import timezone

from controlplane.analytics import collect, rules
from controlplane.analytics.conf import AnalyticsConf
from controlplane.analytics.models import (
    BY_HAND,
    BY_SCHEDULE,
    AnalyticsRun,
    CollectorState,
    GoldGroupExpiry,
    GoldGroupLag,
    GoldTopicRetention,
    RunCluster,
)
from controlplane.analytics.schedule import TICK
from controlplane.audit.services import Actor, audit_record
from controlplane.clusters.models import Cluster
from controlplane.common.problems import Conflict
from controlplane.operations import outbox
from controlplane.operations.states import ANALYTICS_RUN_ACTIVE_STATES, FAILED, SUCCEEDED
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.rules import Rules

FAILURES_SEEN = 10
RUNS_KEPT = timedelta(days=30)


def run_schedule(conf: AnalyticsConf) -> AnalyticsRun | None:
    """Queue the run that is due, or None."""
    now_ms = _ms(timezone.now())
    watched = collect.watched_cluster_ids()
    sampled = CollectorState.objects.filter(pk__in=watched, first_sample_at__isnull=False)
    firsts = sampled.values_list("first_sample_at", flat=True)
    last = AnalyticsRun.objects.order_by("-pk").first()
    is_due = rules.run_is_due(
        now_ms=now_ms,
        first_samples_ms=[_ms(first) for first in firsts if first],
        last_run=rules.LastRun(started_ms=_ms(last.created_at)) if last else None,
        interval_s=conf.interval_s,
        first_after_s=conf.first_after_s,
        rules=Rules(),
    )
    return _queue(conf, watched, trigger=BY_SCHEDULE, requested_by="system") if is_due else None


def run_request(conf: AnalyticsConf, *, tenant: Tenant, actor: Actor) -> AnalyticsRun:
    """Queue a run by hand.

    Raises:
        Conflict: one is queued or running, or the tenant has nothing to compute.
    """
    if not Cluster.objects.filter(tenant=tenant).exists():
        raise Conflict("There is no cluster to analyse yet.", code="no-clusters")
    with transaction.atomic():
        run = _queue(conf, collect.watched_cluster_ids(), trigger=BY_HAND, requested_by=actor.name)
        if run is None:
            raise _active_already()
        audit_record(
            tenant_id=tenant.id, actor=actor, action="analytics.run", resource=f"run:{run.id}"
        )
        outbox.enqueue(TICK, [])
    return run


def _active_already() -> Conflict:
    active = AnalyticsRun.objects.filter(state__in=ANALYTICS_RUN_ACTIVE_STATES).first()
    reason = f"The run {active.pk} is {active.state}" if active else "A run was active a moment ago"
    return Conflict(
        f"{reason}; one runs at a time.",
        code="run-active",
        retryable=True,
        run_id=active.pk if active else None,
    )


def run_cancel(run: AnalyticsRun, *, tenant: Tenant, actor: Actor) -> None:
    """Ask the supervisor to end it; it does within seconds.

    Raises:
        Conflict: it has ended already.
    """
    with transaction.atomic():
        asked = AnalyticsRun.objects.filter(
            pk=run.pk, state__in=ANALYTICS_RUN_ACTIVE_STATES
        ).update(cancel_requested=True)
        if not asked:
            raise Conflict(f"The run {run.pk} is {run.state} already.", code="run-ended")
        audit_record(
            tenant_id=tenant.id, actor=actor, action="analytics.cancel", resource=f"run:{run.id}"
        )
        outbox.enqueue(TICK, [])


def forget_old(conf: AnalyticsConf) -> int:
    """Gold rows and runs past their keep; the number of gold rows that went."""
    now = timezone.now()
    before_ms = _ms(now) - conf.gold_keep_s * 1000
    gone = 0
    for model in (GoldGroupLag, GoldTopicRetention, GoldGroupExpiry):
        gone += model.objects.filter(ts_ms__lt=before_ms).delete()[0]
    AnalyticsRun.objects.filter(created_at__lt=now - RUNS_KEPT).exclude(
        state__in=ANALYTICS_RUN_ACTIVE_STATES
    ).delete()
    return gone


def _queue(
    conf: AnalyticsConf, cluster_ids: list[str], *, trigger: str, requested_by: str
) -> AnalyticsRun | None:
    """None when another run is active (the database decides, not a look beforehand)."""
    wanted = rules.run_range(
        now_ms=_ms(timezone.now()),
        cluster_ids=cluster_ids,
        done_until_ms=_done_until(cluster_ids),
        range_max_s=rules.range_max_after(_failures_in_a_row(), conf.range_max_s),
        rules=Rules(),
    )
    try:
        with transaction.atomic():
            return AnalyticsRun.objects.create(
                trigger=trigger,
                requested_by=requested_by,
                from_ts_ms=wanted.from_ms,
                to_ts_ms=wanted.to_ms,
                starts_ms=dict(wanted.starts_ms),
            )
    except IntegrityError:
        return None


def _failures_in_a_row() -> int:
    """Runs that failed since the last one that did not; only the last few are looked at."""
    states = AnalyticsRun.objects.filter(state__in=(FAILED, SUCCEEDED)).order_by("-created_at")
    last = list(states.values_list("state", flat=True)[:FAILURES_SEEN])
    return next((at for at, state in enumerate(last) if state == SUCCEEDED), len(last))


def _done_until(cluster_ids: list[str]) -> dict[str, int]:
    """Up to when each cluster has been computed without a fault."""
    rows = (
        RunCluster.objects.filter(cluster_id__in=cluster_ids, error="", run__state=SUCCEEDED)
        .values("cluster_id")
        .annotate(until=Max(F("run__to_ts_ms")))
    )
    return {row["cluster_id"]: row["until"] for row in rows}


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)
