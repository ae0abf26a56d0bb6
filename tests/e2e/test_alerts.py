"""An alert from its firing to its runbook, a silence, and a destination."""

import json
import os
import re
import time

import pytest
from playwright.sync_api import expect

from tests.e2e.pages import OPERATION_MS, Console
from tests.e2e.rest import Rest

SECRET = "s" * 32
NAME = f"e2e-{os.getpid()}"
RULE = "group-falling-behind"
# Enough samples for a verdict, a minute of lag, and two minutes for which the rule has to hold.
FIRES_WITHIN_S = 300.0


@pytest.fixture(scope="module")
def alert(rest: Rest, cluster_id: str) -> dict[str, str]:
    """One that is open: the demo's slow group is behind its topic from its beginning."""
    deadline_s = time.monotonic() + FIRES_WITHIN_S
    while time.monotonic() < deadline_s:
        rows = rest.get(f"/api/v1/alerts?state=firing&rule={RULE}&cluster_id={cluster_id}")["data"]
        if rows:
            return dict(rows[0])
        time.sleep(1)
    pytest.fail("no group of the demo has an alert")


def group_of(alert: dict[str, str]) -> str:
    return alert["subject"].removeprefix("group/")


def test_it_is_listed_and_counted(console: Console, alert: dict[str, str]) -> None:
    page = console.page
    page.goto("/alerts")
    console.settled()
    expect(page.get_by_role("img", name=re.compile("alerts? fires?"))).to_be_visible()
    page.locator(f"a[href='/alerts/{alert['id']}']").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(alert["title"])
    expect(console.row("History", "firing").first).to_be_visible()


def test_it_is_on_the_page_of_its_group(console: Console, alert: dict[str, str]) -> None:
    console.open(f"groups/{group_of(alert)}")
    listed = console.page.get_by_role("list", name="Open alerts")
    expect(listed.locator(f"a[href='/alerts/{alert['id']}']")).to_be_visible()


def test_its_runbook_is_followed_to_a_plan(
    console: Console, rest: Rest, alert: dict[str, str]
) -> None:
    page = console.page
    page.goto(f"/alerts/{alert['id']}")
    page.get_by_role("link", name="Runbook", exact=True).click()
    expect(page.get_by_label("Group", exact=True)).to_have_value(group_of(alert))
    console.click("Begin a run")
    console.click("Run all checks")
    parts = [
        part
        for section in rest.get(f"/api/v1/runbooks/{alert['runbook']}")["sections"]
        for part in section["parts"]
    ]
    checks = sum(part["type"] == "check" for part in parts)
    expect(console.table("Recorded").locator("tbody tr")).to_have_count(checks)
    form = page.get_by_role("form", name="Keep the topic's records longer for a set time")
    form.get_by_role("button", name="Show the plan").click()
    expect(console.plan().get_by_role("table", name="Disk space")).to_be_visible()
    console.close_dialog()
    console.click("End the run")
    page.get_by_label("Unresolved: it goes on").check()
    console.click("End it")
    expect(page.get_by_text("The run is unresolved.")).to_be_visible()
    run = rest.get(f"/api/v1/runbook-runs?runbook={alert['runbook']}")["data"][0]
    assert (run["state"], run["context"]["group"]) == ("unresolved", group_of(alert))
    entries = rest.get(f"/api/v1/runbook-runs/{run['id']}")["entries"]
    assert [entry["type"] for entry in entries] == ["check"] * checks + ["act"]
    assert all(entry["operation_id"] is None for entry in entries)


def test_it_is_acknowledged(console: Console, rest: Rest, alert: dict[str, str]) -> None:
    console.page.goto(f"/alerts/{alert['id']}")
    console.click("Acknowledge")
    console.dialog().get_by_label("Note").fill("at it")
    console.dialog().get_by_role("button", name="Acknowledge").click()
    expect(console.row("History", "acknowledged").first).to_be_visible()
    assert rest.get(f"/api/v1/alerts/{alert['id']}")["note"] == "at it"


def test_a_maintenance_window_is_planned_and_given_up(console: Console, rest: Rest) -> None:
    page = console.page
    page.goto("/alerts?tab=silences")
    console.click("New silence")
    form = console.dialog()
    form.get_by_text("Maintenance window", exact=True).click()
    form.get_by_label("Subject").fill(f"topic/{NAME}")
    form.get_by_label("Reason").fill("new disks")
    console.click("Plan it")
    expect(console.row("Silences", NAME)).to_contain_text("Planned")
    page.get_by_role("button", name=f"Actions for the silence of topic/{NAME}").click()
    page.get_by_role("menuitem", name="End now").click()
    console.click("End it now")
    expect(console.row("Silences", NAME)).to_contain_text("Over")
    rows = [row for row in rest.get("/api/v1/silences")["data"] if NAME in row["subject"]]
    assert [row["state"] for row in rows] == ["over"]


def test_a_destination_is_made_tested_and_deleted(console: Console, rest: Rest) -> None:
    """An address that the service does not send to is refused with its reason, the form kept."""
    page = console.page
    page.goto("/destinations")
    console.click("New destination")
    form = console.dialog()
    form.get_by_label("Name").fill(NAME)
    form.get_by_label("Address").fill("http://169.254.169.254/hook")
    form.get_by_label("Signing secret").fill(SECRET)
    console.click("Make it")
    expect(form.get_by_role("alert")).to_contain_text("this service does not send there")
    form.get_by_label("Address").fill("https://penstock.invalid/hook")
    console.click("Make it")
    expect(console.row("Destinations", NAME)).to_contain_text("Not used yet")
    page.get_by_role("button", name=f"Actions for {NAME}").click()
    page.get_by_role("menuitem", name="Test").click()
    expect(console.dialog()).to_contain_text("was not delivered", timeout=OPERATION_MS)
    # The dialog's corner has one of that name, too.
    console.dialog().get_by_role("button", name="Close", exact=True).last.click()
    made = next(row for row in rest.get("/api/v1/destinations")["data"] if row["name"] == NAME)
    assert SECRET not in json.dumps(made)
    page.get_by_role("button", name=f"Actions for {NAME}").click()
    page.get_by_role("menuitem", name="Delete").click()
    console.dialog().get_by_role("button", name="Delete").click()
    expect(page.get_by_text(f"The destination {NAME} was deleted.")).to_be_visible()
    names = [row["name"] for row in rest.get("/api/v1/destinations")["data"]]
    assert NAME not in names
