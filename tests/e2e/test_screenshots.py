"""Every page in both widths, for people to look at; some in dark too, all when asked.

What a machine can see is asserted: nothing sticks out sideways, no error in the console; of the
pages in `LOOKED_AT` also what axe finds in both widths and schemes, and a walk by Tab.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.e2e import accessibility
from tests.e2e.conftest import DESKTOP, PHONE
from tests.e2e.pages import Console
from tests.e2e.rest import Rest, wait_for
from tests.e2e.service import Address

WIDTHS: dict[str, ViewportSize] = {"1440": DESKTOP, "390": PHONE}
# A picture of a tall page takes about a second: dark is a matter of colours, which few pages show.
DARK = {"overview", "topic", "group", "operation", "login"}
ALL = os.environ.get("PENSTOCK_E2E_SCREENSHOTS_ALL") == "1"

PAGES = {
    "overview": "/",
    "new-cluster": "/clusters/new",
    "cluster": "/clusters/{cluster}",
    "events": "/clusters/{cluster}/events",
    "broker": "/clusters/{cluster}/brokers/1",
    "broker-settings": "/clusters/{cluster}/brokers/1?tab=settings",
    "broker-directories": "/clusters/{cluster}/brokers/1?tab=directories",
    "broker-log": "/clusters/{cluster}/brokers/1?tab=log",
    "access-denied": "/clusters/{cluster}/access?tab=denied",
    "topic-partition": "/clusters/{cluster}/topics/demo.orders?partition=0",
    "topics": "/clusters/{cluster}/topics",
    "new-topic": "/clusters/{cluster}/new-topic",
    "topic": "/clusters/{cluster}/topics/demo.orders",
    "messages": "/clusters/{cluster}/topics/demo.orders/messages",
    "schema-registry": "/clusters/{cluster}/schema-registry",
    "topic-configuration": "/clusters/{cluster}/topics/demo.orders?tab=configuration",
    "topic-clients": "/clusters/{cluster}/topics/demo.orders?tab=clients",
    "groups": "/clusters/{cluster}/groups",
    "group": "/clusters/{cluster}/groups/demo-fraud-check",
    "group-members": "/clusters/{cluster}/groups/demo-fraud-check?tab=members",
    "reset": "/clusters/{cluster}/groups/demo-fraud-check/reset",
    "access": "/clusters/{cluster}/access",
    "access-acls": "/clusters/{cluster}/access?tab=acls",
    "access-matrix": "/clusters/{cluster}/access?tab=matrix",
    "access-drift": "/clusters/{cluster}/access?tab=drift",
    "access-quotas": "/clusters/{cluster}/access?tab=quotas",
    "access-check": "/clusters/{cluster}/access?tab=check&who=User:demo-app&op=DELETE&type=TOPIC&name=x",
    "reassign": "/clusters/{cluster}/reassign?topic=demo.orders",
    "drift": "/clusters/{cluster}/drift",
    "analytics": "/clusters/{cluster}/analytics",
    "alerts": "/alerts",
    "alert-rules": "/alerts?tab=rules",
    "alert-silences": "/alerts?tab=silences",
    "destinations": "/destinations",
    "deliveries": "/destinations?tab=deliveries",
    "runbooks": "/runbooks",
    "runbook": "/runbooks/group-losing-data",
    "alert": "/alerts/{alert}",
    "runbook-run": "/runbooks/group-losing-data?run={run}",
    "topic-leased": "/clusters/{cluster}/topics/{leased}",
    "objectives": "/objectives",
    "tenant-usage": "/usage",
    "usage": "/clusters/{cluster}/usage",
    "topic-analyses": "/clusters/{cluster}/topics/demo.orders?tab=analyses",
    "group-analyses": "/clusters/{cluster}/groups/demo-fraud-check?tab=analyses",
    "operations": "/operations",
    "operation": "/operations/{operation}",
    "audit": "/audit",
    "settings": "/settings",
    "settings-accounts": "/settings?tab=accounts",
    "profile": "/profile",
    "platform": "/platform",
    "platform-users": "/platform?tab=users",
    "platform-hosts": "/platform?tab=hosts",
    "platform-host": "/platform/hosts/host-1",
    "platform-notifications": "/platform?tab=notifications",
    "platform-backfills": "/platform?tab=backfills",
    "invitation": "/invitation",
    "nowhere": "/there-is-no-such-page",
}
LOOKED_AT = {
    "cluster",
    "platform-host",
    "platform-hosts",
    "platform-notifications",
    "access-drift",
    "events",
    "broker",
    "broker-settings",
    "broker-log",
    "access-denied",
    "topic-partition",
    "messages",
    "schema-registry",
    "topics",
    "reset",
    "reassign",
    "drift",
    "access",
    "access-matrix",
    "access-quotas",
    "access-check",
    "alerts",
    "alert",
    "alert-rules",
    "alert-silences",
    "destinations",
    "deliveries",
    "runbooks",
    "runbook",
    "runbook-run",
    "topic-clients",
    "topic-configuration",
    "topic-leased",
    "usage",
    "topic-analyses",
    "group-analyses",
    "objectives",
    "tenant-usage",
    "platform-backfills",
}
# Forms over a page, by their page and the button that opens them.
DIALOGS = {
    "add-brokers": ("cluster", "Add brokers"),
    "self-healing": ("cluster", "Change"),
    "host-drain": ("platform-host", "Drain"),
    "host-declare-lost": ("platform-host", "Declare lost"),
    "quotas-form": ("access-quotas", "Set quotas"),
}
LEASED = f"e2e.leased-{os.getpid()}"
HOUR_MS = 3_600_000
# Nothing when the other tests ran before.
ALERT_WAIT_S = 240


@pytest.fixture(scope="module")
def addresses(rest: Rest, cluster_id: str) -> Iterator[dict[str, str]]:
    """What stands in the addresses: a topic under a lease and a run of a runbook are made for it."""
    operations = rest.get(f"/api/v1/operations?cluster_id={cluster_id}")["data"]
    about = {"cluster_id": cluster_id, "group": "demo-fraud-check", "topic": "demo.orders"}
    run = rest.post("/api/v1/runbooks/group-losing-data/runs", about)
    rest.run("topic.create", cluster_id, name=LEASED, partitions=1, replication_factor=3)
    rest.run(
        "topic.retention_lease",
        cluster_id,
        name=LEASED,
        retention_ms=400 * HOUR_MS,
        for_s=3600,
        reason="pictures",
    )
    yield {
        "cluster": cluster_id,
        "operation": operations[0]["id"],
        "run": run["id"],
        "leased": LEASED,
    }
    rest.run("topic.delete", cluster_id, name=LEASED)


def an_alert(rest: Rest) -> str:
    """Of any state, they have the same page: the demo's slow group has one after some minutes."""
    alerts = wait_for(lambda: rest.get("/api/v1/alerts")["data"], ALERT_WAIT_S)
    return str(alerts[0]["id"])


