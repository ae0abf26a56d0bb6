"""Who writes to a topic, by the REST door: gaps said, hanging transactions told from others."""

import time
from types import SimpleNamespace

import pytest

from controlplane.common.grants import LIMITED, Grant, Match, Over, Pattern
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.types import (
    TP,
    TRANSACTION_TOPIC,
    ProducerState,
    TransactionDescription,
)
from controlplane.tenants.models import Membership
from controlplane.topics import producers as module
from tests.controlplane.support import client_for, cluster_make, observed, tenant_make

pytestmark = pytest.mark.django_db
NOW_MS = int(time.time() * 1000)


@pytest.fixture
def orders(world, monkeypatch):
    """Producer 5 has written to both partitions, 7 has a transaction open in the first.

    It is NOW_MS for as long as the test lasts, and however long after it was collected it runs.
    """
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: NOW_MS / 1000))
    gateway = world.gateway
    gateway.add_topic("orders", partitions=2, rf=1, records=50)
    gateway.add_topic("other", records=5)
    plain = ProducerState(producer_id=5, epoch=0, last_sequence=9, last_timestamp_ms=NOW_MS)
    gateway.add_producer(TP("orders", 0), plain)
    gateway.add_producer(TP("orders", 1), plain)
    gateway.add_producer(TP("other", 0), ProducerState(producer_id=99, epoch=0))
    opened(world)
    began(world)
    observed(world)
    return world


def opened(world, at=40):
    state = ProducerState(
        producer_id=7,
        epoch=3,
        last_sequence=1,
        last_timestamp_ms=NOW_MS - 5_000,
        coordinator_epoch=2,
        transaction_start=at,
    )
    world.gateway.add_producer(TP("orders", 0), state)


def began(world, age_ms=5_000, **fields):
    values = {
        "transactional_id": "secret-payments",
        "state": "Ongoing",
        "producer_id": 7,
        "epoch": 3,
        "timeout_ms": 60_000,
        "started_at_ms": NOW_MS - age_ms,
        "partitions": frozenset({TP("orders", 0), TP("other", 0)}),
        **fields,
    }
    world.gateway.add_transaction(TransactionDescription(**values), coordinator=2)


def address(world, topic="orders", query=""):
    return f"/api/v1/clusters/{world.cluster.id}/topics/{topic}/producers{query}"


def asked(world, client=None, query=""):
    answer = (client or client_for(world.tenant)).get(address(world, query=query))
    assert answer.status_code == 200, answer.content
    return answer.json()


def standing(world, client=None):
    found = {row["producer_id"]: row for row in asked(world, client)["data"]}
    return (found[7]["transaction"] or {}).get("standing")


def test_producers_are_shown_by_id_with_what_each_partition_remembers(orders):
    found = asked(orders)
    assert (found["complete"], found["gaps"]) == (True, [])
    assert (found["partition_count"], found["partitions_known"]) == (2, 2)
    five, seven = found["data"]
    assert (five["producer_id"], five["partition_count"], five["transaction"]) == (5, 2, None)
    assert five["partitions"][0] == {
        "partition": 0,
        "epoch": 0,
        "last_sequence": 9,
        "last_timestamp_ms": NOW_MS,
        "coordinator_epoch": None,
        "open_since_offset": None,
        "standing": None,
    }
    (trace,) = seven["partitions"]
    assert (trace["open_since_offset"], trace["coordinator_epoch"]) == (40, 2)
    assert seven["transaction"] == {
        "standing": "open",
        "transactional_id": "secret-payments",
        "state": "Ongoing",
        "started_at_ms": NOW_MS - 5_000,
        "timeout_ms": 60_000,
        "partition_count": 1,
    }


def test_one_whose_time_is_over_is_late_and_one_that_nobody_has_hangs(orders):
    began(orders, age_ms=600_000)
    assert standing(orders) == "late"
    orders.gateway.coordinated.clear()
    assert standing(orders) == "hanging"


def test_while_a_coordinator_does_not_say_nothing_is_called_hanging(orders):
    orders.gateway.coordinated.clear()
    orders.gateway.fail_next("transactions", GatewayError("COORDINATOR_LOAD_IN_PROGRESS", ""))
    found = asked(orders)
    assert found["complete"] is False
    assert found["gaps"] == ["broker 1 refused (COORDINATOR_LOAD_IN_PROGRESS)"]
    assert found["data"][1]["transaction"]["standing"] == "unknown"


def test_nor_while_a_part_of_the_transactions_has_no_leader(orders):
    orders.gateway.coordinated.clear()
    orders.gateway.add_topic(TRANSACTION_TOPIC, partitions=3, rf=1)
    orders.gateway.remove_broker(3)
    assert standing(orders) == "unknown"
    assert "1 partition of __transaction_state has no leader" in asked(orders)["gaps"][-1]


def test_one_that_is_ended_while_it_is_looked_for_is_none(orders, monkeypatch):
    gateway = orders.gateway
    real = gateway.transactions

    def ended_first(producer_ids, *, broker):
        gateway.end_transaction("secret-payments")
        return real(producer_ids, broker=broker)

    monkeypatch.setattr(gateway, "transactions", ended_first)
    assert standing(orders) is None


