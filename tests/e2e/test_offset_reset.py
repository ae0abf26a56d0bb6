"""A group's offsets reset in the console and put back by undo."""

import os
import re

import pytest
from playwright.sync_api import expect

from tests.controlplane.live.clients import Clients
from tests.e2e.flows import plan_reset, undo
from tests.e2e.pages import Console, group_path
from tests.e2e.rest import Rest

TOPIC = f"e2e.reset-{os.getpid()}"
GROUP = f"e2e-readers-{os.getpid()}"
RECORDS = 120


@pytest.fixture
def console(arrived: Console) -> Console:
    """From the login on."""
    return arrived


def test_a_reset_and_its_undo(console: Console, rest: Rest, clients: Clients) -> None:
    rest.run("topic.create", console.cluster_id, name=TOPIC, partitions=1, replication_factor=3)
    clients.produce(TOPIC, RECORDS)
    assert len(clients.read(TOPIC, GROUP, RECORDS)) == RECORDS
    page = console.page

    console.find_group(GROUP)
    expect(console.figure("Lag")).to_contain_text("0")
    plan = plan_reset(console, GROUP, 20)
    row = plan.get_by_role("row").filter(has_text=f"{TOPIC}-0")
    for shown in ("120", "20", "100"):
        expect(row).to_contain_text(shown)
    assert committed(rest, console) == RECORDS
    operation_id = console.confirm()
    assert committed(rest, console) == 20
    page.get_by_role("link", name="Open group").click()
    console.settled()
    expect(console.figure("Lag")).to_contain_text("100")

    undo(console, operation_id)
    assert committed(rest, console) == RECORDS
    rest.run("topic.delete", console.cluster_id, name=TOPIC)


def test_a_group_at_work_is_not_reset(console: Console) -> None:
    console.open("groups/demo-billing/reset")
    expect(
        console.page.get_by_text("Offsets can be set only while nobody consumes")
    ).to_be_visible()
    review = console.page.get_by_role("button", name="Review plan", exact=True)
    expect(review).to_be_disabled()
    expect(review).to_have_accessible_description(re.compile("Waits until .*member"))


def committed(rest: Rest, console: Console) -> int:
    found = rest.get(group_path(console.cluster_id, GROUP))["offsets"]
    return int(found[0]["committed"])
