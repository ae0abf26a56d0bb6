"""What the analyses of a new cluster wait for, and until when."""

from datetime import UTC, datetime

import pytest

from controlplane.analytics.insights.readiness import LATE_S, NEEDS, Observed, State, readiness
from controlplane.analytics.models import CollectorState
from spark_analytics.contracts.analyses import FORECAST, HOT, SILENT, UNUSED, USAGE
from spark_analytics.contracts.gold import DAY_S
from tests.controlplane.analytics.rollup_rows import stored
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, tenant_make

DAY_MS, HOUR_MS, MINUTE_MS = DAY_S * 1000, 3_600_000, 60_000
MIDNIGHT_MS = 20_000 * DAY_MS
SINCE_MS = MIDNIGHT_MS + 10 * HOUR_MS + 20 * MINUTE_MS
"""20 past 10."""


def found(now_ms, *, since_ms=SINCE_MS, hours=0, days=0):
    rows = readiness(Observed(now_ms=now_ms, since_ms=since_ms, hours=hours, days=days))
    return {row["analysis"]: row for row in rows}


def test_without_a_sample_nobody_can_say_when():
    for row in found(SINCE_MS, since_ms=None).values():
        assert (row["state"], row["first_at_ms"], row["have"]) == (State.NOT_SAMPLED, None, 0)


def test_the_first_numbers_come_after_the_first_hour_has_ended():
    rows = found(SINCE_MS + MINUTE_MS)
    assert {row["state"] for row in rows.values()} == {State.COLLECTING}
    at_11_05 = MIDNIGHT_MS + 11 * HOUR_MS + 5 * MINUTE_MS
    assert rows[USAGE.id]["first_at_ms"] == at_11_05
    assert rows[HOT.id]["first_at_ms"] == at_11_05 + (NEEDS[HOT.id].count - 1) * HOUR_MS
    # Days end at midnight, and are added up a quarter of an hour later.
    third = MIDNIGHT_MS + 3 * DAY_MS + 15 * MINUTE_MS
    assert rows[FORECAST.id]["first_at_ms"] == third
    assert rows[FORECAST.id]["unit"] == "days"


def test_what_has_enough_is_ready_and_the_others_say_how_much_they_have():
    rows = found(SINCE_MS + 3 * HOUR_MS, hours=3)
    assert rows[USAGE.id] == {
        "analysis": USAGE.id, "unit": "hours", "needed": 1, "have": 1,
        "state": State.READY, "first_at_ms": None,
    }  # fmt: skip
    assert rows[HOT.id]["state"] == State.READY
    silent = rows[SILENT.id]
    assert (silent["have"], silent["needed"], silent["state"]) == (3, 73, State.COLLECTING)
    # At 13:20 the hour from 13:00 on is the next one: 70 lack.
    at_14_05 = MIDNIGHT_MS + 14 * HOUR_MS + 5 * MINUTE_MS
    assert silent["first_at_ms"] == at_14_05 + 69 * HOUR_MS


def test_everything_is_ready_one_day():
    rows = found(SINCE_MS + 30 * DAY_MS, hours=24 * 30, days=30)
    assert {row["state"] for row in rows.values()} == {State.READY}
    assert rows[UNUSED.id]["have"] == rows[UNUSED.id]["needed"]


@pytest.mark.parametrize(
    ("after_ms", "state"),
    [
        (-1, State.COLLECTING),
        (0, State.COMPUTING),
        (LATE_S * 1000 - 1, State.COMPUTING),
        (LATE_S * 1000, State.LATE),
    ],
)
def test_numbers_that_were_due_are_computed_and_then_late(after_ms, state):
    due_ms = MIDNIGHT_MS + 11 * HOUR_MS + 5 * MINUTE_MS
    assert found(due_ms + after_ms)[USAGE.id]["state"] == state


# -- as REST has it ---------------------------------------------------------------------------
def ask(client, cluster):
    return client.get(f"/api/v1/clusters/{cluster.id}/analytics/readiness")


def test_a_cluster_says_since_when_it_is_observed(world):
    body = ask(client_for(world.tenant, "viewer"), world.cluster).json()
    assert (body["observed_since"], body["hours"], body["cluster"]) == (None, 0, "main")
    assert {row["state"] for row in body["data"]} == {"not_sampled"}
    CollectorState.objects.create(
        cluster_id=world.cluster.id, first_sample_at=datetime(2026, 1, 2, 10, 20, tzinfo=UTC)
    )
    body = ask(client_for(world.tenant), world.cluster).json()
    assert body["observed_since"] == "2026-01-02T10:20:00.000Z"
    assert {row["state"] for row in body["data"]} == {"late"}
    stored("cluster_rollup", world.cluster.id, 0)
    stored("cluster_rollup", world.cluster.id, 0, period_s=DAY_S)
    body = ask(client_for(world.tenant), world.cluster).json()
    assert (body["hours"], body["days"]) == (1, 1)
    # Hours from before the collector's row was made anew count from their own time.
    assert body["observed_since"].startswith("2025-10-")
    states = {row["analysis"]: row["state"] for row in body["data"]}
    assert (states["usage"], states["silent-producers"]) == ("ready", "collecting")


def test_of_a_tenant_each_cluster_that_is_seen(world):
    other = cluster_make(world.tenant, name="other")
    cluster_make(tenant_make("rival"), name="theirs")
    client = client_for(world.tenant)
    body = client.get("/api/v1/analytics/readiness").json()
    assert [row["cluster_id"] for row in body["data"]] == [world.cluster.id, other.id]
    assert body["complete"]
    narrow = member_of(world.tenant)
    seen = narrow.get("/api/v1/analytics/readiness").json()["data"]
    assert [row["cluster"] for row in seen] == ["main"]
    assert ask(narrow, other).status_code == 404
    assert ask(client_for(tenant_make("rival")), world.cluster).status_code == 404
