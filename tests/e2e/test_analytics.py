"""Spark's results on the pages, from a run that was asked for in the console."""

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import Console, grouped
from tests.e2e.rest import Rest

# A Spark session on two cores that others use as well.
RUN_MS = 180_000
# Two refreshes of the page, which asks every 30 s.
SHOWN_S = 60
SLOW = "demo-fraud-check"


@pytest.fixture(scope="session")
def asked() -> dict[str, str]:
    """What the first test leaves for the second; others run between them."""
    return {}


def test_the_button_starts_a_run(console: Console, rest: Rest, asked: dict[str, str]) -> None:
    console.open("analytics")
    asked["run"] = started(console, rest)
    expect(console.row("Analytics runs", asked["run"])).to_be_visible()


def test_a_run_feeds_lag_and_retention(console: Console, rest: Rest, asked: dict[str, str]) -> None:
    console.open("analytics")
    page = console.page
    row = console.row("Analytics runs", asked["run"])
    expect(row).to_contain_text("succeeded", timeout=RUN_MS)
    expect(page.get_by_text("as of").first).to_be_visible()

    shows_what_rest_says(console, rest)
    expect(page.get_by_role("img", name="Lag by group over time")).to_be_visible()
    kept = rest.get(f"/api/v1/clusters/{console.cluster_id}/analytics/retention?topic=demo.orders")
    assert kept["data"][0]["bytes"] > 0
    expect(console.row("Retention by topic", "demo.orders")).to_contain_text("iB")

    console.open(f"groups/{SLOW}")
    drawn = page.get_by_role("img", name=f"Lag of group {SLOW} over time", exact=True)
    expect(drawn).to_be_visible()
    expect(console.row("Expiry of unread records", "demo.orders")).to_be_visible()
    console.open("topics/demo.orders")
    expect(console.row("Expiry of unread records", SLOW)).to_be_visible()


def shows_what_rest_says(console: Console, rest: Rest) -> None:
    """The table shows the newest lag that REST gives, of any moment that this watched.

    The collector judges the group every few seconds, and the page asks again by its own clock:
    what it shows is one of the answers since it last asked.
    """
    address = f"/api/v1/clusters/{console.cluster_id}/analytics/lag?group={SLOW}&latest=true"
    shown = console.row("Lag by group and topic", SLOW)
    given: set[str] = set()
    for _ in range(SHOWN_S):
        (newest,) = rest.get(address)["data"]
        given.add(grouped(newest["lag_records"]))
        if any(lag in shown.get_by_role("cell").all_inner_texts() for lag in given):
            return
        console.page.wait_for_timeout(1_000)
    raise AssertionError(f"REST gave {sorted(given)}; the page shows {shown.inner_text()!r}")


def started(console: Console, rest: Rest) -> str:
    """The run that the button started, or the one that was under way already."""
    with console.page.expect_response("**/api/v1/analytics/runs") as answered:
        console.click("Run now")
    if answered.value.ok:
        return str(answered.value.json()["id"])
    assert answered.value.status == 409, answered.value.text()
    return str(rest.get("/api/v1/analytics/runs")["data"][0]["id"])
