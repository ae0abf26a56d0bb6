"""The console as its tests speak of it: pages by name, plans reviewed and confirmed."""

import re
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

# Enough for an operation on a busy machine: the queue's slowest way is a sweep every 5 s.
OPERATION_MS = 60_000


class Console:
    def __init__(self, page: Page, cluster_id: str) -> None:
        self.page = page
        self.cluster_id = cluster_id

    def open(self, where: str = "") -> None:
        """A page of the cluster: `topics`, `groups/demo-billing`; empty is the cluster itself."""
        self.page.goto(f"/clusters/{self.cluster_id}/{where}".rstrip("/"))
        self.settled()

    def visit(self, name: str) -> None:
        """By links, as somebody goes from anywhere: the cluster, then its page in the navigation."""
        if self.page.url == "about:blank":
            self.page.goto("/")
        if f"/clusters/{self.cluster_id}" not in self.page.url:
            rows = self.table("Clusters").get_by_role("link", name="demo", exact=True)
            rows.click()
        self.page.get_by_role("navigation", name="Main").get_by_role(
            "link", name=name, exact=True
        ).click()
        self.settled()

    def find_topic(self, name: str) -> None:
        """By the list's search, as one finds one of many."""
        self.visit("Topics")
        self._find("Search topics", "Topics", name)

    def find_group(self, name: str) -> None:
        self.visit("Consumer groups")
        self._find("Search groups", "Consumer groups", name)

    def _find(self, search: str, table: str, name: str) -> None:
        self.page.get_by_label(search).fill(name)
        # The address has it a moment later, and would lead back here.
        expect(self.page).to_have_url(re.compile("q="))
        self.row(table, name).get_by_role("link", name=name, exact=True).click()
        expect(self.page.get_by_role("heading", level=1)).to_have_text(name)
        self.settled()

    def settled(self) -> None:
        """Every part is there: no placeholder is left, and the page has its heading."""
        expect(self.page.get_by_role("heading", level=1)).to_be_visible()
        expect(self.page.locator("[aria-busy=true], .mantine-Skeleton-root")).to_have_count(0)

    def table(self, label: str) -> Locator:
        return self.page.get_by_role("table", name=label, exact=True)

    def row(self, label: str, text: str) -> Locator:
        return self.table(label).get_by_role("row").filter(has_text=text)

    def figure(self, label: str) -> Locator:
        """A key figure's value and note."""
        return self.page.locator(".ps-stat").filter(has_text=label).locator("dd")

    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")

    def click(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def choose_from_menu(self, button: str, item: str) -> None:
        self.click(button)
        self.page.get_by_role("menuitem", name=item).click()

    def plan(self) -> Locator:
        """The plan under review; nothing has been changed by then."""
        plan = self.page.get_by_role("form", name="Plan")
        expect(plan).to_contain_text("Nothing has been changed yet")
        return plan

    def confirm(self) -> str:
        """Confirm the plan, watch its steps, return the verified operation's id."""
        self.press_confirm()
        return self.verified()

    def press_confirm(self) -> None:
        """Confirm the plan; a risky one asks for a name, which is typed."""
        phrase = self.page.get_by_test_id("confirm-phrase")
        if phrase.count():
            label = self.page.get_by_text(re.compile("^Type "))
            phrase.fill(label.locator(".ps-mono").inner_text())
        self.page.get_by_test_id("confirm-plan").click()

    def verified(self) -> str:
        live = self.page.get_by_test_id("operation-live")
        self.ends_well(live)
        expect(live.get_by_text("Verified", exact=True)).to_be_visible()
        # Every step that is shown has its tick.
        steps = live.get_by_role("list", name="Steps").get_by_role("listitem")
        expect(steps.first).to_be_visible()
        done = steps.filter(has=self.page.get_by_label("done", exact=True))
        expect(done).to_have_count(steps.count())
        link = live.get_by_role("link", name="Open operation").get_attribute("href")
        assert link
        return link.rsplit("/", 1)[-1]

    def ends_well(self, live: Locator) -> None:
        expect(live).to_have_attribute("data-state", "succeeded", timeout=OPERATION_MS)

    def close_dialog(self) -> None:
        self.page.keyboard.press("Escape")
        expect(self.dialog()).to_have_count(0)


def topic_path(cluster_id: str, topic: str) -> str:
    return f"/api/v1/clusters/{cluster_id}/topics/{quote(topic, safe='')}"


def group_path(cluster_id: str, group: str) -> str:
    return f"/api/v1/clusters/{cluster_id}/groups/{quote(group, safe='')}"


def grouped(number: Any) -> str:
    """1234567 as the console writes it."""
    return f"{number:,}"
