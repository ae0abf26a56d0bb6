"""A Kafka that runs elsewhere: registered, another way in, forgotten; and one of our own made."""

import os
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import Console
from tests.e2e.rest import Rest
from tests.local_cluster import LocalCluster

NAME = f"elsewhere-{os.getpid()}"
MADE = f"made-{os.getpid()}"


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    cluster = LocalCluster(tmp_path_factory.mktemp("elsewhere"), brokers=1)
    yield cluster
    cluster.stop()


def test_a_kafka_is_registered_given_another_way_in_and_forgotten(
    arrived: Console, rest: Rest, elsewhere: LocalCluster
) -> None:
    page = arrived.page
    page.get_by_role("link", name="Register a Kafka").click()
    page.get_by_label("Name", exact=True).fill(NAME)
    say_the_way_in(arrived, "127.0.0.1:1")
    arrived.click("Try it and review the plan")
    # Nobody listens there: said at the address, the form kept.
    expect(page.get_by_role("alert").first).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value(NAME)
    page.get_by_label("Bootstrap servers").fill(elsewhere.bootstrap)
    arrived.click("Try it and review the plan")
    expect(arrived.plan()).to_contain_text(elsewhere.bootstrap)
    arrived.confirm()
    page.get_by_role("link", name="Go to clusters").click()
    page.get_by_role("link", name=NAME, exact=True).first.click()
    arrived.settled()
    (cluster,) = [row for row in rest.get("/api/v1/clusters")["data"] if row["name"] == NAME]
    assert (cluster["kind"], cluster["phase"]) == ("registered", "RUNNING")

    arrived.choose_from_menu("More", "Change the way in")
    arrived.click("Try it and review the plan")
    arrived.plan()
    arrived.confirm()
    page.get_by_role("link", name="Open cluster").click()
    arrived.settled()

    forget(arrived, "Forget cluster")
    assert NAME not in names(rest)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_cluster_is_made_and_deleted_after_its_name_was_typed(
    arrived: Console, rest: Rest
) -> None:
    page = arrived.page
    page.get_by_role("link", name="New cluster").click()
    page.get_by_label("Name", exact=True).fill(MADE)
    page.get_by_label("Brokers", exact=True).fill("1")
    page.get_by_text("Not encrypted").click()
    arrived.click("Review plan")
    expect(arrived.plan()).to_contain_text("Start 1 broker on 1 host")
    arrived.confirm()
    arrived.click("Go to clusters")
    page.get_by_role("link", name=MADE, exact=True).first.click()
    arrived.settled()
    expect(arrived.table("Brokers").locator("tbody tr")).to_contain_text("Alive")
    forget(arrived, "Delete cluster")
    assert MADE not in names(rest)


def say_the_way_in(console: Console, bootstrap: str) -> None:
    console.page.get_by_label("Bootstrap servers").fill(bootstrap)
    console.page.get_by_label("Security protocol").first.click()
    console.page.get_by_role("option", name="PLAINTEXT: neither", exact=True).click()


def forget(console: Console, item: str) -> None:
    console.choose_from_menu("More", item)
    console.plan()
    console.confirm()
    console.click("Back to the overview")
    expect(console.page).to_have_url(re.compile(r"/$"))


def names(rest: Rest) -> list[str]:
    return [row["name"] for row in rest.get("/api/v1/clusters")["data"]]
