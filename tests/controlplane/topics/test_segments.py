"""A partition's segments over REST: with the topic, by broker and page, and what is unknown."""

import pytest

from controlplane.clusters.models import Broker
from controlplane.clusters.questions import SILENT, Answered, silent
from controlplane.common.grants import Grant, Match, Over, Pattern
from controlplane.common.times import iso_of_ms
from tests.controlplane.rest.surface import problem
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, observed, tenant_make

pytestmark = pytest.mark.django_db
HEARD_AT_MS = 1_767_225_600_000


@pytest.fixture
def placed(world):
    world.gateway.add_topic("orders", partitions=1, rf=2, records=50)
    world.gateway.add_topic("secret-orders", partitions=1, rf=2, records=50)
    for number in (1, 2, 3, 4):
        Broker.objects.create(
            cluster=world.cluster, broker_id=number, host_id=f"host-{number}", address="127.0.0.1",
            client_port=9092, internal_port=9093,
        )  # fmt: skip
    observed(world)
    return world


def segments(world, query="", *, client=None, cluster=None, topic="orders", partition=0):
    cluster = cluster or world.cluster
    address = f"/api/v1/clusters/{cluster.id}/topics/{topic}/partitions/{partition}/segments{query}"
    return (client or client_for(world.tenant)).get(address)


def held(world):
    return world.gateway.topics["orders"].partitions[0].replicas


def directory(*bases, role="current", following=None):
    return {
        "directory": "data",
        "role": role,
        "segments": [
            {"base_offset": base, "size_bytes": 5, "modified_ms": 7} for base in bases
        ],
        "total": 9,
        "total_bytes": 45,
        "other_bytes": 1,
        "next": following,
    }  # fmt: skip


def says(world, *directories):
    world.hosts.answers = lambda _: Answered({"directories": list(directories)}, at_ms=30)


def test_the_leader_is_asked_unless_another_replica_is_named(placed):
    says(placed, directory(20, 10, following=10))
    leader, follower = held(placed)[:2]
    found = segments(placed, "?page_size=2").json()
    assert found["broker"] == leader
    assert [row["base_offset"] for row in found["data"]] == [20, 10]
    assert found["directories"] == [
        {"directory": "data", "role": "current", "total": 9, "total_bytes": 45, "other_bytes": 1}
    ]
    assert segments(placed, f"?broker={follower}").json()["broker"] == follower
    segments(placed, f"?page_size=2&cursor={found['page']['next']}")
    assert [(each.broker[0], each.args["segments"], each.args["before"])
            for each in placed.hosts.asked] == [
        (f"host-{leader}", 2, None), (f"host-{follower}", 50, None), (f"host-{leader}", 2, 10),
    ]  # fmt: skip
    assert {(each.args["topic"], each.args["partition"]) for each in placed.hosts.asked} == {
        ("orders", 0)
    }


def test_of_two_directories_a_page_reaches_as_far_as_both_were_listed(placed):
    says(placed, directory(30, 20, following=20), directory(30, 10, role="future"))
    found = segments(placed).json()
    assert [(row["base_offset"], row["role"]) for row in found["data"]] == [
        (30, "current"),
        (30, "future"),
        (20, "current"),
    ]
    assert found["page"]["has_more"]


def test_a_broker_without_a_replica_is_named(placed):
    other = next(number for number in (1, 2, 3, 4) if number not in held(placed))
    found = problem(segments(placed, f"?broker={other}"), 422)
    assert found["errors"][0]["pointer"] == "/broker"
    assert placed.hosts.asked == []


@pytest.mark.parametrize(
    "made_up",
    [
        [],
        [7],
        [{**directory(1), "role": "deleted"}],
        [{**directory(1), "segments": None}],
        [{**directory(1), "next": "x"}],
        [{**directory(1), "segments": [{"base_offset": -1, "size_bytes": 1, "modified_ms": 1}]}],
        [{**directory(1), "segments": [[]]}],
        [directory(1)] * 9,
    ],
)
def test_what_a_host_makes_up_is_unknown(placed, made_up):
    says(placed, *made_up)
    assert "cannot be understood" in problem(segments(placed), 503)["detail"]


def test_silence_is_unknown(placed):
    placed.hosts.answers = lambda _: silent(SILENT, HEARD_AT_MS)
    found = problem(segments(placed), 503)
    assert (found["code"], found["last_heard_at"]) == ("host-silent", iso_of_ms(HEARD_AT_MS))


def test_they_are_seen_with_the_topic_and_with_no_other(placed):
    says(placed, directory(1))
    only = Pattern(Match.LITERAL, "orders")
    client = member_of(placed.tenant, [Grant(role="viewer", over=Over.TOPIC, names=only)])
    assert segments(placed, client=client).status_code == 200
    asked = len(placed.hosts.asked)
    refused = problem(segments(placed, client=client, topic="secret-orders"), 404)
    none = problem(segments(placed, client=client, topic="no-such-orders"), 404)
    assert refused["detail"] == none["detail"].replace("no-such", "secret")
    assert len(placed.hosts.asked) == asked


@pytest.mark.parametrize("partition", ["1", "x", "-1", "9" * 40, "%2e%2e"])
def test_a_partition_that_is_none_is_not_found(placed, partition):
    problem(segments(placed, partition=partition), 404)
    assert placed.hosts.asked == []


def test_another_tenant_s_cluster_is_not_there(placed):
    stranger = client_for(tenant_make("other"), name="stranger")
    problem(segments(placed, client=stranger), 404)
    assert placed.hosts.asked == []


def test_a_registered_cluster_s_files_are_its_own(placed):
    placed.cluster.kind = "registered"
    placed.cluster.save()
    found = problem(segments(placed), 503)
    assert (found["code"], found["retryable"]) == ("brokers-of-others", False)
    assert placed.hosts.asked == []
