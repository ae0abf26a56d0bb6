"""Colleagues who act at the same time, and what one learns of the other on the way.

Where two have to be at one place at once, the second acts from within a call that the first makes:
so the order is the same on every machine.
"""

import pytest
from django.utils import timezone

from controlplane.gateway.types import TP
from controlplane.operations import services
from controlplane.operations.models import Operation, OperationLock, Plan
from controlplane.operations.services import HIDDEN_HOLDER
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import key_of, unseen
from tests.controlplane.support import client_for, drive

pytestmark = pytest.mark.django_db
API = "/api/v1"


def planned(client, world, kind, **inputs):
    body = {"kind": kind, "cluster_id": world.cluster.id, "inputs": inputs}
    answer = client.post(f"{API}/plans", body, format="json")
    assert answer.status_code == 201, answer.content
    return answer.json()


def confirmed(client, plan, **headers):
    body = {
        "plan_id": plan["id"],
        "plan_hash": plan["plan_hash"],
        "confirm": plan["confirm_phrase"] or "",
    }
    return client.post(f"{API}/operations", body, format="json", headers=headers)


def driven(answer):
    assert answer.status_code == 202, answer.content
    return drive(Operation.objects.get(pk=answer.json()["id"]))


@pytest.fixture
def owner(world):
    client = client_for(world.tenant)
    client.raise_request_exception = False
    return client


@pytest.fixture
def between(monkeypatch):
    """Has something done once, after a plan was found fresh and before it takes its locks."""

    def arrange(act):
        found_fresh = services.check_fresh

        def first_then_act(*args):
            found_fresh(*args)
            monkeypatch.setattr(services, "check_fresh", found_fresh)
            act()

        monkeypatch.setattr(services, "check_fresh", first_then_act)

    return arrange


# -- who is in the way ---------------------------------------------------------------------------
HOLDERS = [
    ("offset.reset", {"group": "secret-readers", "strategy": "earliest"}),
    (
        "reassignment",
        {
            "moves": [
                {"topic": "secret-orders", "partition": 0, "replicas": [3]},
                {"topic": "team-a-x", "partition": 0, "replicas": [3]},
            ]
        },
    ),
]


@pytest.mark.parametrize(("kind", "inputs"), HOLDERS)
def test_what_is_in_the_way_is_named_to_who_sees_it(world, owner, kind, inputs):
    world.gateway.add_topic("team-a-x", partitions=1, records=100)
    world.gateway.add_topic("secret-orders", partitions=1)
    world.gateway.add_group("secret-readers", {TP("team-a-x", 0): 7})
    team = key_of(world.tenant)
    mine = planned(team, world, "topic.partitions", name="team-a-x", partitions=3)
    theirs = planned(owner, world, "topic.partitions", name="team-a-x", partitions=4)
    held = confirmed(owner, planned(owner, world, kind, **inputs)).json()

    refused = confirmed(team, mine)
    found = problem(refused, 409)
    assert (found["code"], found["operation_id"]) == ("operation-in-progress", None)
    assert found["detail"].startswith(HIDDEN_HOLDER)
    assert found["lock"]["name"] == "team-a-x", "what one asked for oneself"
    assert unseen(refused.content.decode()) == []
    assert held["id"] not in refused.content.decode()
    assert unseen(team.get(f"{API}/audit-events").content.decode()) == []

    named = problem(confirmed(owner, theirs), 409)
    assert named["operation_id"] == held["id"]
    assert held["id"] in named["detail"]


# -- two who confirm -----------------------------------------------------------------------------
def test_a_plan_is_confirmed_once_though_both_found_it_fresh(world, owner, between):
    world.gateway.add_topic("orders", partitions=1)
    plan = planned(owner, world, "topic.partitions", name="orders", partitions=3)
    first = []
    between(lambda: first.append(confirmed(owner, plan)))
    second = problem(confirmed(owner, plan), 409)
    assert first[0].status_code == 202
    assert second["code"] == "plan-used"
    assert Operation.objects.count() == 1


@pytest.mark.parametrize("state", ["stale", "expired"])
def test_a_plan_that_another_one_closed_meanwhile_is_not_said_to_be_used(
    world, owner, between, state
):
    world.gateway.add_topic("orders", partitions=1)
    plan = planned(owner, world, "topic.partitions", name="orders", partitions=3)
    between(lambda: Plan.objects.update(state=state))
    refused = confirmed(owner, plan)
    assert problem(refused, refused.status_code)["code"] == f"plan-{state}"
    assert not Operation.objects.exists()


