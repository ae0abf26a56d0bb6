"""The audit searched on the server and taken away as a file, with what was refused in it."""

import csv
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.e2e import accessibility
from tests.e2e.conftest import DESKTOP, PHONE
from tests.e2e.pages import Console
from tests.e2e.rest import Rest


def test_it_is_searched_and_exported(console: Console, rest: Rest, screenshots: Path) -> None:
    page = console.page
    page.goto("/audit")
    console.settled()
    page.get_by_role("combobox", name="Action begins with").or_(
        page.get_by_role("textbox", name="Action begins with")
    ).fill("cluster.create")
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"action=cluster\.create"))
    expected = rest.get("/api/v1/audit-events?action=cluster.create&page_size=100")["data"]
    assert expected
    expect(page.get_by_role("status").filter(has_text="event")).to_contain_text(str(len(expected)))
    page.get_by_role("button", name="More").first.click()
    expect(console.table("Changes").first).to_be_visible()
    for scheme in ("light", "dark"):
        accessibility.in_scheme(page, scheme)
        page.screenshot(path=screenshots / f"audit-found-1440-{scheme}.png", full_page=True)
    accessibility.in_scheme(page, "light")
    page.set_viewport_size(PHONE)
    page.screenshot(path=screenshots / "audit-found-390-light.png", full_page=True)
    assert not page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    page.set_viewport_size(DESKTOP)

    console.click("Export")
    with page.expect_download() as begun:
        page.get_by_role("menuitem", name="JSON lines").click()
    lines = Path(begun.value.path()).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == [row["id"] for row in expected]
    expect(page.get_by_text("holds every row")).to_be_visible()
    console.click("Export")
    with page.expect_download() as begun:
        page.get_by_role("menuitem", name="CSV").click()
    with Path(begun.value.path()).open(encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == [row["id"] for row in expected]

    page.reload()
    console.settled()
    assert parse_qs(urlsplit(page.url).query) == {"action": ["cluster.create"]}
    expect(page.get_by_role("status").filter(has_text="event")).to_contain_text(str(len(expected)))
    console.click("Clear filters")
    expect(page).to_have_url(re.compile("/audit$"))
