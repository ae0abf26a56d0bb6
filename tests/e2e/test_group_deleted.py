"""A consumer group deleted in the console and put back by undo."""

import os

import pytest
from playwright.sync_api import expect

from tests.controlplane.live.clients import Clients
from tests.e2e.flows import undo
from tests.e2e.pages import Console, group_path
from tests.e2e.rest import Rest

TOPIC = f"e2e.group-{os.getpid()}"
GROUP = f"e2e-gone-{os.getpid()}"


@pytest.fixture
def console(arrived: Console) -> Console:
    """From the login on."""
    return arrived


def test_a_group_is_deleted_and_put_back(console: Console, rest: Rest, clients: Clients) -> None:
    cluster_id = console.cluster_id
    rest.run("topic.create", cluster_id, name=TOPIC, partitions=1, replication_factor=3)
    clients.produce(TOPIC, 30)
    assert len(clients.read(TOPIC, GROUP, 30)) == 30
    console.find_group(GROUP)
    console.choose_from_menu("More", "Delete group")
    plan = console.plan()
    expect(plan).to_contain_text(GROUP)
    expect(plan).to_contain_text("30")
    console.page.get_by_test_id("confirm-phrase").fill(GROUP)
    operation_id = console.confirm()
    assert GROUP not in groups(rest, cluster_id)

    undo(console, operation_id)
    assert rest.get(group_path(cluster_id, GROUP))["offsets"][0]["committed"] == 30
    rest.run("group.delete", cluster_id, group=GROUP)
    rest.run("topic.delete", cluster_id, name=TOPIC)


def groups(rest: Rest, cluster_id: str) -> list[str]:
    return [row["group"] for row in rest.get(f"/api/v1/clusters/{cluster_id}/groups")["data"]]
