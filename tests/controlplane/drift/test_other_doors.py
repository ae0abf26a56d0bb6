"""The doors of topics and of access say since when and by whom, as the cluster's drift does."""

import pytest
from django.utils import timezone

from controlplane.clusters.models import Broker
from controlplane.clusters.questions import Answered
from controlplane.common.grants import Grant, Match, Over, Pattern
from controlplane.drift.models import DriftLook, DriftSighting
from controlplane.drift.selectors import FOR_WHOLE, NOT_YET
from controlplane.drift.services import look
from controlplane.operations.models import Operation
from controlplane.operations.states import SUCCEEDED
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, drive, observed, tenant_make

KEY = "retention.ms"
MECHANISM = "SCRAM-SHA-512"
SINCE = ("equal_at", "seen_at", "changed_at", "who")


@pytest.fixture
def ours(world):
    """A managed cluster with a broker whose audit log is asked for, a topic and a user."""
    Broker.objects.create(
        cluster=world.cluster, broker_id=1, host_id="host-1", address="127.0.0.1",
        client_port=9092, internal_port=9093,
    )  # fmt: skip
    for kind, inputs in (
        ("topic.create", {"name": "orders", "partitions": 1, "configs": {KEY: "86400000"}}),
        ("user.create", {"username": "app", "mechanism": MECHANISM}),
    ):
        made = world.run(kind, **inputs)
        assert made.state == SUCCEEDED, made.error
    seen(world)
    return world


def seen(world):
    observed(world)
    DriftLook.objects.get_or_create(cluster=world.cluster)
    assert look(world.cluster.pk)


def log_says(world, **more):
    line = {
        "at_ms": int(timezone.now().timestamp() * 1_000),
        "principal": "User:eve",
        "host": "10.1.2.3",
        "detail": "",
        **more,
    }
    body = {"changes": [line], "since_ms": 1, "is_whole": True, "left_out": 0}
    world.hosts.answers = lambda _question: Answered(body, at_ms=1)


def of_topic(world):
    world.gateway.alter_topic_configs("orders", {KEY: "1000"})
    log_says(world, operation="ALTER_CONFIGS", resource="Topic:orders", detail=KEY)


def of_user(world):
    world.gateway.delete_user("app", MECHANISM)
    log_says(world, operation="DELETE_CREDENTIAL", resource="User:app")


