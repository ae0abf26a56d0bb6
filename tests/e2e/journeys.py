"""What each journey through the console takes: clicks, keys, seconds. Printed at the end of a run."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Page

# Of the person alone: what scripts dispatch is not trusted. A label's click is one, though two
# elements see it.
_LISTEN = """
for (const [type, what] of [["pointerdown", "click"], ["keydown", "key"]])
  addEventListener(type, (event) => event.isTrusted && window.psJourney(what), { capture: true });
"""


@dataclass(slots=True)
class Journey:
    name: str
    clicks: int = 0
    keys: int = 0
    seconds: float = 0.0

    def count(self, what: str) -> None:
        if what == "click":
            self.clicks += 1
        else:
            self.keys += 1

    def __str__(self) -> str:
        return f"| {self.name} | {self.clicks} | {self.keys} | {self.seconds:.1f} |"


JOURNEYS: list[Journey] = []
HEAD = ("| journey | clicks | keys | s |", "|---|---|---|---|")


@contextmanager
def travelled(page: Page, name: str) -> Iterator[Journey]:
    """Counts on this page, also over its navigations. One without a click or a key is none."""
    journey = Journey(name)
    page.expose_function("psJourney", lambda what: journey.count(what))  # noqa: PLW0108 - Playwright writes on what it is given
    page.add_init_script(_LISTEN)
    begun_s = time.monotonic()
    yield journey
    journey.seconds = time.monotonic() - begun_s
    if journey.clicks or journey.keys:
        JOURNEYS.append(journey)
