"""One service, one browser, one signed-in session; a fresh page for each test."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

from tests.controlplane.live.clients import Clients
from tests.e2e import journeys
from tests.e2e.pages import Console
from tests.e2e.rest import Rest
from tests.e2e.service import REPOSITORY, Address, LocalService

CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
# Two busy cores: a page's parts may take seconds, an operation a few ticks more.
PATIENCE_MS = 20_000

# The browser's own line for an answer that is an error; the page shows it, tests expect it.
REFUSED_REQUEST = re.compile(r"Failed to load resource: the server responded with a status of 4")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    ours = [item for item in items if here in item.path.parents]
    for item in ours:
        item.add_marker(pytest.mark.e2e)
    # A Spark run takes a minute or two: it is asked for first and looked at late, yet before the
    # pictures that shall show it.
    ranks = {"test_the_button_starts_a_run": 0, "test_a_run_feeds_lag_and_retention": 2}
    # The demo's slow group is behind for some minutes before an alert says so.
    late = {"test_alerts.py": 2, "test_screenshots.py": 3}
    ours.sort(key=lambda item: late.get(item.path.name, ranks.get(item.name, 1)))
    items[:] = [item for item in items if item not in ours] + ours


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalService]:
    """The service that the tests start themselves, for those that meddle with its processes."""
    if Address.from_environment() is not None:
        pytest.skip("the running service that was named is somebody else's")
    made = LocalService(tmp_path_factory.mktemp("penstock"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="session")
def address(request: pytest.FixtureRequest) -> Address:
    given = Address.from_environment()
    return given or request.getfixturevalue("service").address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    assert chromium, "Chromium is missing: deploy/local/setup.sh test installs it on Debian"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_FLAGS))
        expect.set_options(timeout=PATIENCE_MS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def signed_in(browser: Browser, address: Address) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=address.url, viewport=DESKTOP, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    Rest(context, address.url).sign_in(address.username, address.password)
    yield context
    context.close()


@pytest.fixture(scope="session")
def rest(signed_in: BrowserContext, address: Address) -> Rest:
    found = Rest(signed_in, address.url)
    found.refresh_token()
    return found


@pytest.fixture(scope="session")
def cluster_id(rest: Rest) -> str:
    clusters = {row["name"]: row for row in rest.get("/api/v1/clusters")["data"]}
    assert clusters["demo"]["phase"] == "RUNNING"
    return str(clusters["demo"]["id"])


@pytest.fixture(scope="session")
def clients(rest: Rest, cluster_id: str) -> Clients:
    """A client that may do everything under `e2e.`, made by an ordinary operation."""
    name = f"e2e-{os.getpid()}"
    acls = [
        {
            "principal": f"User:{name}",
            "operation": "ALL",
            "resource_type": kind,
            "resource_name": "e2e",
            "pattern_type": "PREFIXED",
        }
        for kind in ("TOPIC", "GROUP")
    ]
    return Clients(bootstrap_of(rest, cluster_id), rest.new_user(cluster_id, name, acls=acls))


def bootstrap_of(rest: Rest, cluster_id: str) -> str:
    return str(rest.get(f"/api/v1/clusters/{cluster_id}")["bootstrap_servers"])


@pytest.fixture
def page(signed_in: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A signed-in page. The test fails when the browser's console shows an error."""
    opened = signed_in.new_page()
    errors = watch(opened)
    file = request.path.stem.removeprefix("test_")
    name = f"{file}: {request.node.name.removeprefix('test_')}".replace("_", " ")
    with journeys.travelled(opened, name):
        yield opened
    opened.close()
    assert errors == []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if journeys.JOURNEYS:
        terminalreporter.section("journeys")
        for line in (*journeys.HEAD, *map(str, journeys.JOURNEYS)):
            terminalreporter.line(line)


@pytest.fixture
def console(page: Page, cluster_id: str) -> Console:
    return Console(page, cluster_id)


def watch(page: Page) -> list[str]:
    """What goes wrong in the page's own code, as it happens."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(f"uncaught: {error}"))
    page.on(
        "console",
        lambda message: (
            errors.append(message.text)
            if message.type == "error" and not REFUSED_REQUEST.match(message.text)
            else None
        ),
    )
    return errors


@pytest.fixture(scope="session")
def screenshots() -> Path:
    chosen = os.environ.get("PENSTOCK_E2E_SCREENSHOTS")
    directory = Path(chosen) if chosen else REPOSITORY / "build" / "screenshots"
    directory.mkdir(parents=True, exist_ok=True)
    return directory
