"""Writes: ask for a run, cancel one, forget old rows."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Max, Min, QuerySet
from django.utils import timezone

from controlplane.analytics import collect, rules
from controlplane.analytics.conf import AnalyticsConf
from controlplane.analytics.models import (
    BY_HAND,
    BY_SCHEDULE,
    AnalyticsRun,
    CollectorState,
    GoldClusterRollup,
    GoldGroupExpiry,
    GoldGroupLag,
    GoldGroupRollup,
    GoldPartitionRollup,
    GoldTopicRetention,
    GoldTopicRollup,
    GroupVerdict,
    RunCluster,
)
from controlplane.analytics.schedule import TICK
from controlplane.analytics.throughput.store import forget as forget_throughput
from controlplane.audit.services import Actor, audit_record
from controlplane.clusters.models import Cluster
from controlplane.common.problems import Conflict, field_problem
from controlplane.operations import outbox
from controlplane.operations.states import ANALYTICS_RUN_ACTIVE_STATES, FAILED, SUCCEEDED
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.gold import PARTITION_KEEP_S, ROLLUP_KEEP_S
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.runs import Job

FAILURES_SEEN = 10
VERDICTS_KEPT = timedelta(days=1)
RUNS_KEPT = timedelta(days=30)
FORGET_BATCH = 500
FORGET_STEPS_MAX = 2_000
"""Of one hour's housekeeping and table: what is left goes in the next."""


def run_schedule(conf: AnalyticsConf) -> AnalyticsRun | None:
    """Queue the run that is due, or None."""
    now_ms = _ms(timezone.now())
    watched = collect.watched_cluster_ids()
    sampled = CollectorState.objects.filter(pk__in=watched, first_sample_at__isnull=False)
    firsts = sampled.values_list("first_sample_at", flat=True)
    last = _telemetry_runs().order_by("-pk").first()
    is_due = rules.run_is_due(
        now_ms=now_ms,
        first_samples_ms=[_ms(first) for first in firsts if first],
        last_run=rules.LastRun(started_ms=_ms(last.created_at)) if last else None,
        interval_s=conf.interval_s,
        first_after_s=conf.first_after_s,
        rules=Rules(),
    )
    return _queue(conf, watched, trigger=BY_SCHEDULE, requested_by="system") if is_due else None


def rollups_schedule() -> AnalyticsRun | None:
    """Queue the rollups that are due, hours before days; None while nothing was ever sampled."""
    first = CollectorState.objects.aggregate(at=Min("first_sample_at"))["at"]
    if first is None:
        return None
    now_ms = _ms(timezone.now())
    for job, plan in rules.ROLLUP_PLANS.items():
        runs = AnalyticsRun.objects.filter(job=job)
        done = runs.filter(state=SUCCEEDED).aggregate(until=Max("to_ts_ms"))["until"]
        asked = runs.aggregate(until=Max("to_ts_ms"))["until"]
        due = rules.rollup_range(plan, now_ms=now_ms, asked_until_ms=asked, done_until_ms=done)
        if due is not None and due[1] > _ms(first):
            return _queue_rollups(job, due, trigger=BY_SCHEDULE, requested_by="system")
    return None


BACKFILL_MAX = timedelta(days=7)
"""Of one request: the lake's snapshots reach about as far, and a run is to end some day."""


