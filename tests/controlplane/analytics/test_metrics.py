"""What `/metrics` shows of the jobs, of runs in the database."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.analytics import metrics
from controlplane.analytics.models import AnalyticsRun, CollectorState, GroupVerdict
from controlplane.clusters.models import CREATING
from controlplane.operations.states import FAILED, QUEUED, SUCCEEDED
from spark_analytics.contracts.runs import Job
from spark_analytics.contracts.statuses import Status
from tests.controlplane.support import cluster_make, tenant_make

pytestmark = pytest.mark.django_db


def shown():
    return {
        (sample.name, *(each for _, each in sorted(sample.labels.items()))): sample.value
        for family in metrics.from_database()
        for sample in family.samples
    }


def run_of(job, state, *, ended_s=None, until_s=0, **more):
    now = timezone.now()
    return AnalyticsRun.objects.create(
        job=job,
        state=state,
        trigger="schedule",
        from_ts_ms=0,
        to_ts_ms=int((now.timestamp() - until_s) * 1000),
        finished_at=None if ended_s is None else now - timedelta(seconds=ended_s),
        **more,
    )


def test_a_job_that_never_ran_is_not_said_to_be_up_to_date():
    found = shown()
    assert not [key for key in found if key[0] == "penstock_analytics_behind_seconds"]
    for job in Job:
        assert found["penstock_analytics_failures_in_a_row", job] == 0
        assert found["penstock_analytics_runs_active", job, QUEUED] == 0


def test_jobs_are_told_apart_and_a_backfill_does_not_look_fresh():
    run_of(Job.HOURLY, SUCCEEDED, ended_s=500, until_s=600, wall_s=20.5, rows_out=7)
    run_of(Job.HOURLY, SUCCEEDED, ended_s=100, until_s=90_000, wall_s=9.0, rows_out=3)
    for _ in range(2):
        run_of(Job.HOURLY, FAILED, ended_s=10)
    run_of(Job.HOURLY, QUEUED)
    run_of(Job.TELEMETRY, FAILED, ended_s=10)
    found = shown()
    assert found["penstock_analytics_behind_seconds", "hourly"] == pytest.approx(600, abs=5)
    assert found["penstock_analytics_run_seconds", "hourly"] == 9.0
    assert found["penstock_analytics_run_rows", "hourly"] == 3
    assert found["penstock_analytics_failures_in_a_row", "hourly"] == 2
    assert found["penstock_analytics_failures_in_a_row", "telemetry"] == 1
    assert found["penstock_analytics_failures_in_a_row", "daily"] == 0
    assert found["penstock_analytics_runs_active", "hourly", "queued"] == 1
    assert ("penstock_analytics_behind_seconds", "telemetry") not in found


def verdict_of(cluster, group, status, *, age_s):
    return GroupVerdict.objects.create(
        cluster_id=cluster.pk,
        group=group,
        topic="orders",
        sampled_ms=0,
        judged_at=timezone.now() - timedelta(seconds=age_s),
        partitions=1,
        uncommitted_partitions=0,
        trend="steady",
        status=status,
        risk="SAFE",
    )


def test_nothing_is_said_of_collectors_where_there_are_none():
    found = shown()
    assert "penstock_verdict_age_seconds" not in {key[0] for key in found}
    assert "penstock_collector_sample_seconds" not in {key[0] for key in found}
    assert {found["penstock_group_verdicts", status] for status in Status} == {0}


def test_the_worst_of_the_collectors_is_shown():
    tenant = tenant_make()
    slow, quick, gone = (cluster_make(tenant, name) for name in ("slow", "quick", "gone"))
    type(gone).objects.filter(pk=gone.pk).update(phase=CREATING)
    now = timezone.now()
    for cluster, took_ms, late_ms in (
        (slow, 14_500, 10_001),
        (quick, 80, 10_000),
        (gone, 99_000, 99_000),
    ):
        CollectorState.objects.create(
            cluster_id=cluster.pk, last_sample_at=now, took_ms=took_ms, lateness_ms=late_ms
        )
    verdict_of(slow, "a", "STOPPED", age_s=200)
    verdict_of(slow, "b", "STOPPED", age_s=90)
    verdict_of(quick, "a", "DATA_LOST", age_s=5)
    verdict_of(gone, "a", "DATA_LOST", age_s=9_000)
    found = shown()
    assert found["penstock_collector_sample_seconds",] == 14.5
    assert found["penstock_collectors_late",] == 1
    assert found["penstock_verdict_age_seconds",] == pytest.approx(90, abs=5)
    assert found["penstock_group_verdicts", "STOPPED"] == 2
    assert found["penstock_group_verdicts", "DATA_LOST"] == 1
    assert found["penstock_group_verdicts", "LAGGING"] == 0
