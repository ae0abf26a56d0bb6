"""The palette and the shortcuts, by keyboard alone, in both schemes and widths."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.e2e import accessibility
from tests.e2e.conftest import DESKTOP, PHONE
from tests.e2e.pages import Console


def look(page: Page, axe: str, directory: Path, name: str) -> None:
    for size in (DESKTOP, PHONE):
        page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            # Ends the transitions between the schemes' colours, of which axe would see the middle.
            path = directory / f"{name}-{size['width']}-{scheme}.png"
            page.screenshot(path=path, animations="disabled")
            found = accessibility.violations(page, axe)
            assert found == [], f"{name}, {size['width']} px, {scheme}"
    page.set_viewport_size(DESKTOP)


def test_a_topic_is_found_by_keyboard(console: Console, screenshots: Path) -> None:
    page = console.page
    page.goto("/")
    console.settled()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search and go to")
    expect(field).to_be_focused()
    page.keyboard.type("demo.paym")
    topic = page.get_by_role("option").filter(has_text="demo.payments").first
    expect(topic).to_be_visible()
    look(page, accessibility.axe_source(), screenshots, "palette")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/topics/demo\.payments$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("demo.payments")


def test_shortcuts_are_listed_and_lead_somewhere(console: Console, screenshots: Path) -> None:
    page = console.page
    console.open()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    look(page, accessibility.axe_source(), screenshots, "shortcuts")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page.get_by_role("heading", level=1)).to_have_text("Topics")
    page.keyboard.press("/")
    expect(page.get_by_label("Search topics")).to_be_focused()
