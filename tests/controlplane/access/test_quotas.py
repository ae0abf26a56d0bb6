"""Quotas of users and client ids: planned from before to after, verified on every broker, undone."""

import pytest

from controlplane.access.decisions.quotas import after_change, change_warnings, whom
from controlplane.access.selectors import SERVICE_USERS
from controlplane.clusters.models import REGISTERED
from controlplane.common.problems import Conflict, Problem
from controlplane.gateway.errors import GatewayError, unreachable
from controlplane.operations.services import undo_plan_create
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import ACTOR, client_for, drive

APP = (("user", "app"),)
MIB = 1_048_576


def ask(world, client=None):
    client = client or client_for(world.tenant, "viewer")
    return client.get(f"/api/v1/clusters/{world.cluster.id}/quotas")


def codes(plan):
    return [row["code"] for row in plan.impact["warnings"]]


def test_a_quota_is_set_verified_and_undone(world):
    plan = world.plan("quota.set", user="app", quotas={"producer_byte_rate": MIB})
    assert plan.diff["before"]["producer_byte_rate"] is None
    assert plan.diff["after"]["producer_byte_rate"] == MIB
    assert codes(plan)[:2] == ["per-broker", "throttles"]
    operation = drive(world.start(plan))
    assert operation.state == "succeeded"
    assert world.gateway.quotas == {APP: {"producer_byte_rate": MIB}}
    undo = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    assert undo.diff["after"]["producer_byte_rate"] is None
    assert drive(world.start(undo)).state == "succeeded"
    assert world.gateway.quotas == {}


def test_a_change_leaves_what_it_does_not_name_and_takes_away_what_is_null(world):
    world.gateway.quotas[APP] = {"producer_byte_rate": MIB, "request_percentage": 50.0}
    plan = world.plan(
        "quota.set", user="app", quotas={"producer_byte_rate": None, "consumer_byte_rate": 5 * MIB}
    )
    assert "lifted" in codes(plan)
    assert drive(world.start(plan)).state == "succeeded"
    assert world.gateway.quotas == {APP: {"consumer_byte_rate": 5 * MIB, "request_percentage": 50}}


@pytest.mark.parametrize(
    ("inputs", "entity", "words"),
    [
        ({"client_id": "etl"}, (("client-id", "etl"),), "client id etl"),
        (
            {"user": "app", "client_id": "etl"},
            (("user", "app"), ("client-id", "etl")),
            "client id etl of user app",
        ),
        ({"user": None}, (("user", None),), "every user"),
        (
            {"user": "app", "client_id": None},
            (("user", "app"), ("client-id", None)),
            "every client id of user app",
        ),
        ({"client_id": None}, (("client-id", None),), "every client id"),
    ],
)
def test_of_whom_it_is(world, inputs, entity, words):
    operation = world.run("quota.set", **inputs, quotas={"request_percentage": 12.5})
    assert operation.state == "succeeded"
    own = {(("user", name),): {"request_percentage": 100_000.0} for name in SERVICE_USERS}
    hits_service = "user" not in inputs or inputs["user"] is None
    assert world.gateway.quotas == {
        entity: {"request_percentage": 12.5},
        **(own if hits_service else {}),
    }
    assert whom(inputs).words == words
    rows = [row["words"] for row in ask(world).json()["data"] if not row["managed"]]
    assert rows == [words]


@pytest.mark.parametrize("inputs", [{"user": None}, {"client_id": "penstock"}, {"client_id": None}])
def test_a_quota_of_everybody_leaves_the_service_free_to_take_it_back(world, inputs):
    """Else a tenant could choke what watches over its cluster, and the undo with it."""
    chokes = {
        "producer_byte_rate": 1,
        "consumer_byte_rate": 1,
        "request_percentage": 0.01,
        "controller_mutation_rate": 0.01,
    }
    plan = world.plan("quota.set", **inputs, quotas=chokes)
    assert "service-kept-out" in codes(plan)
    altered = []
    alter = world.gateway.alter_quotas
    world.gateway.alter_quotas = lambda entity, changes: (
        altered.append(entity),
        alter(entity, changes),
    )
    operation = drive(world.start(plan))
    assert operation.state == "succeeded"
    own = [(("user", name),) for name in sorted(SERVICE_USERS)]
    assert altered[: len(own)] == own  # before the others' holds
    for entity in own:
        kept = world.gateway.quotas[entity]
        assert set(kept) == set(chokes)
        assert all(kept[key] > 1_000 * value for key, value in chokes.items())
    undo = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(world.start(undo)).state == "succeeded"
    assert list(world.gateway.quotas) == own