def test_one_that_cannot_be_looked_at_again_is_not_called_hanging(orders):
    orders.gateway.coordinated.clear()
    real, seen = orders.gateway.describe_producers, []

    def once(partitions, *, broker):
        seen.append(broker)
        if len(seen) > 2:  # both leaders have been asked
            raise GatewayError("NOT_LEADER_OR_FOLLOWER", "", retriable=True)
        return real(partitions, broker=broker)

    orders.gateway.describe_producers = once
    assert standing(orders) == "unknown"


def test_without_open_transactions_no_coordinator_is_asked(orders):
    orders.gateway.end_transaction("secret-payments")
    orders.gateway.calls.clear()
    assert standing(orders) is None
    assert "transactions" not in orders.gateway.calls


def test_a_silent_leader_is_a_gap_and_the_others_are_shown(orders):
    led = orders.gateway.describe_topics(["orders"])["orders"].partitions[1].leader
    orders.gateway.silent = {led}
    found = asked(orders)
    assert found["complete"] is False
    assert f"broker {led} did not answer" in found["gaps"]
    assert (found["partition_count"], found["partitions_known"]) == (2, 1)
    assert [row["partition_count"] for row in found["data"]] == [1, 1]


def test_a_cluster_that_knows_no_such_question_says_so(orders):
    refusal = GatewayError("UNSUPPORTED_VERSION", "")
    orders.gateway.fail_next("describe_producers", refusal, refusal)
    found = asked(orders)
    assert found["data"] == []
    assert found["gaps"] == [
        "broker 1 refused (UNSUPPORTED_VERSION)",
        "broker 2 refused (UNSUPPORTED_VERSION)",
    ]


def test_partitions_beyond_the_bound_are_not_asked_and_said(orders, monkeypatch):
    monkeypatch.setattr(module, "PARTITIONS_ASKED_MAX", 1)
    found = asked(orders)
    assert found["gaps"] == ["only the first 1 partition were asked"]
    assert found["partitions_known"] == 1


def test_more_producers_than_are_kept_are_said_the_open_ones_stay(orders, monkeypatch):
    monkeypatch.setattr(module, "PRODUCERS_MAX", 1)
    found = asked(orders)
    assert [row["producer_id"] for row in found["data"]] == [7]
    assert found["gaps"] == ["only 1 of 2 producers are shown"]


def test_pages_follow_each_other_and_a_bad_one_is_refused_unasked(orders):
    first = asked(orders, query="?page_size=1")
    assert ([row["producer_id"] for row in first["data"]], first["page"]["has_more"]) == ([5], True)
    rest = asked(orders, query=f"?page_size=1&cursor={first['page']['next']}")
    assert ([row["producer_id"] for row in rest["data"]], rest["page"]["next"]) == ([7], None)
    orders.gateway.calls.clear()
    for query, pointer in (("?page_size=0", "/page_size"), ("?cursor=made-up", "/cursor")):
        answer = client_for(orders.tenant).get(address(orders, query=query))
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    assert orders.gateway.calls == []


def narrow_client(world, over, name, username):
    client = client_for(world.tenant, role="viewer", name=username)
    member = Membership.objects.get(user__username=username)
    member.role = LIMITED
    member.grants = [
        Grant(
            role="viewer",
            clusters=Pattern(Match.ANY, ""),
            over=over,
            names=Pattern(Match.LITERAL, name),
        ).as_row()
    ]
    member.save()
    return client


def test_a_grant_on_the_topic_shows_its_producers_and_nothing_of_their_applications(orders):
    client = narrow_client(orders, Over.TOPIC, "orders", "anna")
    answer = client.get(address(orders))
    assert "secret-payments" not in answer.content.decode()
    seven = answer.json()["data"][1]
    assert seven["transaction"]["standing"] == "open"
    assert seven["transaction"]["transactional_id"] is None
    orders.gateway.coordinated.clear()
    assert standing(orders, client) == "hanging"


def test_to_a_reader_of_a_part_gaps_of_the_cluster_are_one_phrase(orders):
    client = narrow_client(orders, Over.TOPIC, "orders", "anna")
    orders.gateway.fail_next("transactions", GatewayError("COORDINATOR_LOAD_IN_PROGRESS", ""))
    assert asked(orders, client)["gaps"] == [module.SOME_COORDINATORS]


@pytest.mark.parametrize("of", ["producers", "replicas"])
@pytest.mark.parametrize(("over", "name"), [(Over.TOPIC, "other"), (Over.GROUP, "orders")])
def test_a_topic_that_no_grant_covers_looks_like_none_and_is_not_asked_of(orders, of, over, name):
    client = narrow_client(orders, over, name, "anna")
    orders.gateway.calls.clear()
    base = f"/api/v1/clusters/{orders.cluster.id}/topics"
    real, unreal = (client.get(f"{base}/{each}/{of}") for each in ("orders", "no-such"))
    # Who has no grant on any topic is told that much, whatever topic it is.
    assert real.status_code == unreal.status_code == (404 if over is Over.TOPIC else 403)
    assert real.json()["detail"] == unreal.json()["detail"].replace("no-such", "orders")
    assert orders.gateway.calls == []


@pytest.mark.parametrize("of", ["producers", "replicas"])
def test_another_tenants_cluster_and_a_topic_that_is_not_there_are_not_found(orders, of):
    rival = tenant_make("rival")
    cluster_make(rival)
    base = f"/api/v1/clusters/{orders.cluster.id}/topics"
    assert client_for(rival).get(f"{base}/orders/{of}").status_code == 404
    assert client_for(orders.tenant).get(f"{base}/no-such/{of}").status_code == 404
