"""The palette and the shortcuts, by keyboard alone, in both schemes and widths."""

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.looks import look
from tests.e2e.pages import Console


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
    look(page, screenshots, "palette")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/topics/demo\.payments$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("demo.payments")


def test_shortcuts_are_listed_and_lead_somewhere(console: Console, screenshots: Path) -> None:
    page = console.page
    console.open()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    look(page, screenshots, "shortcuts")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page.get_by_role("heading", level=1)).to_have_text("Topics")
    page.keyboard.press("/")
    expect(page.get_by_label("Search topics")).to_be_focused()