def test_a_quota_of_everybody_warns_where_the_brokers_are_not_ours(world):
    world.cluster.kind = REGISTERED
    world.cluster.save()
    plan = world.plan("quota.set", user=None, quotas={"producer_byte_rate": MIB})
    assert "bounds-service" in codes(plan)
    named = world.plan("quota.set", user="app", quotas={"producer_byte_rate": MIB})
    assert not {"bounds-service", "service-kept-out"} & {*codes(named)}


def test_a_broker_that_lags_is_waited_for(world):
    plan = world.plan("quota.set", user="app", quotas={"producer_byte_rate": MIB})
    world.gateway.hold_back(2)
    operation = world.start(plan)
    drive(operation, ticks=4)
    assert operation.state not in {"succeeded", "failed"}
    world.gateway.catch_up(2)
    assert drive(operation).state == "succeeded"


def test_what_is_so_already_needs_no_plan(world):
    world.gateway.quotas[APP] = {"producer_byte_rate": MIB}
    with pytest.raises(Conflict, match="are so already"):
        world.plan("quota.set", user="app", quotas={"producer_byte_rate": MIB})


def test_the_services_own_users_are_out_of_reach(world):
    with pytest.raises(Conflict, match="service's own"):
        world.plan("quota.set", user="penstock-admin", quotas={"producer_byte_rate": 1})


@pytest.mark.parametrize(
    ("inputs", "pointer"),
    [
        ({"quotas": {"producer_byte_rate": 1}}, "/inputs/user"),
        ({"user": "app", "quotas": {}}, "/inputs/quotas"),
        ({"user": "app", "quotas": {"producer_byte_rate": 0}}, "/inputs/quotas/producer_byte_rate"),
        (
            {"user": "app", "quotas": {"request_percentage": -1}},
            "/inputs/quotas/request_percentage",
        ),
        ({"user": "app", "quotas": {"shoe_size": 1}}, "/inputs/quotas/shoe_size"),
        ({"user": "", "quotas": {"producer_byte_rate": 1}}, "/inputs/user"),
    ],
)
def test_what_makes_no_sense_is_refused_at_its_field(world, inputs, pointer):
    with pytest.raises(Problem) as caught:
        world.plan("quota.set", **inputs)
    assert caught.value.errors[0]["pointer"].startswith(pointer)


def test_a_low_quota_is_warned_of():
    assert [row["code"] for row in change_warnings({}, {"producer_byte_rate": 100.0})] == [
        "per-broker",
        "throttles",
        "very-low",
    ]
    assert after_change({"a": 1.0}, {"a": None}) == {}


def test_the_list_shows_addresses_and_marks_what_is_not_to_be_changed(world):
    world.gateway.quotas[(("ip", "10.0.0.9"),)] = {"connection_creation_rate": 5.0}
    world.gateway.quotas[(("user", "penstock-admin"),)] = {"producer_byte_rate": MIB}
    world.gateway.quotas[APP] = {"producer_byte_rate": MIB}
    found = {row["words"]: row["managed"] for row in ask(world).json()["data"]}
    assert found == {"address 10.0.0.9": True, "user app": False, "user penstock-admin": True}


def test_quotas_that_cannot_be_read_are_not_empty(world):
    world.gateway.fail_next("list_quotas", unreachable("main does not answer"))
    problem(ask(world), 503)
    world.gateway.fail_next("list_quotas", GatewayError("CLUSTER_AUTHORIZATION_FAILED", "refused"))
    problem(ask(world), 409)


def test_who_sees_a_part_of_the_cluster_sees_no_quotas(world):
    problem(ask(world, member_of(world.tenant)), 403)
