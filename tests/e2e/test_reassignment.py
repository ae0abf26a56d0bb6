"""Partitions moved in the console: plan with bytes, live steps, the brokers agree, undo."""

import os

import pytest
from playwright.sync_api import expect

from tests.controlplane.live.clients import Clients
from tests.e2e.flows import plan_move, undo
from tests.e2e.pages import Console, topic_path
from tests.e2e.rest import Rest

TOPIC = f"e2e.move-{os.getpid()}"


@pytest.fixture
def console(arrived: Console) -> Console:
    """From the login on."""
    return arrived


def test_a_partition_is_moved_and_moved_back(
    console: Console, rest: Rest, clients: Clients
) -> None:
    rest.run("topic.create", console.cluster_id, name=TOPIC, partitions=2, replication_factor=2)
    clients.produce(TOPIC, 500, size=1000)
    before = replicas(rest, console)
    (free,) = {1, 2, 3} - set(before[0])
    wanted = [before[0][0], free]

    plan = plan_move(console, TOPIC, wanted)
    expect(plan).to_contain_text(f"{TOPIC}-0")
    expect(plan).to_contain_text("KiB")
    operation_id = console.confirm()
    expect(console.page.get_by_text("in sync", exact=False).first).to_be_visible()
    assert replicas(rest, console) == {0: wanted, 1: before[1]}
    assert rest.get(f"/api/v1/clusters/{console.cluster_id}/reassignments")["data"] == []

    console.find_topic(TOPIC)
    moved = console.table("Partitions").locator("tbody tr").first
    for broker in wanted:
        expect(moved.locator(".ps-chip", has_text=str(broker))).to_be_visible()

    undo(console, operation_id)
    assert replicas(rest, console) == before
    rest.run("topic.delete", console.cluster_id, name=TOPIC)


def replicas(rest: Rest, console: Console) -> dict[int, list[int]]:
    found = rest.get(topic_path(console.cluster_id, TOPIC))["partitions"]
    return {row["partition"]: row["replicas"] for row in found}
