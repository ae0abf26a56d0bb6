"""The replicas of a topic: what their holders say, and what nobody could say."""

import pytest

from controlplane.common.grants import Over
from controlplane.gateway.types import TP, PartitionDescription, ReplicaSize
from controlplane.topics.replicas import replica_rows
from tests.controlplane.support import client_for
from tests.controlplane.topics.test_producers import narrow_client

PART = PartitionDescription(partition=0, leader=1, leader_epoch=0, replicas=(1, 2), isr=(1,))


def size(broker, **fields):
    values = {"log_dir": f"/data/{broker}", "size_bytes": 100, "offset_lag": 0, **fields}
    return ReplicaSize(broker=broker, tp=TP("orders", 0), **values)


def test_replicas_are_in_the_order_of_the_assignment_and_what_lies_about_is_last():
    held = [
        size(3, size_bytes=7),
        size(2, log_dir="/new", size_bytes=40, offset_lag=6, is_future=True),
        size(2, offset_lag=9),
        size(1),
    ]
    rows = replica_rows(PART, held, {}, dirs=True)
    assert [(row["broker"], row["is_future"], row["log_dir"]) for row in rows] == [
        (1, False, "/data/1"),
        (2, False, "/data/2"),
        (2, True, "/new"),
        (3, False, "/data/3"),
    ]
    assert [row["is_leader"] for row in rows] == [True, False, False, False]
    assert [row["in_sync"] for row in rows] == [True, False, False, False]
    assert [row["is_assigned"] for row in rows] == [True, True, True, False]
    assert [row["offset_lag"] for row in rows] == [0, 9, 6, 0]
    assert {row["unknown_because"] for row in rows} == {None}


def test_who_does_not_say_is_unknown_with_the_reason_and_never_0():
    rows = replica_rows(PART, [], {2: "broker 2 did not answer"}, dirs=True)
    assert [(row["size_bytes"], row["unknown_because"]) for row in rows] == [
        (None, "broker 1 has no log of it"),
        (None, "broker 2 did not answer"),
    ]


def test_a_lag_that_kafka_does_not_know_is_unknown():
    (first, _) = replica_rows(PART, [size(1, offset_lag=-1), size(2)], {}, dirs=True)
    assert (first["size_bytes"], first["offset_lag"]) == (100, None)


def asked(world, client=None):
    address = f"/api/v1/clusters/{world.cluster.id}/topics/orders/replicas"
    answer = (client or client_for(world.tenant)).get(address)
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.fixture
def orders(world):
    world.gateway.add_topic("orders", partitions=2, rf=2, records=50)
    return world


@pytest.mark.django_db
def test_every_replica_has_its_bytes_and_a_move_shows_what_there_is_so_far(orders):
    first = orders.gateway.topics["orders"].partitions[0]
    first.lags[2], first.future[2] = 10, "/disk2"
    first.target = (1, 3)
    found = asked(orders)
    assert (found["complete"], found["partition_count"]) == (True, 2)
    rows = found["data"][0]["replicas"]
    assert [(row["broker"], row["size_bytes"], row["offset_lag"]) for row in rows] == [
        (1, 5_000, 0),
        (2, 4_000, 10),
        (2, 2_000, 10),
        (3, 2_500, 0),
    ]
    assert [row["log_dir"] for row in rows] == ["/data", "/data", "/disk2", "/data"]


@pytest.mark.django_db
def test_brokers_that_are_silent_or_gone_are_gaps(orders):
    orders.gateway.silent = {2}
    found = asked(orders)
    assert (found["complete"], found["gaps"]) == (False, ["broker 2 did not answer"])
    first, second = found["data"][0]["replicas"]
    assert (first["size_bytes"], second["size_bytes"]) == (5_000, None)
    assert second["unknown_because"] == "broker 2 did not answer"
    orders.gateway.silent = set()
    orders.gateway.remove_broker(2)
    assert asked(orders)["gaps"] == ["broker 2 is not there"]


@pytest.mark.django_db
def test_partitions_beyond_the_bound_are_not_shown_and_said(orders, monkeypatch):
    monkeypatch.setattr("controlplane.topics.replicas.PARTITIONS_SHOWN_MAX", 1)
    found = asked(orders)
    assert (len(found["data"]), found["partition_count"]) == (1, 2)
    assert found["gaps"] == ["only the first 1 partition are shown"]


@pytest.mark.django_db
def test_a_grant_on_the_topic_shows_its_sizes_and_no_directory_of_brokers(orders):
    client = narrow_client(orders, Over.TOPIC, "orders", "anna")
    rows = [row for part in asked(orders, client)["data"] for row in part["replicas"]]
    assert {row["size_bytes"] for row in rows} == {5_000}
    assert {row["log_dir"] for row in rows} == {None}
