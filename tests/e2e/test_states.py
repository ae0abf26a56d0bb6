"""What a page looks like while it waits, when a part is away, old or refused, and when all fails.

The server's answer is changed on its way into the browser: nobody has to break a cluster for it.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.pages import Console
from tests.e2e.test_screenshots import sticks_out

PAGES = "**/console/api/pages/"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("unavailable", "This part is unavailable right now"),
        ("stale", "Shown as it was"),
    ],
)
def test_one_part_down_leaves_the_others(
    console: Console, screenshots: Path, status: str, said: str
) -> None:
    def degrade(route: Route) -> None:
        answer = route.fetch()
        body: Any = answer.json()
        part = body["parts"]["cluster"]
        part.update(status=status, reason="The cluster did not answer in time.")
        if status == "unavailable":
            part.update(data=None, as_of=None)
        route.fulfill(response=answer, body=json.dumps(body))

    page = console.page
    page.route(f"{PAGES}cluster/*", degrade)
    console.open()
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_text("The cluster did not answer in time.")).to_be_visible()
    expect(page.locator("pre").first).to_contain_text("bootstrap.servers")
    photograph_state(page, screenshots, status)


@pytest.mark.parametrize(
    ("status", "title"), [(403, "You may not see this"), (404, "Topic not found")]
)
def test_a_refusal_is_shown_in_the_servers_words(
    console: Console, screenshots: Path, status: int, title: str
) -> None:
    problem = {"title": title, "status": status, "detail": "Ask an owner.", "request_id": "req-1"}
    console.page.route(
        f"{PAGES}topic/**",
        lambda route: route.fulfill(
            status=status, content_type="application/problem+json", body=json.dumps(problem)
        ),
    )
    console.page.goto(f"/clusters/{console.cluster_id}/topics/demo.orders")
    expect(console.page.get_by_role("alert").first).to_contain_text(title)
    expect(console.page.get_by_text("req-1").first).to_be_visible()
    photograph_state(console.page, screenshots, f"refused-{status}")


@pytest.mark.parametrize("where", ["operations/op_nope", "clusters/{cluster}/groups/nope"])
def test_what_is_not_there_is_said_once(console: Console, where: str) -> None:
    page = console.page
    page.goto("/" + where.format(cluster=console.cluster_id))
    expect(page.get_by_role("alert")).to_have_count(1)
    expect(page.get_by_role("alert").get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("link", name="Go to the overview")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)


def test_while_it_waits_the_frame_stands(console: Console, screenshots: Path) -> None:
    page = console.page
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route(f"{PAGES}topics/*", hold)
    page.goto(f"/clusters/{console.cluster_id}/topics")
    expect(page.get_by_label("Loading").first).to_be_visible()
    expect(page.get_by_role("heading", name="Topics", level=1)).to_be_visible()
    photograph_state(page, screenshots, "loading")
    for route in waiting:
        route.continue_()
    console.settled()
    expect(console.row("Topics", "demo.orders")).to_be_visible()


def photograph_state(page: Page, directory: Path, name: str) -> None:
    page.screenshot(path=directory / f"state-{name}-1440-light.png", animations="disabled")
    assert not sticks_out(page)


def test_numbers_that_cannot_be_read_again_are_said_to_be_stale(
    console: Console, screenshots: Path
) -> None:
    page = console.page
    console.open()
    said = page.get_by_role("status").filter(has_text="Stale since")
    expect(said).to_have_count(0)
    problem = {"title": "Too many requests", "status": 429}
    page.route(
        "**/console/api/**",
        lambda route: route.fulfill(
            status=429, content_type="application/problem+json", body=json.dumps(problem)
        ),
    )
    # At the next read: pages are asked for again each ten seconds.
    expect(said).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_have_count(0)
    expect(page.locator("main.ps-stale")).to_be_visible()
    photograph_state(page, screenshots, "stale-page")
    page.unroute("**/console/api/**")
    said.click()
    expect(said).to_have_count(0)
    expect(page.locator("main.ps-stale")).to_have_count(0)
