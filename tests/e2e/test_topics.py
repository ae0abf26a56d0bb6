"""A topic's whole life in the console, each change from plan to verified result."""

import os
import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.pages import OPERATION_MS, Console, topic_path
from tests.e2e.rest import Rest

NAME = f"e2e.life-{os.getpid()}"


@pytest.fixture
def console(arrived: Console) -> Console:
    """From the login on."""
    return arrived


def test_created_by_keyboard_alone(console: Console, rest: Rest) -> None:
    console.open("new-topic")
    page = console.page
    page.get_by_label("Name").focus()
    page.keyboard.type(NAME)
    page.keyboard.press("Tab")
    expect(page.get_by_label("Partitions", exact=True)).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("3")
    tab_to(page, "Review plan")
    page.keyboard.press("Enter")
    plan = console.plan()
    for row in (("Name", NAME), ("Partitions", "3"), ("Replication factor", "3")):
        expect(plan.get_by_role("row").filter(has_text=row[0]).first).to_contain_text(row[1])
    assert rest.missing(topic_path(console.cluster_id, NAME))
    tab_to(page, "Create topic")
    page.keyboard.press("Enter")
    console.verified()
    tab_to(page, "Open topic")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=NAME)).to_be_visible()
    expect(console.table("Partitions").locator("tbody tr")).to_have_count(3)
    assert len(rest.get(topic_path(console.cluster_id, NAME))["partitions"]) == 3


def test_a_setting_changed(console: Console, rest: Rest) -> None:
    console.find_topic(NAME)
    page = console.page
    page.get_by_role("tab", name="Configuration").click()
    page.get_by_label("Edit retention.ms", exact=True).click()
    page.get_by_label("New value of retention.ms").fill("soon")
    expect(page.get_by_text("Type for example 7 days")).to_be_visible()
    expect(page.get_by_role("button", name="Review 0 changes")).to_be_disabled()
    page.get_by_label("New value of retention.ms").fill("2 hours")
    console.click("Review 1 change")
    plan = console.plan()
    expect(plan.get_by_role("row").filter(has_text="retention.ms")).to_contain_text(
        "604800000 ms (7 days, default)7200000 ms (2 hours)"
    )
    console.confirm()
    console.close_dialog()
    configs = rest.get(topic_path(console.cluster_id, NAME))["configs"]
    assert {row["name"]: row["value"] for row in configs}["retention.ms"] == "7200000"
    page.reload()
    console.settled()
    expect(console.row("Configuration", "retention.ms").first).to_contain_text("2 hours")
    expect(console.row("Configuration history", "retention.ms")).to_contain_text("2 hours")


def test_partitions_added(console: Console, rest: Rest) -> None:
    console.find_topic(NAME)
    console.choose_from_menu("More", "Add partitions")
    console.page.get_by_label("Partitions afterwards").fill("5")
    console.click("Review plan")
    expect(console.plan()).to_contain_text("5")
    console.confirm()
    console.close_dialog()
    expect(console.table("Partitions").locator("tbody tr")).to_have_count(5)
    assert len(rest.get(topic_path(console.cluster_id, NAME))["partitions"]) == 5


def test_deleted_only_after_its_name_was_typed(console: Console, rest: Rest) -> None:
    console.find_topic(NAME)
    console.choose_from_menu("More", "Delete topic")
    console.plan()
    confirm = console.page.get_by_test_id("confirm-plan")
    expect(confirm).to_be_disabled()
    phrase = console.page.get_by_test_id("confirm-phrase")
    expect(phrase).to_be_focused()
    phrase.fill(NAME[:-1])
    expect(confirm).to_be_disabled()
    phrase.fill(NAME)
    console.confirm()
    assert rest.missing(topic_path(console.cluster_id, NAME))
    console.close_dialog()
    expect(console.page).to_have_url(re.compile("/topics$"))
    console.settled()
    expect(console.row("Topics", NAME)).to_have_count(0)


def test_steps_move_while_one_looks(console: Console, rest: Rest) -> None:
    """The operation's own page goes from pending to verified without a reload."""
    name = f"e2e.live-{os.getpid()}"
    inputs = {"name": name, "partitions": 1, "replication_factor": 3}
    body = {"kind": "topic.create", "cluster_id": console.cluster_id, "inputs": inputs}
    plan = rest.post("/api/v1/plans", body)
    confirmed = {"plan_id": plan["id"], "plan_hash": plan["plan_hash"]}
    operation = rest.post("/api/v1/operations", confirmed)
    console.page.goto(f"/operations/{operation['id']}")
    live = console.page.get_by_test_id("operation-live")
    expect(live).to_have_attribute("data-state", "succeeded", timeout=OPERATION_MS)
    rest.run("topic.delete", console.cluster_id, name=name)


def tab_to(page: Page, button: str) -> None:
    """Press Tab until the button has the focus, as somebody without a mouse does."""
    wanted = page.get_by_role("button", name=button, exact=True)
    expect(wanted).to_be_enabled()
    for _ in range(30):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"{button} cannot be reached by Tab")
