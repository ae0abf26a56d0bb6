"""Refusals say what is in the way: which thing, which user, which name."""

import pytest

from controlplane.analytics.models import AnalyticsRun
from controlplane.gateway.errors import GatewayError
from controlplane.operations.states import QUEUED
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.test_document import component, faults
from tests.controlplane.support import client_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(world):
    client = client_for(world.tenant)
    client.raise_request_exception = False
    return client


def confirm(client, plan):
    body = {"plan_id": plan.id, "plan_hash": plan.plan_hash, "confirm": plan.confirm_phrase}
    return client.post("/api/v1/operations", body, format="json")


def test_a_locked_resource_names_the_operation_that_holds_it(world, owner):
    world.gateway.add_topic("orders")
    plans = [world.plan("topic.partitions", name="orders", partitions=more) for more in (5, 6)]
    first = confirm(owner, plans[0]).json()
    found = problem(confirm(owner, plans[1]), 409)
    assert found["code"] == "operation-in-progress"
    assert found["operation_id"] == first["id"]
    assert f"topic.partitions {first['id']} on topic/orders" in found["detail"]


def test_a_used_plan_names_what_it_started(world, owner):
    plan = world.plan("topic.create", name="new")
    started = confirm(owner, plan).json()
    found = problem(confirm(owner, plan), 409)
    assert plan.id in found["detail"]
    assert started["id"] in found["detail"]


def test_what_grew_since_the_plan_is_said_with_old_and_new_values(world, owner):
    world.gateway.add_topic("fresh")
    plan = world.plan("topic.delete", name="fresh")
    world.gateway.topics["fresh"].partitions[0].log_end = 5_000
    found = problem(confirm(owner, plan), 409)
    assert found["code"] == "blast-radius-changed"
    assert found["changes"][0] == {
        "name": "records",
        "title": "records",
        "planned": 0,
        "planned_at_least": 0,
        "limit": 0,
        "now": 5_000,
        "now_at_least": 5_000,
        "added": [],
        "unknown": [],
    }
    assert faults(component("Problem"), found) == []
    assert "fresh" in world.gateway.topics


def test_a_second_run_names_the_first(world, owner):
    run = AnalyticsRun.objects.create(trigger="manual", from_ts_ms=0, to_ts_ms=1, state=QUEUED)
    found = problem(owner.post("/api/v1/analytics/runs"), 409)
    assert found["run_id"] == run.pk
    assert run.pk in found["detail"]


@pytest.mark.parametrize(
    "path",
    [
        "lag?group=nobody",
        "lag?topic=nothing",
        "lag?group=readers&topic=nothing",
        "retention?topic=nothing",
        "retention/nothing/history",
    ],
)
def test_analytics_of_an_unknown_name_is_not_found(world, owner, ids, path):
    found = problem(owner.get(f"/api/v1/clusters/{ids['cluster']}/analytics/{path}"), 404)
    assert ("nobody" if "nobody" in path else "nothing") in found["detail"]


@pytest.mark.parametrize(
    "path",
    ["lag?group=readers", "lag?topic=orders", "retention?topic=orders", "retention/orders/history"],
)
def test_analytics_of_what_is_not_computed_yet_is_empty(owner, ids, path):
    answer = owner.get(f"/api/v1/clusters/{ids['cluster']}/analytics/{path}")
    assert (answer.status_code, answer.json()["data"]) == (200, [])


@pytest.mark.parametrize("code", ["SASL_AUTHENTICATION_FAILED", "UNSUPPORTED_SASL_MECHANISM"])
def test_a_refused_administrator_is_said_to_be_that(world, owner, ids, code):
    world.gateway.fail_next("list_topics", GatewayError(code, "Authentication failed"))
    found = problem(owner.get(f"/api/v1/clusters/{ids['cluster']}/topics"), 409)
    assert found["code"] == "cluster-authentication-failed"
    assert "authentication" in found["detail"].lower()
    assert found["kafka_error"] == code
