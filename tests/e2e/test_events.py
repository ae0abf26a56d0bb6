"""What happened to a cluster: made by somebody else, marked by a person, listed and on a chart."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.conftest import PHONE
from tests.e2e.pages import Console
from tests.e2e.rest import Rest

TOPIC = "e2e.happened"


def test_a_change_and_a_deployment_are_told_and_marked_on_charts(
    console: Console, rest: Rest, cluster_id: str, screenshots: Path
) -> None:
    page = console.page
    rest.run("topic.create", cluster_id, name=TOPIC, partitions=2, replication_factor=1)
    console.open("events")
    events = page.get_by_role("list", name="Events")
    expect(events).to_contain_text(f"Topic {TOPIC} was created: 2 partitions")
    expect(events).to_contain_text("Done: Create e2e.happened")

    console.click("Mark a deployment")
    console.dialog().get_by_label("What was deployed").fill("shop 2.0")
    console.dialog().get_by_role("button", name="Mark it").click()
    expect(events).to_contain_text("shop 2.0")
    page.screenshot(path=screenshots / "events-marked-1440.png", full_page=True)

    page.goto(f"/clusters/{cluster_id}/events?sort=deployments")
    console.settled()
    expect(events.get_by_role("listitem")).to_have_count(1)
    console.open()
    expect(page.get_by_role("list", name="Events", exact=True)).to_contain_text("shop 2.0")

    # What is measured comes every few seconds: soon the mark stands on the lines.
    page.goto(f"/clusters/{cluster_id}/brokers/1")
    marks = page.get_by_role("button", name=re.compile(r"events? in this time"))
    marks.first.click()
    marked = page.get_by_role("list", name="Events in: Records a second over time")
    expect(marked).to_contain_text("shop 2.0")
    console.settled()
    page.screenshot(path=screenshots / "broker-events-1440.png", full_page=True)
    page.set_viewport_size(PHONE)
    console.open("events")
    page.screenshot(path=screenshots / "events-marked-390.png", full_page=True)
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")

    page.get_by_role("button", name="Remove the mark shop 2.0").click()
    console.dialog().get_by_role("button", name="Take it back").click()
    expect(events).not_to_contain_text("shop 2.0")
