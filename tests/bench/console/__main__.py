"""`make bench-console`: the console in a real Chromium, over the whole service.

Bytes of the first view by type; time until data can be seen, as it is and at 1.5 Mbit/s with a
quarter of the processor; frames a second while a list of 10,000 topics scrolls; reads of an idle
page that brought nothing new; what the read models of every page take at 10,000 topics and 5,000
groups, on PostgreSQL and SQLite (`read_models`). Prints a table, saves JSON under build/bench. It judges nothing but
whether pages show their data: a loaded machine may miss a time. `PENSTOCK_E2E_URL` (with `_USER`
and `_PASSWORD`) measures a service that runs already, without the list of 10,000.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.bench.console import read_models
from tests.bench.console.browser import (
    FULL_SPEED,
    SLOW,
    Line,
    fresh_page,
    reads_while_idle,
    scroll,
    visit,
)
from tests.bench.console.figures import FIRST_VIEW, Figure, by_kind, judge_reads, percentile
from tests.e2e.conftest import CHROMIUM_FLAGS
from tests.e2e.rest import Rest
from tests.e2e.service import REPOSITORY, Address, LocalService

FIRST_VIEW_KB, SEEN_MS, SLOW_SEEN_MS, FRAMES_PER_S = 200.0, 1_500.0, 4_000.0, 60.0
HEADLESS_FRAMES_PER_S = 58.0
"""What a screen of 60 counts as, over a few seconds."""
VISITS, SLOW_VISITS = 5, 3
SCROLL_MS, IDLE_S = 4_000, 60.0
FILL_TIMEOUT_S = 300
OVERVIEW = ("/", 'table[aria-label="Clusters"] tbody td')
TOPICS = 'table[aria-label="Topics"] tbody td'
SAVED = REPOSITORY / "build" / "bench" / "console.json"


class Bench:
    def __init__(self, browser: Browser, signed_in: BrowserContext, address: Address) -> None:
        self.browser, self.signed_in, self.address = browser, signed_in, address
        self.large: str | None = None
        self.figures: list[Figure] = []

    def add(self, figure: Figure) -> None:
        self.figures.append(figure)
        print(figure.line(), flush=True)

    def first_view(self) -> None:
        with fresh_page(self.browser, self.signed_in, self.address.url) as page:
            _, sizes = visit(page, *OVERVIEW, FULL_SPEED)
            page.wait_for_load_state("load")
            kinds = by_kind(sizes.loaded)
        for kind, size in sorted(kinds.items(), key=lambda row: -row[1]):
            self.add(Figure(f"first view: {kind}", size / 1000, "kB"))
        total = sum(kinds.get(kind, 0) for kind in FIRST_VIEW)
        self.add(
            Figure("first view: page, scripts, styles, fonts", total / 1000, "kB", FIRST_VIEW_KB)
        )

    def seen(self) -> None:
        what = "data can be seen"
        self._seen(what, OVERVIEW, FULL_SPEED, VISITS, SEEN_MS)
        self._seen(f"{what}, 1.5 Mbit/s, CPU / 4", OVERVIEW, SLOW, SLOW_VISITS, SLOW_SEEN_MS)

    def _seen(
        self, what: str, view: tuple[str, str], line: Line, visits: int, limit_ms: float
    ) -> None:
        times = []
        for _ in range(visits):
            with fresh_page(self.browser, self.signed_in, self.address.url) as page:
                took_ms, _ = visit(page, *view, line)
                times.append(took_ms)
        self.add(Figure(f"{what}, median of {visits}", statistics.median(times), "ms", limit_ms))
        self.add(Figure(f"{what}, slowest", max(times), "ms"))

    def scrolling(self) -> None:
        if self.large is None:
            print("scrolling: left out, the service is somebody else's", flush=True)
            return
        view = (f"/clusters/{self.large}/topics", TOPICS)
        what = "list of 10,000 topics: first rows"
        self._seen(what, view, FULL_SPEED, VISITS, SEEN_MS)
        self._seen(f"{what}, 1.5 Mbit/s, CPU / 4", view, SLOW, SLOW_VISITS, SLOW_SEEN_MS)
        with fresh_page(self.browser, self.signed_in, self.address.url) as page:
            visit(page, *view, FULL_SPEED)
            drawn = page.locator(TOPICS.replace(" td", " tr")).count()
            per_s, between = scroll(page, SCROLL_MS)
        self.add(Figure("list of 10,000 topics: rows drawn at a time", drawn, "rows"))
        self.add(
            Figure(
                "list of 10,000 topics: scrolling", per_s, "frames/s", HEADLESS_FRAMES_PER_S, True
            )
        )
        self.add(Figure("list of 10,000 topics: frame, p95", percentile(between, 0.95), "ms"))

    def idle(self) -> None:
        with fresh_page(self.browser, self.signed_in, self.address.url) as page:
            visit(page, *OVERVIEW, FULL_SPEED)
            reads = judge_reads(reads_while_idle(page, IDLE_S))
        self.add(Figure("idle for 60 s: reads", reads.total, "reads"))
        self.add(
            Figure("idle for 60 s: reads that brought nothing new", reads.nothing_new, "reads")
        )
        self.add(Figure("idle for 60 s: of these answered 304", reads.not_modified, "reads"))

    def read_models(self) -> None:
        """Over tables of their own, without a browser; a table for each database."""
        for row in read_models.report():
            what = f"{row['database']}: {row['page']}, p95"
            self.figures.append(Figure(what, row["p95_ms"], "ms", row["limit_ms"]))


FIGURES: dict[str, Callable[[Bench], None]] = {
    "first-view": Bench.first_view,
    "seen": Bench.seen,
    "scrolling": Bench.scrolling,
    "idle": Bench.idle,
    "read-models": Bench.read_models,
}


@contextmanager
def service() -> Iterator[tuple[Address, LocalService | None]]:
    if (given := Address.from_environment()) is not None:
        yield given, None
        return
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as directory:
        made = LocalService(Path(directory))
        try:
            made.start()
            yield made.address, made
        finally:
            made.stop()


def fill(of: LocalService, tenant_slug: str) -> str:
    command = [sys.executable, "-m", "tests.bench.console.fill", tenant_slug]
    ended = subprocess.run(
        command,
        cwd=REPOSITORY,
        env=of.child_environment(),
        capture_output=True,
        text=True,
        timeout=FILL_TIMEOUT_S,
        check=False,
    )
    if ended.returncode:
        raise SystemExit(f"the large cluster was not made:\n{ended.stdout}\n{ended.stderr}")
    return ended.stdout.split()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-console")
    parser.add_argument("--only", default="", help=f"of: {', '.join(FIGURES)}")
    only = [name for name in parser.parse_args().only.split(",") if name] or list(FIGURES)
    if unknown := set(only) - set(FIGURES):
        parser.error(f"no such figure: {', '.join(sorted(unknown))}")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("Chromium is missing: deploy/local/setup.sh test installs it on Debian")
    load_before = os.getloadavg()[0]
    with service() as (address, own), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_FLAGS))
        signed_in = browser.new_context(base_url=address.url)
        rest = Rest(signed_in, address.url)
        rest.sign_in(address.username, address.password)
        bench = Bench(browser, signed_in, address)
        if own is not None and "scrolling" in only:
            bench.large = fill(own, rest.get("/console/api/session")["tenant"]["slug"])
        for name in only:
            FIGURES[name](bench)
        browser.close()
    print(f"load average {load_before:.1f} before, {os.getloadavg()[0]:.1f} after", flush=True)
    SAVED.parent.mkdir(parents=True, exist_ok=True)
    SAVED.write_text(json.dumps([asdict(figure) for figure in bench.figures], indent=2))
    print(f"saved {SAVED.relative_to(REPOSITORY)}")


if __name__ == "__main__":
    main()
