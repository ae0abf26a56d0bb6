"""Where a reset takes its offsets from: another group and a file name only what the caller sees."""

import json

import pytest

from controlplane.gateway.types import TP, CommittedOffset
from controlplane.operations.models import Operation
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import key_of, unseen
from tests.controlplane.rest.test_rival import send
from tests.controlplane.support import drive

pytestmark = pytest.mark.django_db


def planned(client, world, **inputs):
    body = {
        "kind": "offset.reset",
        "cluster_id": world.cluster.id,
        "inputs": {"group": "team-a-g", **inputs},
    }
    return send(client, "post", "/api/v1/plans", body)


def test_a_group_that_is_not_seen_is_copied_as_little_as_one_that_is_not_there(
    world, teams, narrow
):
    """Refused by name alone, so that nobody learns which."""
    world.gateway.committed["secret-readers"][TP("team-a-x", 0)] = CommittedOffset(offset=7)
    for client in narrow.values():
        refusals = [
            problem(
                planned(client, world, strategy="copy", from_group=name, topics=["team-a-x"]), 403
            )
            for name in ("secret-readers", "nobody-at-all")
        ]
        assert refusals[0]["detail"] == refusals[1]["detail"]
        assert refusals[0]["detail"] == "This needs the role viewer on the group."


def test_a_group_that_is_seen_is_copied(world, teams, narrow):
    world.gateway.add_group("team-a-other", {TP("team-a-x", 0): 7})
    for client in narrow.values():
        answer = planned(
            client, world, strategy="copy", from_group="team-a-other", topics=["team-a-x"]
        )
        assert answer.status_code == 201
        assert answer.json()["diff"]["partitions"][0]["to"] == 7


def test_a_file_that_names_a_topic_that_is_not_seen_is_refused(world, teams, narrow):
    for client in narrow.values():
        for topic in ("secret-orders", "nothing-like-it"):
            answer = planned(client, world, strategy="file", file=f"{topic},0,1")
            assert answer.status_code in {403, 422}
            text = json.dumps(answer.json()).replace(topic, "X")
            assert unseen(text) == []


# -- what the brokers say of topics that are not seen --------------------------------------------
STRATEGIES = [
    {"strategy": "earliest"},
    {"strategy": "latest"},
    {"strategy": "shift", "value": 0},
    {"strategy": "copy", "from_group": "team-a-other"},
]


@pytest.mark.parametrize("asked", STRATEGIES)
@pytest.mark.parametrize("trouble", ["none", "no leader", "gone"])
def test_no_trouble_of_a_topic_that_is_not_seen_is_told_before_the_refusal(
    world, teams, narrow, asked, trouble
):
    """Where a group stands may be in a topic that its owner does not see."""
    gateway = world.gateway
    gateway.add_group("team-a-other", {TP("secret-orders", 0): 1, TP("team-a-x", 0): 1})
    if trouble == "no leader":
        for part in gateway.topics["secret-orders"].partitions:
            part.replicas = (77,)
    if trouble == "gone":
        del gateway.topics["secret-orders"].partitions[0]
    for client in narrow.values():
        answer = planned(client, world, **asked)
        assert unseen(answer.content.decode()) == []
        assert problem(answer, 403)["detail"] == (
            "This needs the role viewer on every topic that this is about."
        )


def test_where_a_group_stands_since_its_plan_is_told_by_number_alone(world):
    world.gateway.add_topic("team-a-x", partitions=1, records=100)
    world.gateway.add_topic("secret-orders", partitions=1, records=100)
    world.gateway.add_group("team-a-idle", {TP("team-a-x", 0): 7})
    team = key_of(world.tenant)
    body = {
        "kind": "group.delete",
        "cluster_id": world.cluster.id,
        "inputs": {"group": "team-a-idle"},
    }
    plan = team.post("/api/v1/plans", body, format="json").json()
    body = {
        "plan_id": plan["id"],
        "plan_hash": plan["plan_hash"],
        "confirm": plan["confirm_phrase"] or "",
    }
    started = team.post("/api/v1/operations", body, format="json").json()
    world.gateway.committed["team-a-idle"][TP("secret-orders", 0)] = CommittedOffset(offset=7)
    assert drive(Operation.objects.get(pk=started["id"])).state == "failed"
    shown = team.get(f"/api/v1/operations/{started['id']}")
    assert shown.json()["error"]["code"] == "plan-stale"
    assert "1 partition of which the plan says nothing" in shown.json()["error"]["detail"]
    for path in (f"operations/{started['id']}", "audit-events", "timeline"):
        assert unseen(team.get(f"/api/v1/{path}").content.decode()) == [], path
