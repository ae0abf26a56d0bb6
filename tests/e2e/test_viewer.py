"""Somebody with the role viewer, real from the invitation on: every page opens, none offers a write.

The pages are those of `test_screenshots.py`, less those of the platform's operators. Every name of
a button, of a menu's item and of a form's field is known to read, or the test fails: what is new
has to be looked at once.
"""

import os
import re

import pytest
from playwright.sync_api import Page, Response, expect

from tests.e2e.pages import Console
from tests.e2e.rest import Rest
from tests.e2e.service import Address
from tests.e2e.test_screenshots import PAGES

NAME = f"e2e-viewer-{os.getpid()}"
PASSWORD = "somebody-who-looks-1"
NOT_THEIRS = re.compile("platform|invitation")
FORMS = ("new-cluster", "new-topic", "reset", "reassign")
READ_ONLY = "You may look at this, not change it"
READS = (
    "Search .+|Only .+|.+ begins with|Internal topics|State|Severity|Outcome|Sort of events",
    r"Destination|When|Load older|Older|Newest|\w+ page|The newest \d+ events in this time",
    r"Cluster( of the groups)?|topic/…, group/… or broker/…|User:.+|From|\d+|\d+ partitions?",
    "Resource's name|Type of resource|Can|Do|On|Called|From address|Check",  # asked of ACLs
    "All brokers' disks, GiB|Also for, hours",  # what a page reckons by itself
    r"(Hide|Show) events|\d+ events? in this time|Favourite: .+|Copy .+|More|Look again",
    r"List the segments|Close partition \d+|Save these offsets as a file",
    "Export|CSV(, for spreadsheets)?|Parquet|JSON lines, for programs",
)
THEIR_OWN = re.compile("(Present|New) password( again)?|Show what is typed|Change password")
"""Of their login, on the page of their profile."""


@pytest.fixture
def addresses(rest: Rest, cluster_id: str) -> dict[str, str]:
    """What there is to look at, made by others."""
    about = {"cluster_id": cluster_id, "group": "demo-fraud-check", "topic": "demo.orders"}
    run = rest.post("/api/v1/runbooks/group-losing-data/runs", about)
    operations = rest.get(f"/api/v1/operations?cluster_id={cluster_id}")["data"]
    alerts = rest.get("/api/v1/alerts")["data"]
    found = {
        "cluster": cluster_id,
        "operation": operations[0]["id"],
        "run": run["id"],
        "leased": "demo.payments",
    }
    # There is none yet when no other test ran before.
    return found | ({"alert": alerts[0]["id"]} if alerts else {})


@pytest.fixture
def refusals(stranger: Page) -> list[str]:
    """Answers of 403 to whatever the pages asked by themselves."""
    found: list[str] = []

    def note(answer: Response) -> None:
        if answer.status == 403:
            found.append(f"{answer.request.method} {answer.url} on {stranger.url}")

    stranger.on("response", note)
    return found


def test_a_viewer_sees_every_page_and_is_offered_no_write(
    stranger: Page,
    rest: Rest,
    address: Address,
    addresses: dict[str, str],
    refusals: list[str],
) -> None:
    join(stranger, rest)
    assert is_refused(stranger, address, addresses["cluster"])
    nav = stranger.get_by_role("navigation", name="Main")
    expect(nav.get_by_role("link", name="Platform")).to_have_count(0)
    offered: dict[str, set[str]] = {}
    console = Console(stranger, addresses["cluster"])
    for name, path in PAGES.items():
        if NOT_THEIRS.search(name) or (name == "alert" and "alert" not in addresses):
            continue
        stranger.goto(path.format(**addresses))
        console.settled()
        if name in FORMS:
            expect(stranger.get_by_text(READ_ONLY)).to_be_visible()
        for each in controls(stranger):
            is_theirs = name == "profile" and THEIR_OWN.fullmatch(each)
            if not is_theirs and not any(re.fullmatch(one, each) for one in READS):
                offered.setdefault(each, set()).add(name)
    assert offered == {}
    assert refusals == []


def join(page: Page, rest: Rest) -> None:
    """By the link that an owner hands out."""
    invitation = rest.post("/api/v1/invitations", {"role": "viewer", "note": "looks around"})
    page.goto(invitation["path"])
    expect(page.get_by_text("You will be viewer of")).to_be_visible()
    page.get_by_label("User name").fill(NAME)
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Join", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()


def is_refused(page: Page, address: Address, cluster_id: str) -> bool:
    """That this is no owner who only looks like a viewer."""
    rest = Rest(page.context, address.url)
    rest.refresh_token()
    with pytest.raises(AssertionError, match="403"):
        rest.run("topic.create", cluster_id, name="not-theirs", partitions=1, replication_factor=1)
    return True


def controls(page: Page) -> list[str]:
    """Names of what can be pressed in the page's own part, of what its menus hold, of its fields."""
    main = page.get_by_role("main")
    names: list[str] = main.evaluate(_NAMES)
    for opener in main.locator("[aria-haspopup=menu]:visible").all():
        opener.click()
        items = page.get_by_role("menuitem")
        expect(items.first).to_be_visible()
        names.extend(items.all_inner_texts())
        page.keyboard.press("Escape")
        expect(items).to_have_count(0)
    return names


# Without headings that sort, tabs, choices of what is shown, and numbers that say their exact value.
_NAMES = """(main) => [...main.querySelectorAll(
    "button, [role=button], [role=menuitem], input, select, textarea")]
  .filter((one) => one.checkVisibility() && !one.disabled && one.type !== "hidden")
  .filter((one) => !one.closest("th, [role=tablist], [role=radiogroup], [aria-hidden=true]"))
  .filter((one) => !one.closest(".ps-exact, .mantine-Stepper-root"))
  .map((one) => (one.getAttribute("aria-label") || one.labels?.[0]?.textContent
    || one.textContent || one.id || one.outerHTML).trim())"""
