"""The tour in the README: from the overview to a change that is planned, verified and undone."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import Console, topic_path
from tests.e2e.rest import Rest
from tests.e2e.tour import WINDOW, Tour

pytestmark = pytest.mark.slow

NAME = f"demo.tour-{os.getpid()}"
SIZE_MAX = 3 << 20


def test_the_tour(console: Console, rest: Rest, screenshots: Path) -> None:
    cluster_id, page = console.cluster_id, console.page
    inputs = {"name": NAME, "partitions": 3, "replication_factor": 3}
    rest.run("topic.create", cluster_id, **inputs, configs={"retention.ms": "86400000"})
    page.set_viewport_size(WINDOW)
    tour = Tour(page)
    page.goto("/")
    console.settled()
    tour.show("Every cluster, and what needs attention")
    console.open()
    tour.show("A cluster: its brokers, its health and how old each number is")
    console.open("groups")
    tour.show("Consumer groups, the worst first")
    console.open("groups/demo-fraud-check")
    tour.show("Why a group is behind, and what would help", ms=3_400)
    console.open(f"topics/{NAME}")
    console.choose_from_menu("More", "Add partitions")
    page.get_by_label("Partitions afterwards").fill("6")
    console.click("Review plan")
    console.plan()
    tour.show("A change is a plan first: before, after, what it touches", ms=3_400)
    console.confirm()
    tour.show("It ran in steps, and was read back from the brokers")
    console.close_dialog()
    console.open("groups/demo-billing")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    tour.show("Healthy groups say so too")
    tour.save(screenshots / "tour.gif")
    assert 0 < (screenshots / "tour.gif").stat().st_size < SIZE_MAX
    rest.run("topic.delete", cluster_id, name=NAME)
    assert rest.missing(topic_path(cluster_id, NAME))
