"""Rollups: when they are due, loaded, kept, answered, exported, computed again."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from controlplane.analytics import rollups, rules, selectors, services
from controlplane.analytics.conf import conf
from controlplane.analytics.load import load_result
from controlplane.analytics.models import (
    AnalyticsRun,
    CollectorState,
    GoldGroupRollup,
    GoldPartitionRollup,
    GoldTopicRollup,
)
from controlplane.audit.models import AuditEvent
from controlplane.operations.states import FAILED, QUEUED, RUNNING, SUCCEEDED
from spark_analytics.contracts.gold import DAY_S, HOUR_S, PARTITION_KEEP_S, ROLLUP_TABLES
from spark_analytics.contracts.runs import ClusterResult, Job, RunResult
from tests.controlplane.analytics import rows
from tests.controlplane.analytics.rollup_rows import DAY_MS, HOUR_MS, T0_MS, rollup_row, stored
from tests.controlplane.support import client_for, cluster_make, tenant_make

pytestmark = pytest.mark.django_db
HOURLY = rules.ROLLUP_PLANS[Job.HOURLY]


def get(world, path, role="viewer", **query):
    path = f"/api/v1/clusters/{world.cluster.id}/analytics/rollups/{path}"
    return client_for(world.tenant, role).get(path, query)


def load(tmp_path, name, table_rows, *clusters, job=Job.HOURLY, hours=2):
    span = HOUR_MS if job == Job.HOURLY else DAY_MS
    run = rows.running(tmp_path / name, job=job, from_ts_ms=T0_MS, to_ts_ms=T0_MS + hours * span)
    for table in ROLLUP_TABLES:
        lines = "".join(json.dumps(row) + "\n" for row in table_rows.get(table, []))
        (Path(run.work_dir) / f"{table}.jsonl").write_text(lines)
    result = RunResult(
        run_id=run.pk,
        ok=True,
        from_ts_ms=run.from_ts_ms,
        to_ts_ms=run.to_ts_ms,
        formula_version=1,
        clusters=clusters,
        rows={table: len(table_rows.get(table, [])) for table in ROLLUP_TABLES},
    )
    assert load_result(run, result)
    return run


@given(
    now=st.integers(0, 10**5),
    asked=st.none() | st.integers(0, 10**5),
    done=st.none() | st.integers(0, 10**5),
    job=st.sampled_from(list(rules.ROLLUP_PLANS)),
)
def test_a_range_is_of_whole_periods_that_are_over_and_leaves_nothing_out(now, asked, done, job):
    plan = rules.ROLLUP_PLANS[job]
    period_ms, minute_ms = plan.period_s * 1000, 60_000
    now_ms = 10**9 + now * minute_ms
    asked_ms = None if asked is None else (10**9 + asked * minute_ms) // period_ms * period_ms
    done_ms = None if done is None else (10**9 + done * minute_ms) // period_ms * period_ms
    found = rules.rollup_range(plan, now_ms=now_ms, asked_until_ms=asked_ms, done_until_ms=done_ms)
    over_ms = (now_ms - plan.settle_s * 1000) // period_ms * period_ms
    if found is None:
        assert asked_ms is not None
        assert asked_ms >= over_ms
        return
    from_ms, to_ms = found
    assert from_ms % period_ms == to_ms % period_ms == 0
    assert to_ms == over_ms
    assert plan.again <= (to_ms - from_ms) // period_ms <= plan.back_max
    if done_ms is not None and to_ms - done_ms < (plan.back_max - plan.again) * period_ms:
        assert from_ms <= done_ms


def test_hours_are_due_five_minutes_after_their_end_then_days():
    assert services.rollups_schedule() is None, "nothing was ever sampled"
    CollectorState.objects.create(pk="a", first_sample_at=timezone.now())
    assert services.rollups_schedule() is None, "no period with a sample is over"
    CollectorState.objects.update(first_sample_at=timezone.now() - timedelta(days=3))
    hourly = services.rollups_schedule()
    now_ms = int(timezone.now().timestamp() * 1000)
    assert hourly.job == Job.HOURLY
    assert hourly.to_ts_ms - hourly.from_ts_ms == 2 * HOUR_MS
    assert 5 * 60_000 <= now_ms - hourly.to_ts_ms < HOUR_MS + 6 * 60_000
    daily = services.rollups_schedule()
    assert (daily.job, daily.to_ts_ms - daily.from_ts_ms) == (Job.DAILY, DAY_MS)
    assert services.rollups_schedule() is None
    AnalyticsRun.objects.filter(pk=hourly.pk).update(
        state=SUCCEEDED, to_ts_ms=hourly.to_ts_ms - 5 * HOUR_MS
    )
    assert services.rollups_schedule().from_ts_ms == hourly.to_ts_ms - 6 * HOUR_MS


def test_rollups_keep_no_minute_from_its_verdict():
    """What the one job did says nothing of when the other is due, and both may run at once."""
    cluster = cluster_make(tenant_make())
    CollectorState.objects.create(
        pk=cluster.id, first_sample_at=timezone.now() - timedelta(hours=3)
    )
    assert services.rollups_schedule() is not None
    minute = services.run_schedule(conf())
    assert minute.job == Job.TELEMETRY
    assert AnalyticsRun.objects.filter(state=QUEUED).count() == 2


def test_a_run_replaces_its_own_periods_alone(tmp_path):
    stored("topic_rollup", "a", 0, records_in=1)
    stored("topic_rollup", "a", 0, records_in=24, period_s=DAY_S)
    stored("topic_rollup", "b", 0, records_in=5)
    stored("topic_rollup", "a", 2, records_in=9)
    fresh = [rollup_row("topic_rollup", "a", at, records_in=7) for at in (0, 1)]
    load(tmp_path, "one", {"topic_rollup": fresh}, ClusterResult(cluster_id="a"))
    found = GoldTopicRollup.objects.order_by("cluster_id", "period_s", "ts_ms")
    assert list(found.values_list("cluster_id", "period_s", "records_in")) == [
        ("a", HOUR_S, 7),
        ("a", HOUR_S, 7),
        ("a", HOUR_S, 9),
        ("a", DAY_S, 24),
        ("b", HOUR_S, 5),
    ]


@pytest.mark.parametrize("period_s", [HOUR_S, DAY_S])
def test_partitions_are_kept_for_as_long_as_a_chart_of_their_period_reaches(period_s):
    now_s = timezone.now().timestamp()
    for age_s in (PARTITION_KEEP_S[period_s] - period_s, PARTITION_KEEP_S[period_s] + period_s):
        at = int(now_s - age_s) * 1000
        stored("partition_rollup", "a", 0, period_s=period_s, ts_ms=at)
    assert services.forget_old(conf()) == 1
    (left,) = GoldPartitionRollup.objects.all()
    assert left.ts_ms > (now_s - PARTITION_KEEP_S[period_s]) * 1000


def test_rollups_are_kept_for_400_days_and_go_in_bounded_steps(monkeypatch):
    monkeypatch.setattr(services, "FORGET_BATCH", 2)
    now_ms = int(timezone.now().timestamp() * 1000)
    for number, age_days in enumerate((399, 401, 402, 403, 404, 405)):
        row = stored("group_rollup", "a", number)
        type(row).objects.filter(pk=row.pk).update(ts_ms=now_ms - age_days * DAY_MS)
    monkeypatch.setattr(services, "FORGET_STEPS_MAX", 2)
    assert services.forget_old(conf()) == 4
    assert services.forget_old(conf()) == 1
    assert GoldGroupRollup.objects.count() == 1


def test_an_answer_follows_the_contract(world):
    stored("group_rollup", world.cluster.id, 0, lag_samples=120, lag_records_p50=1.5)
    body = get(world, "groups", group="g").json()
    assert (body["period_s"], body["complete"], body["formula_version"]) == (HOUR_S, True, 1)
    (row,) = body["data"]
    shown = set(ROLLUP_TABLES["group_rollup"].column_names)
    assert row.keys() == shown - {"cluster_id", "period_s", "ts_ms", "sampled_ms"} | {
        "ts",
        "sampled_at",
    }
    assert (row["lag_records_p50"], row["lag_seconds_p50"]) == (1.5, None)
    assert body["as_of"] == row["sampled_at"] == selectors.iso_ms(T0_MS + HOUR_MS - 10_000)


def test_a_long_range_is_answered_by_days(world):
    for at in range(3):
        stored("cluster_rollup", world.cluster.id, at, bytes_last=at)
        stored("cluster_rollup", world.cluster.id, at, bytes_last=100 + at, period_s=DAY_S)
    day = {"from": selectors.iso_ms(T0_MS), "to": selectors.iso_ms(T0_MS + 2 * DAY_MS)}
    assert [row["bytes_last"] for row in get(world, "cluster", **day).json()["data"]] == [0, 1, 2]
    month = {**day, "to": selectors.iso_ms(T0_MS + 30 * DAY_MS)}
    body = get(world, "cluster", **month).json()
    assert body["period_s"] == DAY_S
    assert [row["bytes_last"] for row in body["data"]] == [100, 101, 102]
    both = get(world, "cluster", **month, period="hour").json()
    assert len(both["data"]) == 3


def test_more_rows_than_an_answer_holds_is_said(world, monkeypatch):
    monkeypatch.setattr(rollups, "ROWS_MAX", 2)
    for at in range(3):
        stored("topic_rollup", world.cluster.id, at)
    body = get(world, "topics").json()
    assert (len(body["data"]), body["complete"]) == (2, False)


def test_another_tenant_s_rollups_are_not_found(world):
    other = cluster_make(tenant_make("rival"), name="secret")
    stored("topic_rollup", other.id, 0)
    for path in ("cluster", "topics", "groups"):
        where = f"/api/v1/clusters/{other.id}/analytics/rollups/{path}"
        assert client_for(world.tenant).get(where).status_code == 404
    assert get(world, "topics").json()["data"] == []


@pytest.mark.parametrize(
    "query", [{"from": "x"}, {"period": "week"}, {"topic": "t" * 300}, {"group": "g" * 300}]
)
def test_a_bad_question_is_named(world, query):
    answer = get(world, "groups", **query)
    assert answer.status_code == 422
    assert next(iter(query)) in answer.content.decode()


def test_a_file_holds_the_rows_and_runs_nothing(world):
    stored("group_rollup", world.cluster.id, 0, group="=1+1", lag_records_p50=2.5)
    stored("group_rollup", world.cluster.id, 1, group="plain", lag_records_max=7)
    answer = get(world, "groups", format="csv")
    found = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [(row["group"], row["lag_records_p50"]) for row in found] == [
        ("'=1+1", "2.5"),
        ("plain", ""),
    ]
    answer = get(world, "groups", format="parquet")
    assert answer["Content-Type"] == "application/vnd.apache.parquet"
    table = pq.read_table(io.BytesIO(answer.content))
    assert table.column("group").to_pylist() == ["=1+1", "plain"]
    assert table.column("lag_records_max").to_pylist() == [None, 7]
    assert str(table.schema.field("lag_records_max").type) == "int64"


def backfill(world, client, **body):
    return client.post("/api/v1/operator/analytics/backfills", body, format="json")


def test_a_backfill_is_for_platform_operators_and_of_whole_periods(world):
    span = {"from": "2026-01-02T03:30:00Z", "to": "2026-01-02T05:10:00Z"}
    owner = client_for(world.tenant, "owner", name="staff")
    assert backfill(world, owner, job="hourly", **span).status_code in {403, 404}
    User.objects.filter(username="staff").update(is_staff=True)
    answer = backfill(world, owner, job="hourly", **span)
    assert (answer.status_code, answer.json()["job"]) == (202, "hourly")
    run = AnalyticsRun.objects.get(pk=answer.json()["id"])
    hours = [datetime(2026, 1, 2, hour, tzinfo=UTC) for hour in (3, 6)]
    assert [run.from_ts_ms, run.to_ts_ms] == [int(at.timestamp() * 1000) for at in hours]
    assert AuditEvent.objects.filter(action="analytics.backfill").count() == 1
    again = backfill(world, owner, job="daily", **span)
    assert (again.status_code, again.json()["code"]) == (409, "run-active")
    AnalyticsRun.objects.update(state=FAILED)
    assert backfill(world, owner, job="telemetry", **span).status_code == 422
    long = {"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}
    assert backfill(world, owner, job="daily", **long).status_code == 422
    ahead = {"from": "2096-01-01T00:00:00Z", "to": "2096-01-02T00:00:00Z"}
    assert backfill(world, owner, job="daily", **ahead).json()["code"] == "nothing-to-compute"


def test_backfills_are_listed_and_cancelled_by_platform_operators_alone(world):
    owner = client_for(world.tenant, "owner", name="staff")
    listed = "/api/v1/operator/analytics/backfills"
    assert owner.get(listed).status_code in {403, 404}
    User.objects.filter(username="staff").update(is_staff=True)
    AnalyticsRun.objects.create(trigger="schedule", from_ts_ms=0, to_ts_ms=1, state=SUCCEEDED)
    span = {"from": "2026-01-02T03:00:00Z", "to": "2026-01-02T05:00:00Z"}
    asked = backfill(world, owner, job="hourly", **span).json()
    (row,) = owner.get(listed).json()["data"]
    assert (row["id"], row["state"], row["trigger"]) == (asked["id"], "queued", "manual")
    assert row["requested_by"].endswith("staff")
    assert (row["eta_s"], row["progress"], row["cancel_requested"]) == (None, {}, False)

    cancel = f"/api/v1/operator/analytics/runs/{row['id']}/cancellation"
    User.objects.filter(username="staff").update(is_staff=False)
    assert owner.post(cancel, {}, format="json").status_code in {403, 404}
    User.objects.filter(username="staff").update(is_staff=True)
    answer = owner.post(cancel, {}, format="json")
    assert (answer.status_code, answer.json()["cancel_requested"]) == (202, True)
    assert AuditEvent.objects.filter(action="analytics.cancel", tenant_id="").count() == 1
    AnalyticsRun.objects.filter(pk=row["id"]).update(state=FAILED)
    again = owner.post(cancel, {}, format="json")
    assert (again.status_code, again.json()["code"]) == (409, "run-ended")
    missing = "/api/v1/operator/analytics/runs/run_nope/cancellation"
    assert owner.post(missing, {}, format="json").status_code == 404


def test_a_run_says_how_long_it_has_to_go(tmp_path):
    now = timezone.now()
    run = AnalyticsRun.objects.create(
        job=Job.HOURLY,
        trigger="schedule",
        from_ts_ms=0,
        to_ts_ms=4 * HOUR_MS,
        state=RUNNING,
        started_at=now - timedelta(seconds=10),
    )
    assert selectors.eta_s(run) is None
    for wall_s in (20.0, 30.0, 100.0):
        AnalyticsRun.objects.create(
            job=Job.HOURLY, trigger="schedule", from_ts_ms=0, to_ts_ms=2 * HOUR_MS,
            state=SUCCEEDED, wall_s=wall_s,
        )  # fmt: skip
    AnalyticsRun.objects.create(
        trigger="schedule", from_ts_ms=0, to_ts_ms=1, state=SUCCEEDED, wall_s=1.0
    )
    assert selectors.eta_s(run) == pytest.approx(50, abs=2)