def asked(world, path, client=None):
    client = client or client_for(world.tenant)
    answer = client.get(f"/api/v1/clusters/{world.cluster.id}/{path}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def page(world, path, part, client=None):
    client = client or client_for(world.tenant)
    answer = client.get(f"/console/api/pages/{path.format(world.cluster.id)}").json()
    assert answer["parts"][part]["status"] == "ok", answer
    return answer["parts"][part]["data"]


def topic_doors(world, client=None):
    """The one difference, by each door that shows it."""
    return [
        asked(world, "topics", client)["data"][0]["drift"],
        asked(world, "topics/orders", client)["drift"],
        page(world, "topics/{}", "topics", client)[0]["drift"],
        page(world, "topic/{}/orders", "topic", client)["drift"],
    ]


def access_doors(world):
    return [
        asked(world, "access/drift")["data"],
        page(world, "access/{}", "drift")["data"],
    ]


@pytest.mark.parametrize(
    ("change", "doors", "area"), [(of_topic, topic_doors, "topic"), (of_user, access_doors, "user")]
)
def test_every_door_says_when_and_who_as_the_cluster_s_drift_does(ours, change, doors, area):
    change(ours)
    seen(ours)
    (row,) = [row for row in asked(ours, "drift")["data"] if row["area"] == area]
    assert row["equal_at"] < row["seen_at"]
    assert (row["who"]["by"], row["who"]["actor"], row["who"]["host"]) == (
        "principal",
        "User:eve",
        "10.1.2.3",
    )
    for found in doors(ours):
        (one,) = found
        assert {key: one[key] for key in SINCE} == {key: row[key] for key in SINCE}


@pytest.mark.parametrize(("change", "doors"), [(of_topic, topic_doors), (of_user, access_doors)])
def test_before_anybody_has_looked_it_is_unknown_and_says_so(ours, change, doors):
    change(ours)
    observed(ours)
    for found in doors(ours):
        (one,) = found
        assert (one["who"]["by"], one["who"]["unread_code"]) == ("unknown", NOT_YET)
        assert one["equal_at"] is not None, "when the operation that left it had ended"


def test_an_operation_that_did_not_succeed_is_named(ours):
    operation = ours.start(ours.plan("topic.update", name="orders", configs={KEY: "1000"}))
    ours.gateway.alter_topic_configs("orders", {KEY: "1000"})
    Operation.objects.filter(pk=operation.pk).update(state="failed", finished_at=timezone.now())
    seen(ours)
    for found in topic_doors(ours):
        (one,) = found
        assert (one["who"]["by"], one["who"]["operation_id"]) == ("operation", operation.id)


def test_a_reader_of_a_part_is_named_the_operations_that_they_see(ours):
    operation = ours.start(ours.plan("topic.update", name="orders", configs={KEY: "1000"}))
    ours.gateway.alter_topic_configs("orders", {KEY: "1000"})
    Operation.objects.filter(pk=operation.pk).update(state="failed", finished_at=timezone.now())
    seen(ours)
    grant = Grant(role="viewer", over=Over.TOPIC, names=Pattern(Match.LITERAL, "orders"))
    ann = member_of(ours.tenant, [grant], "ann")
    for found in topic_doors(ours, ann):
        (one,) = found
        assert (one["who"]["by"], one["who"]["operation_id"]) == ("operation", operation.id)
        for each in (operation.id, one["operation_id"]):
            assert ann.get(f"/api/v1/operations/{each}").status_code == 200


def test_of_what_an_operation_may_be_about_to_change_nothing_is_claimed(ours):
    ours.gateway.alter_topic_configs("orders", {KEY: "1000"})
    ours.gateway.delete_user("app", MECHANISM)
    observed(ours)
    update = ours.start(ours.plan("topic.update", name="orders", configs={KEY: "2000"}))
    made = ours.start(ours.plan("user.create", username="app", mechanism=MECHANISM))
    assert topic_doors(ours) == [[], [], [], []]
    in_trouble = client_for(ours.tenant).get(
        f"/console/api/pages/topics/{ours.cluster.id}?trouble=true"
    )
    assert in_trouble.json()["parts"]["topics"]["data"] == []
    assert access_doors(ours) == [[], []]
    assert asked(ours, "access/drift")["under_way"] == [made.id]
    assert page(ours, "access/{}", "drift")["under_way"] == [made.id]
    drive(update)
    drive(made)
    observed(ours)
    assert topic_doors(ours) == [[], [], [], []]
    assert asked(ours, "access/drift") | {"users": None, "acls": None} == {
        "data": [],
        "under_way": [],
        "users": None,
        "acls": None,
    }


def test_a_reader_of_a_part_is_told_when_and_no_principal(ours):
    of_topic(ours)
    seen(ours)
    grant = Grant(role="viewer", over=Over.TOPIC, names=Pattern(Match.LITERAL, "orders"))
    ann = member_of(ours.tenant, [grant], "ann")
    for found in topic_doors(ours, ann):
        (one,) = found
        assert one["equal_at"] is not None
        assert (one["who"]["by"], one["who"]["text"]) == ("unknown", FOR_WHOLE)
        assert "eve" not in str(one)
        assert "10.1.2.3" not in str(one)
    path = f"/api/v1/clusters/{ours.cluster.id}/access/drift"
    assert ann.get(path).status_code == 403


def test_another_tenant_finds_none_of_it(ours):
    stranger = client_for(tenant_make("strangers"))
    for path in ("topics", "topics/orders", "access/drift"):
        answer = stranger.get(f"/api/v1/clusters/{ours.cluster.id}/{path}")
        assert answer.status_code == 404


def test_another_cluster_s_sightings_are_not_taken(ours):
    of_topic(ours)
    seen(ours)
    other = tenant_make("strangers")
    DriftSighting.objects.update(cluster=cluster_make(other, "theirs"))
    (one,) = asked(ours, "topics/orders")["drift"]
    assert one["who"]["unread_code"] == NOT_YET
    assert one["who"]["unread"] == "Nobody has looked into it yet."


def test_a_list_is_read_again_as_soon_as_somebody_knows_who(ours):
    """Not answered with "not modified" by what was said before."""
    of_topic(ours)
    observed(ours)
    client, path = client_for(ours.tenant), f"/console/api/pages/topics/{ours.cluster.id}"
    before = client.get(path)
    assert client.get(path, HTTP_IF_NONE_MATCH=before["ETag"]).status_code == 304
    assert look(ours.cluster.pk)
    again = client.get(path, HTTP_IF_NONE_MATCH=before["ETag"])
    assert again.status_code == 200
    (one,) = again.json()["parts"]["topics"]["data"][0]["drift"]
    assert one["who"]["actor"] == "User:eve"
