"""How far each partition is: by pages, in bytes, and unknown where nobody says."""

import pytest

from controlplane.gateway.errors import unreachable
from controlplane.gateway.types import TP, OngoingReassignment
from controlplane.operations.services import operation_cancel
from controlplane.reassignments.progress import ACTIVE_SHOWN, active
from controlplane.reassignments.rules import bytes_moved
from tests.controlplane.support import ACTOR, client_for, drive, tenant_make


@pytest.fixture
def orders(world):
    """Three partitions of 5,000 bytes on brokers 1 and 2, of which two go to 3 and 4."""
    world.gateway.add_topic("orders", partitions=3, rf=2, records=50)
    for part in world.gateway.topics["orders"].partitions:
        part.replicas = (1, 2)
    world.gateway.polls_to_move = 50
    return world


def started(world, batch_size=1):
    moves = [{"topic": "orders", "partition": part, "replicas": [3, 4]} for part in (0, 1)]
    plan = world.plan("reassignment", moves=moves, batch_size=batch_size)
    return drive(world.start(plan), ticks=5)


def moves(world, operation, **query):
    answer = client_for(world.tenant).get(f"/api/v1/operations/{operation.id}/moves", query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_each_partition_has_its_state_and_its_bytes(orders):
    found = moves(orders, started(orders))
    assert [row["state"] for row in found["data"]] == ["moving", "waiting"]
    first, second = found["data"]
    assert (first["before"], first["after"]) == ([1, 2], [3, 4])
    assert (first["bytes_moved"], first["bytes_to_move"]) == (5_000, 10_000), "half of it, twice"
    assert (second["bytes_moved"], second["bytes_to_move"]) == (0, 10_000)
    assert found["unknown"] == []
    assert found["page"] == {"next": None, "has_more": False}


def test_what_has_arrived_is_all_there(orders):
    orders.gateway.polls_to_move = 0
    operation = drive(started(orders))
    assert operation.state == "succeeded"
    for row in moves(orders, operation)["data"]:
        assert (row["state"], row["bytes_moved"], row["bytes_to_move"]) == (
            "arrived",
            10_000,
            10_000,
        )


def test_a_silent_broker_leaves_its_part_unknown_and_no_zero(orders):
    operation = started(orders)
    orders.gateway.silent = {4}
    found = moves(orders, operation)
    assert [row["bytes_moved"] for row in found["data"]] == [None, None]
    assert [row["bytes_to_move"] for row in found["data"]] == [10_000, 10_000]
    assert found["unknown"] == [{"reason": "broker 4 did not answer", "brokers": [4]}]
    orders.gateway.silent = {1}
    found = moves(orders, operation)
    assert [row["bytes_to_move"] for row in found["data"]] == [None, None]
    assert [row["state"] for row in found["data"]] == ["moving", "waiting"]


def test_a_cluster_that_is_away_leaves_everything_unknown(orders):
    operation = started(orders)
    orders.gateway.fail_next("list_reassignments", unreachable("away"))
    found = moves(orders, operation)
    assert {row["state"] for row in found["data"]} == {"unknown"}
    assert {row["bytes_moved"] for row in found["data"]} == {None}
    assert found["unknown"] == [
        {"reason": "the cluster did not answer (unreachable)", "brokers": []}
    ]


def test_a_cancelled_move_shows_the_way_back(orders):
    operation = started(orders)
    operation_cancel(tenant=orders.tenant, actor=ACTOR, operation_id=operation.id)
    drive(operation, ticks=1)
    found = moves(orders, operation)
    assert found["goes_back"] is True
    assert (found["data"][0]["before"], found["data"][0]["after"]) == ([3, 4], [1, 2])


def test_pages_hold_every_partition_once_and_ask_about_their_own(orders):
    operation = started(orders)
    seen, query = [], {"page_size": 1}
    while True:
        found = moves(orders, operation, **query)
        seen += [row["partition"] for row in found["data"]]
        if not found["page"]["has_more"]:
            break
        query["cursor"] = found["page"]["next"]
    assert seen == [0, 1]


def test_another_tenants_moves_are_not_there(orders):
    operation = started(orders)
    rival = client_for(tenant_make("rival"))
    for name in ("moves", "throttle"):
        assert rival.get(f"/api/v1/operations/{operation.id}/{name}").status_code == 404
    other = orders.run("topic.create", name="other")
    mine = client_for(orders.tenant)
    assert mine.get(f"/api/v1/operations/{other.id}/moves").status_code == 404


def test_what_anybody_moves_is_listed_with_its_bytes(orders):
    orders.gateway.reassign({TP("orders", 2): (1, 3)})
    address = f"/api/v1/clusters/{orders.cluster.id}/reassignments"
    found = client_for(orders.tenant).get(address).json()
    (row,) = found["data"]
    assert (row["partition"], row["adding"], row["removing"]) == (2, [3], [2])
    assert (row["bytes_moved"], row["bytes_to_move"]) == (2_500, 5_000)
    assert found["unknown"] == []


def test_a_hundred_thousand_moves_are_read_by_pages(orders, monkeypatch):
    count = 100_000
    ongoing = [
        OngoingReassignment(tp=TP("orders", at), replicas=(1, 2, 3), adding=(3,), removing=(2,))
        for at in range(count)
    ]
    asked = []

    def list_reassignments(partitions=None):
        return ongoing

    def log_dirs(topics=None, *, brokers=None):
        asked.append((topics, brokers))
        return []

    monkeypatch.setattr(orders.gateway, "list_reassignments", list_reassignments)
    monkeypatch.setattr(orders.gateway, "log_dirs", log_dirs)
    found = active(orders.cluster, orders.gateway)
    assert (found["total"], len(found["rows"])) == (count, ACTIVE_SHOWN)
    asked.clear()
    address = f"/api/v1/clusters/{orders.cluster.id}/reassignments"
    client = client_for(orders.tenant)
    first = client.get(address, {"page_size": 500}).json()
    second = client.get(address, {"page_size": 500, "cursor": first["page"]["next"]}).json()
    numbers = [row["partition"] for row in first["data"] + second["data"]]
    assert numbers == list(range(1_000))
    assert {tuple(topics) for topics, _ in asked} == {("orders",)}
    assert len(asked) <= 2 * 4, "each broker once a page"


@pytest.mark.parametrize(
    ("adding", "leader", "held", "expected"),
    [
        ((3,), 1, {1: 10, 3: 4}, (4, 10)),
        ((3, 4), 1, {1: 10, 3: 10}, (10, 20)),
        ((3,), 1, {1: 10, 3: 12}, (10, 10)),  # what was compacted away on the leader since
        ((), 1, {1: 10}, (0, 0)),
        ((3,), None, {3: 4}, (None, None)),
        ((3,), 1, {1: None, 3: 4}, (None, None)),
        ((3,), 1, {3: 4}, (None, None)),
        ((3, 4), 1, {1: 10, 3: None}, (None, 20)),
    ],
)
def test_bytes_of_one_partition(adding, leader, held, expected):
    assert bytes_moved(adding, leader, held) == expected
