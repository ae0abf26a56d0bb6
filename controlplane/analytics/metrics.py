"""What `/metrics` shows of the analytics' jobs, from the database."""

from __future__ import annotations

from collections import Counter

from django.db.models import Count, Max, Q
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, Metric

from controlplane.analytics.models import AnalyticsRun, CollectorState, GroupVerdict
from controlplane.clusters.models import WATCHED_PHASES, Cluster
from controlplane.operations.states import ANALYTICS_RUN_ACTIVE_STATES, FAILED, SUCCEEDED
from spark_analytics.contracts.runs import Job
from spark_analytics.contracts.statuses import Status
from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S

FAILURES_SHOWN_MAX = 100


def from_database() -> list[Metric]:
    """Of a job that never ran to its end only how many of its runs are active and have failed."""
    active = GaugeMetricFamily(
        "penstock_analytics_runs_active", "Runs that wait or run.", labels=["job", "state"]
    )
    behind = GaugeMetricFamily(
        "penstock_analytics_behind_seconds",
        "How far before now the newest computed window, hour or day of a job ends.",
        labels=["job"],
    )
    took = GaugeMetricFamily(
        "penstock_analytics_run_seconds",
        "How long the last run of a job that succeeded took, with its start-up.",
        labels=["job"],
    )
    rows = GaugeMetricFamily("penstock_analytics_run_rows", "Rows that it left.", labels=["job"])
    failures = GaugeMetricFamily(
        "penstock_analytics_failures_in_a_row",
        f"Runs of a job that failed since the last one that did not, {FAILURES_SHOWN_MAX} at most.",
        labels=["job"],
    )
    running = AnalyticsRun.objects.filter(state__in=ANALYTICS_RUN_ACTIVE_STATES)
    counts = Counter(running.values_list("job", "state"))
    now_ms = timezone.now().timestamp() * 1000
    for job in Job:
        for state in sorted(ANALYTICS_RUN_ACTIVE_STATES):
            active.add_metric([job, state], counts[job, state])
        runs = AnalyticsRun.objects.filter(job=job)
        last = runs.filter(state=SUCCEEDED).order_by("-finished_at").first()
        failures.add_metric([job], _failures(job))
        if last is None:
            continue
        until = runs.filter(state=SUCCEEDED).aggregate(until=Max("to_ts_ms"))["until"]
        behind.add_metric([job], max(0.0, (now_ms - until) / 1000))
        rows.add_metric([job], last.rows_out)
        if last.wall_s is not None:
            took.add_metric([job], last.wall_s)
    return [active, behind, took, rows, failures, *_of_collectors(), _by_status()]


def _of_collectors() -> list[Metric]:
    """The worst of all clusters that are watched; without a sample while there is none."""
    took = GaugeMetricFamily(
        "penstock_collector_sample_seconds",
        "How long the last sample of a cluster took, with its verdicts; the longest.",
    )
    late = GaugeMetricFamily(
        "penstock_collectors_late",
        f"Clusters whose last sample began later than {2 * SAMPLE_INTERVAL_S} s after the one"
        " before it: fewer samples are taken than there should be.",
    )
    unjudged = GaugeMetricFamily(
        "penstock_verdict_age_seconds",
        "Age of the newest verdict on a cluster's groups; the greatest.",
    )
    watched = Cluster.objects.filter(deleted_at=None, phase__in=WATCHED_PHASES).values("pk")
    states = CollectorState.objects.filter(pk__in=watched).exclude(last_sample_at=None)
    found = states.aggregate(
        took=Max("took_ms"),
        late=Count("pk", filter=Q(lateness_ms__gt=SAMPLE_INTERVAL_S * 1000)),
    )
    if found["took"] is not None:
        took.add_metric([], found["took"] / 1000)
        late.add_metric([], found["late"])
    verdicts = GroupVerdict.objects.filter(cluster_id__in=watched).values("cluster_id")
    newest = [row["at"] for row in verdicts.annotate(at=Max("judged_at")).order_by()]
    if newest:
        unjudged.add_metric([], max(0.0, (timezone.now() - min(newest)).total_seconds()))
    return [took, late, unjudged]


def _by_status() -> Metric:
    family = GaugeMetricFamily(
        "penstock_group_verdicts",
        "Groups on topics by what their cluster's collector judged last.",
        labels=["status"],
    )
    watched = Cluster.objects.filter(deleted_at=None, phase__in=WATCHED_PHASES).values("pk")
    rows = GroupVerdict.objects.filter(cluster_id__in=watched).values("status")
    counts = {row["status"]: row["count"] for row in rows.annotate(count=Count("pk")).order_by()}
    for status in Status:
        family.add_metric([status.value], counts.get(status.value, 0))
    return family


def _failures(job: Job) -> int:
    ended = AnalyticsRun.objects.filter(job=job, state__in=(FAILED, SUCCEEDED))
    states = list(
        ended.order_by("-created_at").values_list("state", flat=True)[:FAILURES_SHOWN_MAX]
    )
    return next((at for at, state in enumerate(states) if state == SUCCEEDED), len(states))
