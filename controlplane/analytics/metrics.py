"""What `/metrics` shows of the analytics' jobs, from the database."""

from __future__ import annotations

from collections import Counter

from django.db.models import Max
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, Metric

from controlplane.analytics.models import AnalyticsRun
from controlplane.operations.states import ANALYTICS_RUN_ACTIVE_STATES, FAILED, SUCCEEDED
from spark_analytics.contracts.runs import Job

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
    return [active, behind, took, rows, failures]


def _failures(job: Job) -> int:
    ended = AnalyticsRun.objects.filter(job=job, state__in=(FAILED, SUCCEEDED))
    states = list(
        ended.order_by("-created_at").values_list("state", flat=True)[:FAILURES_SHOWN_MAX]
    )
    return next((at for at, state in enumerate(states) if state == SUCCEEDED), len(states))