def backfill_request(job: str, begin: datetime, end: datetime, *, actor: Actor) -> AnalyticsRun:
    """Queue the rollups of the whole periods that [begin, end) touches, as far as they are over.

    Raises:
        Conflict: one is queued or running, or no period of the range is over.
        Invalid: the range is longer than `BACKFILL_MAX`.
    """
    if end - begin > BACKFILL_MAX:
        raise field_problem("from", f"at most {BACKFILL_MAX.days} days at a time")
    period_ms = rules.ROLLUP_PLANS[job].period_s * 1000
    from_ms = _ms(begin) // period_ms * period_ms
    to_ms = min(-(-_ms(end) // period_ms), _ms(timezone.now()) // period_ms) * period_ms
    if to_ms <= from_ms:
        raise Conflict("No period of this range is over.", code="nothing-to-compute")
    with transaction.atomic():
        run = None
        if not AnalyticsRun.objects.filter(
            job__in=rules.ROLLUP_PLANS, state__in=ANALYTICS_RUN_ACTIVE_STATES
        ).exists():
            run = _queue_rollups(job, (from_ms, to_ms), trigger=BY_HAND, requested_by=actor.name)
        if run is None:
            raise _active_already(*rules.ROLLUP_PLANS)
        audit_record(
            tenant_id="", actor=actor, action="analytics.backfill", resource=f"run:{run.id}"
        )
        outbox.enqueue(TICK, [])
    return run


def _queue_rollups(
    job: str, span: tuple[int, int], *, trigger: str, requested_by: str
) -> AnalyticsRun | None:
    try:
        with transaction.atomic():
            return AnalyticsRun.objects.create(
                job=job,
                trigger=trigger,
                requested_by=requested_by,
                from_ts_ms=span[0],
                to_ts_ms=span[1],
            )
    except IntegrityError:
        return None


def _telemetry_runs() -> QuerySet[AnalyticsRun]:
    return AnalyticsRun.objects.filter(job=Job.TELEMETRY)


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
            raise _active_already(Job.TELEMETRY)
        audit_record(
            tenant_id=tenant.id, actor=actor, action="analytics.run", resource=f"run:{run.id}"
        )
        outbox.enqueue(TICK, [])
    return run


def _active_already(*jobs: str) -> Conflict:
    active = AnalyticsRun.objects.filter(
        job__in=jobs, state__in=ANALYTICS_RUN_ACTIVE_STATES
    ).first()
    reason = f"The run {active.pk} is {active.state}" if active else "A run was active a moment ago"
    return Conflict(
        f"{reason}; one runs at a time.",
        code="run-active",
        retryable=True,
        run_id=active.pk if active else None,
    )


def run_cancel(run: AnalyticsRun, *, tenant_id: str, actor: Actor) -> None:
    """Ask the supervisor to end it; it does within seconds. On record with the tenant, if any.

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
            tenant_id=tenant_id, actor=actor, action="analytics.cancel", resource=f"run:{run.id}"
        )
        outbox.enqueue(TICK, [])


def forget_old(conf: AnalyticsConf) -> int:
    """Gold rows and runs past their keep, verdicts of clusters that nobody samples any more; the
    number of gold rows that went.
    """
    now = timezone.now()
    before_ms = _ms(now) - conf.gold_keep_s * 1000
    gone = 0
    for model in (GoldGroupLag, GoldTopicRetention, GoldGroupExpiry):
        gone += model.objects.filter(ts_ms__lt=before_ms).delete()[0]
    for rollup in (GoldGroupRollup, GoldTopicRollup, GoldClusterRollup):
        rows = rollup._default_manager.all()  # noqa: SLF001 - Django's documented name
        gone += _forget_rollups(rows, _ms(now) - ROLLUP_KEEP_S * 1000)
    for period_s, keep_s in PARTITION_KEEP_S.items():
        of_period = GoldPartitionRollup.objects.filter(period_s=period_s)
        gone += _forget_rollups(of_period, _ms(now) - keep_s * 1000)
    old = now - VERDICTS_KEPT
    CollectorState.objects.filter(verdicts_sampled_ms__lt=_ms(old)).update(verdicts_revision="")
    GroupVerdict.objects.filter(judged_at__lt=old).delete()
    forget_throughput(_ms(now - VERDICTS_KEPT))
    AnalyticsRun.objects.filter(created_at__lt=now - RUNS_KEPT).exclude(
        state__in=ANALYTICS_RUN_ACTIVE_STATES
    ).delete()
    return gone


def _forget_rollups(rows: QuerySet[Any], before_ms: int) -> int:
    """In bounded steps: an hour of a large installation is a million rows."""
    gone = 0
    for _ in range(FORGET_STEPS_MAX):
        keys = list(rows.filter(ts_ms__lt=before_ms).values_list("pk", flat=True)[:FORGET_BATCH])
        gone += rows.filter(pk__in=keys).delete()[0]
        if len(keys) < FORGET_BATCH:
            break
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
    states = _telemetry_runs().filter(state__in=(FAILED, SUCCEEDED)).order_by("-created_at")
    last = list(states.values_list("state", flat=True)[:FAILURES_SEEN])
    return next((at for at, state in enumerate(last) if state == SUCCEEDED), len(last))


def _done_until(cluster_ids: list[str]) -> dict[str, int]:
    """Up to when each cluster has been computed without a fault."""
    rows = (
        RunCluster.objects.filter(
            cluster_id__in=cluster_ids,
            error="",
            run__state=SUCCEEDED,
            run__job=Job.TELEMETRY,
        )
        .values("cluster_id")
        .annotate(until=Max(F("run__to_ts_ms")))
    )
    return {row["cluster_id"]: row["until"] for row in rows}


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)
