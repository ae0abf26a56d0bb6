"""The tour in the README: what is known of a cluster, and a change that is planned and verified."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import Console, group_path
from tests.e2e.rest import Rest, wait_for
from tests.e2e.tour import WINDOW, Tour

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

NAME = f"demo.tour-{os.getpid()}"
SLOW_GROUP = "demo-fraud-check"
JUDGED_WITHIN_S = 400.0
SIZE_MAX = 4 << 20


def test_the_tour(console: Console, rest: Rest, screenshots: Path) -> None:
    cluster_id, page = console.cluster_id, console.page
    inputs = {"name": NAME, "partitions": 3, "replication_factor": 3}
    rest.run("topic.create", cluster_id, **inputs, configs={"retention.ms": "86400000"})
    wait_for(lambda: is_explained(rest, cluster_id), JUDGED_WITHIN_S)
    page.set_viewport_size(WINDOW)
    tour = Tour(page)
    page.goto("/")
    console.settled()
    tour.show("Every cluster, and what needs attention, the worst harm first")
    console.open()
    expect(page.get_by_role("main").get_by_role("img").locator("svg").first).to_be_visible()
    tour.show("A cluster: brokers, throughput, what happened, and how old each number is")
    console.open("groups")
    tour.show("Consumer groups, the worst first, each with the reason")
    console.open(f"groups/{SLOW_GROUP}")
    tour.show("Why a group is behind, what to do next, and what is not known", ms=3_600)
    console.open("topics/demo.orders/messages")
    expect(console.table("Messages").locator("tbody tr").first).to_be_visible()
    tour.show("Messages, as text and never as markup; masks are applied on the server")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search and go to")).to_be_focused()
    page.keyboard.type("demo.")
    expect(page.get_by_role("dialog").get_by_text("demo.payments", exact=True)).to_be_visible()
    tour.show("Everything that has a name, by keyboard")
    page.keyboard.press("Escape")
    console.open(f"topics/{NAME}")
    console.choose_from_menu("More", "Add partitions")
    page.get_by_label("Partitions afterwards").fill("6")
    console.click("Review plan")
    console.plan()
    tour.show("A change is a plan first: before, after, what it reaches", ms=3_400)
    console.confirm()
    tour.show("It ran in steps, and was read back from the brokers")
    tour.save(screenshots / "tour.gif")
    assert 0 < (screenshots / "tour.gif").stat().st_size < SIZE_MAX
    rest.run("topic.delete", cluster_id, name=NAME)


def is_explained(rest: Rest, cluster_id: str) -> bool:
    """Its pace has been measured, so that its page has a sentence."""
    diagnosis = rest.get(group_path(cluster_id, SLOW_GROUP))["diagnosis"]
    return diagnosis["severity"] not in {"unknown", "ok"}
