"""The endpoints: shapes, tenants, roles, bad input."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.analytics import selectors
from controlplane.analytics.load import load_result
from controlplane.analytics.models import (
    AnalyticsRun,
    CollectorState,
    GoldGroupExpiry,
    GoldGroupLag,
)
from controlplane.analytics.schedule import TICK
from controlplane.common.grants import EVERYTHING
from controlplane.operations.states import CANCELLED, FAILED, QUEUED, RUNNING, SUCCEEDED
from controlplane.tenants.services import api_key_create
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.runs import ClusterResult
from tests.controlplane.analytics import rows
from tests.controlplane.support import ACTOR, client_for, cluster_make, tenant_make


@pytest.fixture
def loaded(world, tmp_path):
    """Two clusters of two tenants in one run."""
    other = cluster_make(tenant_make("rival"), name="secret")
    ids = [world.cluster.id, other.id]
    gold = {
        table: [row for cluster_id in ids for row in rows.whole_range(cluster_id)[table]]
        for table in rows.whole_range("x")
    }
    run = rows.running(tmp_path / "run")
    results = [
        ClusterResult(cluster_id=cluster_id, offsets_end={"0": 3}, records_in=3)
        for cluster_id in ids
    ]
    load_result(run, rows.finished(run, gold, *results))
    return run


def get(world, path, role="viewer", **query):
    return client_for(world.tenant, role).get(f"/api/v1{path}", query)


def test_lag_as_the_contract_says(world, loaded):
    answer = get(world, f"/clusters/{world.cluster.id}/analytics/lag", group="g")
    assert answer.status_code == 200
    body = answer.json()
    assert body["run_id"] == loaded.pk
    assert body["as_of"] == selectors.iso_ms(rows.T0_MS + 3 * rows.WINDOW_MS + 20_000)
    # A run every 300 s, 600 s long at most.
    stale_s = 300 + 600 + Rules().window_s
    assert body["stale_after"] == selectors.iso_ms(
        rows.T0_MS + 3 * rows.WINDOW_MS + 20_000 + stale_s * 1000
    )
    assert [point["ts"] for point in body["data"]] == [
        selectors.iso_ms(rows.T0_MS + i * rows.WINDOW_MS + 20_000) for i in range(4)
    ]
    assert body["data"][0] | {"ts": None} == {
        "group": "g",
        "topic": "t",
        "source": "spark",
        "ts": None,
        "partitions": 1,
        "lag_records": 10,
        "uncommitted_partitions": 0,
        "uncommitted_records": 0,
        "lag_seconds": 1.5,
        "lag_seconds_at_least": None,
        "method": "interpolated",
        "trend": "steady",
        "trend_records_per_s": None,
        "produce_records_per_s": None,
        "consume_records_per_s": None,
        "eta_seconds": None,
        "lost_records": 0,
        "members": 1,
        "state": "Stable",
        "status": "CAUGHT_UP",
        "reasons": [],
    }


def test_the_reasons_of_a_status_are_a_list(world, loaded):
    GoldGroupLag.objects.update(reasons="PARTIAL_COMMIT,REWOUND", uncommitted_records=None)
    path = f"/clusters/{world.cluster.id}/analytics/lag"
    (point,) = get(world, path, latest="true").json()["data"]
    assert point["reasons"] == ["PARTIAL_COMMIT", "REWOUND"]
    assert point["uncommitted_records"] is None


def test_lag_latest_and_ranges(world, loaded):
    path = f"/clusters/{world.cluster.id}/analytics/lag"
    assert len(get(world, path, latest="true").json()["data"]) == 1
    assert get(world, path, group="nobody").status_code == 404
    early = {"from": "2001-01-01T00:00:00Z", "to": "2001-01-02T00:00:00Z"}
    assert get(world, path, **early).json()["data"] == []
    whole = {"from": selectors.iso_ms(rows.T0_MS), "to": selectors.iso_ms(rows.T0_MS + 10**7)}
    assert len(get(world, path, **whole).json()["data"]) == 4


def test_a_long_range_is_thinned_and_keeps_the_newest(world, loaded, monkeypatch):
    monkeypatch.setattr(selectors, "POINTS_MAX", 2)
    found = selectors.lag_series(
        world.tenant,
        EVERYTHING,
        world.cluster.id,
        from_ms=rows.T0_MS,
        to_ms=rows.T0_MS + 4 * rows.WINDOW_MS,
    )
    assert len(found["data"]) == 2
    assert found["data"][-1]["ts"] == found["as_of"]


def test_pace_puts_expiry_beside_what_is_produced_and_consumed(world, loaded):
    path = f"/clusters/{world.cluster.id}/analytics/pace/g"
    first = GoldGroupLag.objects.filter(cluster_id=world.cluster.id).order_by("ts_ms")[0]
    GoldGroupLag.objects.filter(pk=first.pk).update(
        produce_records_per_s=42.0, consume_records_per_s=14.0
    )
    GoldGroupExpiry.objects.filter(cluster_id=world.cluster.id).exclude(ts_ms=first.ts_ms).delete()
    body = get(world, path).json()
    assert body["as_of"] is not None
    assert len(body["data"]) == 4
    assert body["data"][0] == {
        "ts": selectors.iso_ms(first.sampled_ms),
        "topic": "t",
        "lag_records": 10,
        "produce_records_per_s": 42.0,
        "consume_records_per_s": 14.0,
        "oldest_unread_expires_in_s": 3540.0,
    }
    assert [row["oldest_unread_expires_in_s"] for row in body["data"][1:]] == [None] * 3
    assert get(world, path, topic="t").json()["data"] == body["data"]


def test_pace_needs_a_group_that_is_there(world, loaded):
    path = f"/clusters/{world.cluster.id}/analytics/pace"
    assert get(world, f"{path}/nobody").status_code == 404
    bad = get(world, f"{path}/g", **{"from": "yesterday"})
    assert (bad.status_code, bad.json()["errors"][0]["pointer"]) == (422, "/from")
    other = client_for(tenant_make("third"), "viewer")
    assert other.get(f"/api/v1{path}/g").status_code == 404


def test_pace_before_any_run_has_nothing_and_no_age(world):
    world.gateway.add_group("g", {})
    body = get(world, f"/clusters/{world.cluster.id}/analytics/pace/g").json()
    assert (body["data"], body["as_of"]) == ([], None)


def test_retention_with_its_groups(world, loaded):
    (topic,) = get(world, f"/clusters/{world.cluster.id}/analytics/retention").json()["data"]
    assert (topic["topic"], topic["bytes"], topic["age_seconds"]) == ("t", 1000, 60.0)
    assert topic["groups"] == [
        {
            "group": "g",
            "oldest_unread_expires_in_s": 3540.0,
            "first_loss_in_s": None,
            "method": "interpolated",
            "lost_records": 0,
            "status": "SAFE",
            "loss_from": None,
            "loss_until": None,
            "source": "spark",
        }
    ]
    history = get(world, f"/clusters/{world.cluster.id}/analytics/retention/t/history").json()
    assert [point["bytes"] for point in history["data"]] == [1000] * 4


def test_before_the_first_run_there_is_an_empty_answer(world):
    world.gateway.add_topic("t")
    for part in ("lag", "retention", "retention/t/history"):
        body = get(world, f"/clusters/{world.cluster.id}/analytics/{part}").json()
        assert body == {"as_of": None, "stale_after": None, "run_id": None, "data": []}
    collector = get(world, f"/clusters/{world.cluster.id}/analytics/collector").json()
    assert (collector["last_sample_at"], collector["samples"]) == (None, 0)


def test_the_collector_says_when_the_first_verdict_is_due(world):
    path = f"/clusters/{world.cluster.id}/analytics/collector"
    assert get(world, path).json()["first_verdict_due_at"] is None
    first = timezone.now()
    CollectorState.objects.create(pk=world.cluster.id, first_sample_at=first)
    due_at = get(world, path).json()["first_verdict_due_at"]
    assert abs(datetime.fromisoformat(due_at) - first - timedelta(seconds=220)).seconds < 1
    run = AnalyticsRun.objects.create(trigger="schedule", from_ts_ms=0, to_ts_ms=1, state=SUCCEEDED)
    assert get(world, path).json()["first_verdict_due_at"] is not None, "too early to judge"
    AnalyticsRun.objects.filter(pk=run.pk).update(created_at=first + timedelta(seconds=221))
    assert get(world, path).json()["first_verdict_due_at"] is None


def test_the_collector_says_how_late_it_is(world):
    CollectorState.objects.create(pk=world.cluster.id, lateness_ms=1200, samples=4, failures=2)
    body = get(world, f"/clusters/{world.cluster.id}/analytics/collector").json()
    assert (body["lateness_ms"], body["samples"], body["failures"]) == (1200, 4, 2)


@pytest.mark.parametrize("part", ["lag", "retention", "retention/t/history", "collector"])
def test_another_tenant_s_cluster_is_not_found(world, loaded, part):
    stranger = client_for(tenant_make("stranger"))
    answer = stranger.get(f"/api/v1/clusters/{world.cluster.id}/analytics/{part}")
    assert answer.status_code == 404


@pytest.mark.parametrize("state", [FAILED, QUEUED, RUNNING])
def test_a_run_says_nothing_that_another_tenants_cluster_said(world, tmp_path, state):
    run = rows.running(tmp_path / "run")
    said = "kc_rival: login as rival-admin at kafka.rival.example:9092 was refused"
    progress = {"ts_ms": 1, "phase": "ingest", "done": 1, "total": 2, "message": "reading kc_rival"}
    AnalyticsRun.objects.filter(pk=run.pk).update(state=state, error=said, progress=progress)
    page = get(world, "/analytics/runs")
    one = get(world, f"/analytics/runs/{run.pk}")
    shown = client_for(world.tenant).get(f"/console/api/pages/analytics/{world.cluster.id}")
    for answer in (page, one, shown):
        assert answer.status_code == 200
        assert run.pk in answer.content.decode()
        assert "rival" not in answer.content.decode()
    assert one.json()["error"] == selectors.RUN_FAILED
    assert one.json()["progress"] == {"ts_ms": 1, "phase": "ingest", "done": 1, "total": 2}


def test_runs_show_the_tenant_s_own_part_only(world, loaded):
    (run,) = get(world, "/analytics/runs").json()["data"]
    assert [cluster["cluster_id"] for cluster in run["clusters"]] == [world.cluster.id]
    assert (run["rows_in"], run["state"]) == (3, "succeeded")
    assert run["clusters"][0]["offsets_end"] == {"0": 3}
    assert run["clusters"][0]["records_skipped"] == 0
    assert run["clusters"][0]["telemetry_recreated"] is False
    assert run["from"] == selectors.iso_ms(loaded.from_ts_ms)


@pytest.mark.parametrize(
    "query", [{"from": "yesterday"}, {"to": "12"}, {"latest": "perhaps"}, {"group": "g" * 300}]
)
def test_a_bad_question_is_named(world, query):
    answer = get(world, f"/clusters/{world.cluster.id}/analytics/lag", **query)
    assert answer.status_code == 422
    assert answer.headers["Content-Type"].startswith("application/problem+json")
    assert next(iter(query)) in answer.content.decode()


def test_a_run_is_started_by_operators_once_at_a_time(world):
    operator = client_for(world.tenant, "operator")
    answer = operator.post("/api/v1/analytics/runs")
    assert answer.status_code == 202
    assert answer.json()["state"] == "queued"
    again = operator.post("/api/v1/analytics/runs")
    assert (again.status_code, again.json()["code"]) == (409, "run-active")
    assert client_for(world.tenant, "viewer").post("/api/v1/analytics/runs").status_code == 403


@pytest.mark.django_db(transaction=True)
def test_asking_for_a_run_wakes_the_supervisor(world):
    client_for(world.tenant, "operator").post("/api/v1/analytics/runs")
    assert [message[0] for message in world.sent] == [TICK]


@pytest.mark.parametrize("role", ["owner", "operator", "viewer"])
def test_a_run_is_every_tenants_and_no_tenants_to_cancel(world, role):
    run = AnalyticsRun.objects.create(trigger="schedule", from_ts_ms=0, to_ts_ms=1)
    answer = client_for(world.tenant, role).post(f"/api/v1/analytics/runs/{run.pk}/cancellation")
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert "operator" in answer.json()["detail"]
    run.refresh_from_db()
    assert not run.cancel_requested


def test_a_platform_operators_key_cancels_no_run(world):
    run = AnalyticsRun.objects.create(trigger="schedule", from_ts_ms=0, to_ts_ms=1)
    _, text = api_key_create(tenant=world.tenant, name="k", scope="write", actor=ACTOR)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    path = f"/api/v1/analytics/runs/{run.pk}/cancellation"
    assert client.post(path).status_code == 403


def test_cancelling(world):
    operator = client_for(world.tenant, "owner", name="staff")
    User.objects.filter(username="staff").update(is_staff=True)
    run_id = operator.post("/api/v1/analytics/runs").json()["id"]
    answer = operator.post(f"/api/v1/analytics/runs/{run_id}/cancellation")
    assert (answer.status_code, answer.json()["cancel_requested"]) == (202, True)
    AnalyticsRun.objects.filter(pk=run_id).update(state=CANCELLED)
    again = operator.post(f"/api/v1/analytics/runs/{run_id}/cancellation")
    assert (again.status_code, again.json()["code"]) == (409, "run-ended")
    assert operator.get("/api/v1/analytics/runs/run_nothing").status_code == 404
