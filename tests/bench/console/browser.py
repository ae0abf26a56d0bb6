"""What a real Chromium is asked to measure, by its own protocol (CDP) and inside the page."""

import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, Response

from tests.bench.console.figures import Read

SEEN_MS = 90_000
"""Longest wait for data on a slow line."""
IDLE_CHECK_MS = 500
SEEN_CHECK_MS = 200

# Set before any script of the page runs: when the first cell of a table was there, in the page's
# own time, so that what this process is doing meanwhile does not count.
WATCH = """
(() => {
  const look = () => {
    if (window.__seenAt || !document.querySelector(%r)) return;
    requestAnimationFrame(() => { window.__seenAt = window.__seenAt || performance.now(); });
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
})();
"""
SCROLL = """
async (forMs) => {
  const frames = [];
  const began = performance.now();
  let down = true;
  await new Promise((done) => {
    const frame = (now) => {
      frames.push(now);
      if (performance.now() - began > forMs) return done();
      const before = window.scrollY;
      window.scrollBy(0, down ? 140 : -140);
      if (window.scrollY === before) down = !down;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  return frames;
}
"""


class Line:
    """A line and a processor slower than this machine's."""

    def __init__(
        self, *, bits_per_s: int = 0, latency_ms: int = 0, cpu_times_slower: int = 1
    ) -> None:
        self.bits_per_s, self.latency_ms = bits_per_s, latency_ms
        self.cpu_times_slower = cpu_times_slower

    def put_on(self, session: CDPSession) -> None:
        if self.bits_per_s:
            session.send(
                "Network.emulateNetworkConditions",
                {
                    "offline": False,
                    "latency": self.latency_ms,
                    "downloadThroughput": self.bits_per_s / 8,
                    "uploadThroughput": self.bits_per_s / 16,
                },
            )
        if self.cpu_times_slower > 1:
            session.send("Emulation.setCPUThrottlingRate", {"rate": self.cpu_times_slower})


FULL_SPEED = Line()
SLOW = Line(bits_per_s=1_500_000, latency_ms=40, cpu_times_slower=4)
"""1.5 Mbit/s and a quarter of this processor."""


class Sizes:
    """Bytes as sent, headers included, of everything that a page loads."""

    def __init__(self, session: CDPSession) -> None:
        self._kinds: dict[str, str] = {}
        self.loaded: list[tuple[str, int]] = []
        session.on("Network.responseReceived", self._received)
        session.on("Network.loadingFinished", self._finished)

    def _received(self, event: dict[str, Any]) -> None:
        self._kinds[event["requestId"]] = event["type"]

    def _finished(self, event: dict[str, Any]) -> None:
        kind = self._kinds.get(event["requestId"], "Other")
        self.loaded.append((kind, int(event["encodedDataLength"])))


@contextmanager
def fresh_page(browser: Browser, signed_in: BrowserContext, url: str) -> Iterator[Page]:
    """Signed in, and nothing kept of any earlier visit."""
    context = browser.new_context(
        base_url=url,
        storage_state=signed_in.storage_state(),
        viewport={"width": 1440, "height": 900},
    )
    try:
        yield context.new_page()
    finally:
        context.close()


def visit(page: Page, path: str, selector: str, line: Line) -> tuple[float, Sizes]:
    """Opens the path; ms until `selector` was first painted, and what was loaded by then."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    sizes = Sizes(session)
    line.put_on(session)
    page.add_init_script(WATCH % selector)
    page.goto(path, wait_until="commit", timeout=SEEN_MS)
    return seen_at_ms(page), sizes


def seen_at_ms(page: Page) -> float:
    """In the page's time. It is asked again and again: what waits inside needs `eval`, which the
    page's security policy forbids.
    """
    ends_s = time.monotonic() + SEEN_MS / 1000
    while time.monotonic() < ends_s:
        if seen_at := page.evaluate("window.__seenAt"):
            return float(seen_at)
        page.wait_for_timeout(SEEN_CHECK_MS)
    raise SystemExit(f"{page.url} showed no data within {SEEN_MS / 1000:.0f} s")


def scroll(page: Page, for_ms: int) -> tuple[float, list[float]]:
    """Frames a second, and the time between frames, ms, while the page scrolls to and fro."""
    moments: list[float] = page.evaluate(SCROLL, for_ms)
    between = [later - earlier for earlier, later in itertools.pairwise(moments)]
    return 1000 * len(between) / max(1.0, moments[-1] - moments[0]), between


def reads_while_idle(page: Page, for_s: float) -> list[Read]:
    """Every read of data that the page makes by itself."""
    found: list[Response] = []

    def keep(response: Response) -> None:
        if "/api/" in response.url and response.request.resource_type in {"fetch", "xhr"}:
            found.append(response)

    page.on("response", keep)
    ends_s = time.monotonic() + for_s
    while time.monotonic() < ends_s:
        page.wait_for_timeout(IDLE_CHECK_MS)
    page.remove_listener("response", keep)
    return [
        Read(each.url, each.status, None if each.status == 304 else each.body()) for each in found
    ]
