"""Where a reset takes its offsets from: another group and a file name only what the caller sees."""

import json

import pytest

from controlplane.gateway.types import TP, CommittedOffset
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import unseen
from tests.controlplane.rest.test_rival import send

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
