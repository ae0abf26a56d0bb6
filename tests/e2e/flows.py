"""From a page to the plan under review, for each governing verb; nothing is changed by then."""

import re

from playwright.sync_api import Locator, expect

from tests.e2e.pages import Console


def plan_topic(console: Console, name: str) -> Locator:
    console.visit("Topics")
    console.page.get_by_role("link", name="New topic").click()
    console.page.get_by_label("Name").fill(name)
    console.click("Review plan")
    return console.plan()


def plan_acls(console: Console, user: str, topic: str) -> Locator:
    """That the user may produce to the topic."""
    console.visit("Access")
    console.page.get_by_label(f"Actions for {user}", exact=True).click()
    console.page.get_by_role("menuitem", name="Add ACLs").click()
    dialog = console.dialog()
    choose_template(console, "Producer")
    dialog.get_by_label("Topic", exact=True).fill(topic)
    console.click("Review plan")
    return console.plan()


def choose_template(console: Console, title: str) -> None:
    """In a dialog that asks what somebody may do."""
    console.dialog().get_by_label("What it does").first.click()
    console.page.get_by_role("option", name=title, exact=True).click()


def plan_move(console: Console, topic: str, replicas: list[int]) -> Locator:
    """Partition 0 of the topic to these brokers."""
    console.find_topic(topic)
    console.page.get_by_role("link", name="Move").click()
    console.page.get_by_label("What to do").first.click()
    console.page.get_by_role("option", name="Exact replicas").click()
    console.page.get_by_label("Replicas of partition 0").fill(", ".join(map(str, replicas)))
    console.click("Review plan")
    return console.plan()


def plan_reset(console: Console, group: str, offset: int) -> Locator:
    if not console.page.url.endswith(f"/groups/{group}"):
        console.find_group(group)
    console.page.get_by_role("link", name="Reset offsets").click()
    console.settled()
    console.page.get_by_label("An exact offset").check()
    console.page.get_by_label("Offset", exact=True).fill(str(offset))
    console.click("Review plan")
    return console.plan()


def undo(console: Console, operation_id: str) -> None:
    """From the operation's own page, to its verified end."""
    plan_undo(console, operation_id)
    console.press_confirm()
    console.ends_well(console.dialog().get_by_test_id("operation-live"))


def plan_undo(console: Console, operation_id: str) -> Locator:
    """By the link of the operation that has just ended, or its address."""
    live = console.page.get_by_test_id("operation-live")
    link = live.locator(f"a[href='/operations/{operation_id}']")
    if link.count():
        link.click()
    else:
        console.page.goto(f"/operations/{operation_id}")
    expect(console.page).to_have_url(re.compile(f"/operations/{operation_id}$"))
    # The page before stays until this one is loaded, under the new address, and can have the button too.
    expect(console.page.get_by_role("region", name="Facts")).to_contain_text(operation_id)
    console.settled()
    console.click("Undo")
    return console.plan()
