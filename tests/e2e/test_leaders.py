"""Partitions are led by whom they prefer again, from the cluster's page."""

import os
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.looks import look
from tests.e2e.pages import Console, topic_path
from tests.e2e.rest import Rest

NAME = f"e2e.led-{os.getpid()}"


def test_preferred_leaders_are_elected(arrived: Console, rest: Rest, screenshots: Path) -> None:
    """The order of its replicas was changed, so that another broker leads than the preferred one."""
    cluster_id, page = arrived.cluster_id, arrived.page
    rest.run("topic.create", cluster_id, name=NAME, partitions=1, replication_factor=3)
    leads, *others = partition(rest, cluster_id)["replicas"]
    move = {"topic": NAME, "partition": 0, "replicas": [*others, leads]}
    rest.run("reassignment", cluster_id, moves=[move])
    assert partition(rest, cluster_id)["leader"] == leads
    arrived.visit("Brokers")
    arrived.choose_from_menu("More", "Elect preferred leaders")
    plan = arrived.plan()
    row = plan.get_by_role("row").filter(has_text=NAME)
    expect(row).to_contain_text(str(others[0]))
    expect(plan.get_by_role("table", name="Leaders by broker")).to_be_visible()
    expect(plan).to_contain_text("This cannot be undone")
    look(page, screenshots, "elect-plan")
    arrived.confirm()
    look(page, screenshots, "elected")
    assert partition(rest, cluster_id)["leader"] == others[0]
    arrived.close_dialog()
    arrived.find_topic(NAME)
    leader = arrived.table("Partitions").locator("tbody tr").first
    expect(leader).to_contain_text(str(others[0]))
    rest.run("topic.delete", cluster_id, name=NAME)


def partition(rest: Rest, cluster_id: str) -> dict[str, object]:
    [found] = rest.get(topic_path(cluster_id, NAME))["partitions"]
    return dict(found)