@pytest.mark.parametrize("name", PAGES)
def test_the_page_fits(
    page: Page, rest: Rest, addresses: dict[str, str], screenshots: Path, name: str
) -> None:
    if name == "alert":
        addresses = {**addresses, "alert": an_alert(rest)}
    page.goto(PAGES[name].format(**addresses))
    Console(page, addresses["cluster"]).settled()
    if name == "messages":
        # The search that the page begins by itself has ended, and what cancels it is gone.
        expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)
        expect(page.get_by_role("table", name="Messages").locator("tbody tr").first).to_be_visible()
    if name in LOOKED_AT:
        missed, unseen = accessibility.walk(page)
        assert (missed, unseen) == ([], []), "not reached by Tab, or without a visible focus"
    axe = accessibility.axe_source() if name in LOOKED_AT else None
    photograph(page, screenshots, name, axe)


@pytest.mark.parametrize("name", DIALOGS)
def test_the_dialog_fits(
    page: Page, addresses: dict[str, str], screenshots: Path, name: str
) -> None:
    behind, button = DIALOGS[name]
    page.goto(PAGES[behind].format(**addresses))
    console = Console(page, addresses["cluster"])
    console.settled()
    console.click(button)
    expect(console.dialog()).to_be_visible()
    console.settled()
    photograph(page, screenshots, name, accessibility.axe_source())
    console.close_dialog()


def test_the_sign_in_fits(browser: Browser, address: Address, screenshots: Path) -> None:
    context = browser.new_context(base_url=address.url, viewport=DESKTOP)
    page = context.new_page()
    page.goto("/")
    page.wait_for_url(re.compile("/login"))
    page.get_by_role("button", name="Sign in").wait_for()
    photograph(page, screenshots, "login")
    context.close()


def photograph(page: Page, directory: Path, name: str, axe: str | None = None) -> None:
    """The page as it is now, in each width and its schemes; in the end it is as it was."""
    for width, size in WIDTHS.items():
        page.set_viewport_size(size)
        # As tall as its content, so that what is fixed to the window's edges reaches them.
        height = max(size["height"], page.evaluate("document.documentElement.scrollHeight"))
        page.set_viewport_size({**size, "height": height})
        for scheme in schemes(name):
            accessibility.in_scheme(page, scheme)
            page.screenshot(path=directory / f"{name}-{width}-{scheme}.png", animations="disabled")
            if axe is not None:
                assert accessibility.violations(page, axe) == [], f"{name}, {width} px, {scheme}"
        assert not sticks_out(page), f"{name} is wider than {width} px"
    page.set_viewport_size(DESKTOP)
    accessibility.in_scheme(page, "light")


def schemes(name: str) -> tuple[Literal["light", "dark"], ...]:
    return ("light", "dark") if ALL or name in DARK | LOOKED_AT | {*DIALOGS} else ("light",)


def sticks_out(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))