CHANGES = [
    (
        "topic.update",
        {"name": "orders", "configs": {"retention.ms": "1000000"}},
        {"name": "orders", "configs": {"retention.ms": "2000000"}},
    ),
    (
        "topic.partitions",
        {"name": "orders", "partitions": 3},
        {"name": "orders", "partitions": 5},
    ),
    (
        "quota.set",
        {"user": "app", "quotas": {"producer_byte_rate": 1_000_000}},
        {"user": "app", "quotas": {"producer_byte_rate": 2_000_000}},
    ),
    (
        "offset.reset",
        {"group": "readers", "strategy": "earliest"},
        {"group": "readers", "strategy": "latest"},
    ),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change[0])
def test_of_two_plans_over_one_thing_the_later_one_does_not_undo_the_first_unseen(
    world, owner, between, change
):
    """The first runs to its end between the other's look at the world and its locks."""
    world.gateway.add_topic("orders", partitions=1, records=100)
    world.gateway.add_group("readers", {TP("orders", 0): 7})
    kind, *both = change
    plans_of = [planned(owner, world, kind, **inputs) for inputs in both]
    ended = []
    between(lambda: ended.append(driven(confirmed(owner, plans_of[0]))))
    refused = problem(confirmed(owner, plans_of[1]), 409)
    assert [each.state for each in ended] == ["succeeded"]
    assert refused["code"] == "plan-stale"
    assert Operation.objects.count() == 1
    assert not OperationLock.objects.exists()


def test_what_ended_elsewhere_meanwhile_refuses_nothing(world, owner, between):
    world.gateway.add_topic("orders", partitions=1)
    world.gateway.add_topic("other", partitions=1)
    here = planned(owner, world, "topic.partitions", name="orders", partitions=3)
    there = planned(owner, world, "topic.partitions", name="other", partitions=3)
    between(lambda: driven(confirmed(owner, there)))
    assert driven(confirmed(owner, here)).state == "succeeded"


def test_a_plan_counts_when_its_confirmation_comes_not_when_its_look_ends(world, owner, between):
    """It was just found fresh: that brokers were slow makes it no older."""
    world.gateway.add_topic("orders", partitions=1)
    plan = planned(owner, world, "topic.partitions", name="orders", partitions=3)
    between(lambda: Plan.objects.update(expires_at=timezone.now()))
    assert driven(confirmed(owner, plan)).state == "succeeded"
    late = planned(owner, world, "topic.partitions", name="orders", partitions=4)
    Plan.objects.filter(pk=late["id"]).update(expires_at=timezone.now())
    assert problem(confirmed(owner, late), 410)["code"] == "plan-expired"
    assert Operation.objects.count() == 1


# -- cancelled and undone ------------------------------------------------------------------------
def test_what_is_cancelled_before_its_first_step_changes_nothing(world, owner):
    world.gateway.add_topic("orders", partitions=1)
    world.gateway.add_group("readers", {TP("orders", 0): 7})
    plan = planned(owner, world, "reassignment", topics=["orders"], target_brokers=[2, 3, 4])
    before = [part.replicas for part in world.gateway.topics["orders"].partitions]
    started = confirmed(owner, plan).json()
    where = f"{API}/operations/{started['id']}"
    for _ in range(2):
        assert owner.post(f"{where}/cancellation", {}, format="json").status_code == 202
    assert drive(Operation.objects.get(pk=started["id"])).state == "cancelled"
    assert [part.replicas for part in world.gateway.topics["orders"].partitions] == before
    assert problem(owner.post(f"{where}/cancellation", {}, format="json"), 409)["code"]
    assert problem(confirmed(owner, plan), 409)["code"] == "plan-used"


def test_of_two_undo_plans_of_one_operation_one_is_carried_out(world, owner, between):
    world.gateway.add_topic("orders", partitions=1)
    configs = {"retention.ms": "1000000"}
    done = driven(
        confirmed(owner, planned(owner, world, "topic.update", name="orders", configs=configs))
    )
    where = f"{API}/operations/{done.id}/undo-plan"
    undos = [owner.post(where, {}, format="json").json() for _ in range(3)]
    between(lambda: driven(confirmed(owner, undos[0])))
    for undo in undos[1:]:
        assert problem(confirmed(owner, undo), 409)["code"] == "plan-stale"
    done.refresh_from_db()
    assert done.state == "reverted"
    assert Operation.objects.count() == 2
    assert problem(owner.post(where, {}, format="json"), 409)["code"] == "not-revertible"


# -- the same key --------------------------------------------------------------------------------
def test_a_key_that_is_sent_again_with_another_body_does_nothing(world, owner):
    world.gateway.add_topic("orders", partitions=1)
    plans_of = [
        planned(owner, world, "topic.partitions", name="orders", partitions=many) for many in (3, 5)
    ]
    assert confirmed(owner, plans_of[0], idempotency_key="k").status_code == 202
    again = confirmed(owner, plans_of[1], idempotency_key="k")
    assert problem(again, 422)["code"] == "idempotency-key-reused"
    other = key_of(world.tenant)
    assert problem(confirmed(other, plans_of[1], idempotency_key="k"), 404), "a key is one's own"
    assert Operation.objects.count() == 1
