"""One service, one browser, one signed-in session; a fresh page for each test."""

import contextlib
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
PICTURES = "test_screenshots.py"

# The browser's own line for an answer that is an error; the page shows it, tests expect it.
# What a test itself drops on the way is `ERR_FAILED`; a server that is away has other words.
REFUSED_REQUEST = re.compile(
    r"Failed to load resource: (the server responded with a status of 4|net::ERR_FAILED)"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    ours = [item for item in items if here in item.path.parents]
    for item in ours:
        item.add_marker(pytest.mark.e2e)
    # A Spark run takes a minute or two: it is asked for first and looked at late, yet before the
    # pictures that shall show it.
    ranks = {"test_the_button_starts_a_run": 0, "test_a_run_feeds_lag_and_retention": 2}
    # The demo's slow group is behind for some minutes before an alert says so.
    late = {"test_alerts.py": 2, "test_viewer.py": 3, PICTURES: 3}
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
    with opened(signed_in, request, begins="signed in") as page:
        yield page


@pytest.fixture(scope="session")
def strangers(browser: Browser, address: Address) -> Iterator[BrowserContext]:
    """A browser for those who come in by the form: it has loaded the console before."""
    context = browser.new_context(base_url=address.url, viewport=DESKTOP, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture
def stranger(strangers: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page that nobody is signed in on: a journey from the login."""
    strangers.clear_cookies()
    with opened(strangers, request, begins="login") as page:
        yield page


@contextlib.contextmanager
def opened(
    context: BrowserContext,
    request: pytest.FixtureRequest,
    begins: str,
    expected: re.Pattern[str] = REFUSED_REQUEST,
) -> Iterator[Page]:
    page = context.new_page()
    errors = watch(page, expected)
    file = request.path.stem.removeprefix("test_")
    name = f"{file}: {request.node.name.removeprefix('test_')}".replace("_", " ")
    # Who walks over every page by Tab for its pictures is on no journey.
    told = request.path.name != PICTURES
    with journeys.travelled(page, name, begins=begins, told=told):
        yield page
    page.close()
    assert errors == []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not journeys.JOURNEYS:
        return
    terminalreporter.section("journeys")
    for line in journeys.table(journeys.JOURNEYS):
        terminalreporter.line(line)
    if (saved := journeys.save(journeys.JOURNEYS)) is not None:
        terminalreporter.line(f"saved as {saved}")


@pytest.fixture
def console(page: Page, cluster_id: str) -> Console:
    return Console(page, cluster_id)


@pytest.fixture
def arrived(stranger: Page, address: Address, cluster_id: str) -> Console:
    """Somebody who has just come in by the form and sees the overview."""
    sign_in(stranger, address)
    return Console(stranger, cluster_id)


def sign_in(page: Page, address: Address) -> None:
    page.goto("/")
    page.get_by_label("User name").fill(address.username)
    page.get_by_role("textbox", name="Password").fill(address.password)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()


def watch(page: Page, expected: re.Pattern[str] = REFUSED_REQUEST) -> list[str]:
    """What goes wrong in the page's own code, as it happens."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(f"uncaught: {error}"))
    page.on(
        "console",
        lambda message: (
            errors.append(message.text)
            if message.type == "error" and not expected.match(message.text)
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
