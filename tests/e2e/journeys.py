"""What each journey through the console takes: clicks, keys, seconds. One table at the end of a run."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Page

# Of the person alone: what scripts dispatch is not trusted. A label's click is one, though two
# elements see it. Text that comes without keys, as Playwright fills a field, counts a key a letter.
_LISTEN = """
let pressed = false;
const tell = (what, count) => count > 0 && window.psJourney(what, count);
addEventListener("pointerdown", (event) => event.isTrusted && tell("click", 1), { capture: true });
addEventListener("keyup", () => { pressed = false; }, { capture: true });
addEventListener("keydown", (event) => {
  if (!event.isTrusted) return;
  pressed = true;
  tell("key", 1);
}, { capture: true });
addEventListener("input", (event) => {
  if (event.isTrusted && !pressed && event.inputType?.startsWith("insert"))
    tell("key", event.data?.length ?? event.target.value?.length ?? 0);
}, { capture: true });
"""
HEAD = ("| journey | from | clicks | keys | s | on the way, s |", "|---|---|---|---|---|---|")
NONE = "–"


@dataclass(slots=True)
class Journey:
    """`begins` is where: at the login, or on a page of somebody who is signed in.

    `seen` are what was noted on the way, with the seconds until then.
    """

    name: str
    begins: str
    clicks: int = 0
    keys: int = 0
    seconds: float = 0.0
    seen: list[str] = field(default_factory=list)
    begun_s: float = field(default_factory=time.monotonic)

    def count(self, what: str, number: int = 1) -> None:
        if what == "click":
            self.clicks += number
        else:
            self.keys += number

    @property
    def so_far_s(self) -> float:
        return time.monotonic() - self.begun_s

    def begin_again(self) -> None:
        """Nothing before counts: only now somebody sets out."""
        self.clicks, self.keys, self.begun_s = 0, 0, time.monotonic()

    def note(self, what: str, seconds: float | None = None) -> None:
        """What has been reached, after the journey's own seconds unless others are given."""
        self.seen.append(f"{what} {self.so_far_s if seconds is None else seconds:.1f}")

    def __str__(self) -> str:
        figures = f"{self.clicks} | {self.keys} | {self.seconds:.1f}"
        return f"| {self.name} | {self.begins} | {figures} | {', '.join(self.seen) or NONE} |"


JOURNEYS: list[Journey] = []
_UNDER_WAY: dict[Page, Journey] = {}


def of(page: Page) -> Journey:
    """The journey that goes over this page."""
    return _UNDER_WAY[page]


@contextmanager
def travelled(page: Page, name: str, *, begins: str, told: bool = True) -> Iterator[Journey]:
    """Counts on this page, also over its navigations. One without a click or a key is none, and
    one that is not to be `told` is only counted.
    """
    journey = Journey(name, begins)
    _UNDER_WAY[page] = journey
    page.expose_function("psJourney", lambda what, number: journey.count(what, number))  # noqa: PLW0108 - Playwright writes on what it is given
    page.add_init_script(_LISTEN)
    yield journey
    del _UNDER_WAY[page]
    journey.seconds = journey.so_far_s
    if told and (journey.clicks or journey.keys):
        JOURNEYS.append(journey)


def table(journeys: Sequence[Journey]) -> list[str]:
    """From the login first, then by name: as it is printed and saved."""
    ordered = sorted(journeys, key=lambda one: (one.begins != "login", one.name))
    return [*HEAD, *map(str, ordered)]


def save(journeys: Sequence[Journey]) -> Path | None:
    """Where `PENSTOCK_E2E_JOURNEYS` says, if it says so."""
    chosen = os.environ.get("PENSTOCK_E2E_JOURNEYS")
    if not chosen:
        return None
    path = Path(chosen)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(table(journeys)) + "\n", encoding="utf-8")
    return path
