"""Bad luck and bad input in a real browser: answers that are lost, somebody else who is quicker,
streams that drop, messages and names that are meant to do harm.
"""

import json
import os
import re
import signal
import urllib.parse
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from tests.controlplane.live.clients import Clients
from tests.e2e.conftest import DESKTOP, PHONE, opened
from tests.e2e.pages import OPERATION_MS, Console, group_path, topic_path
from tests.e2e.rest import Rest, wait_for
from tests.e2e.test_screenshots import sticks_out
from tests.processes import hold_still

TOPIC = f"e2e.luck-{os.getpid()}"
HOUR_MS = 3_600_000
MIB = 1 << 20
# What the page draws of one message; the rest is copied, not laid out.
DRAWN = 200_000
# What the browser itself says of such an answer.
UNAVAILABLE = re.compile(r"Failed to load resource: the server responded with a status of 503")
# Each takes seconds while a broker is silent: more than its session lasts.
SEARCHES = 12
MARKUP = "<img src=x onerror=\"window.hit='markup'\"><script>window.hit='script'</script>"
TURNED = "\u202egnp.exe\u200b\u0000"
# As long as Kafka lets a name be, of all that it lets be in it.
LONG_NAME = ("e2e." + "-_.x" * 70)[:249]


@pytest.fixture(scope="module", autouse=True)
def topic(rest: Rest, cluster_id: str) -> None:
    rest.run("topic.create", cluster_id, name=TOPIC, partitions=1, replication_factor=3)


# -- somebody else --------------------------------------------------------------------------
def test_two_people_change_one_thing(arrived: Console, console: Console, rest: Rest) -> None:
    """Who confirms second is told, and plans again from what the first has made of it."""
    review_retention(arrived, "5 hours")
    review_retention(console, "3 hours")
    console.confirm()
    assert retention(rest, console.cluster_id) == 3 * HOUR_MS

    arrived.press_confirm()
    refused = arrived.plan().get_by_role("alert").filter(has_text="Conflict with the current")
    expect(refused).to_be_visible()
    assert retention(rest, console.cluster_id) == 3 * HOUR_MS
    arrived.click("Make a new plan")
    row = arrived.plan().get_by_role("row").filter(has_text="retention.ms")
    expect(row).to_contain_text("3 hours")
    expect(row).to_contain_text("5 hours")
    arrived.confirm()
    assert retention(rest, console.cluster_id) == 5 * HOUR_MS


def review_retention(console: Console, value: str) -> None:
    console.open(f"topics/{TOPIC}?tab=configuration")
    console.page.get_by_label("Edit retention.ms", exact=True).click()
    console.page.get_by_label("New value of retention.ms").fill(value)
    console.click("Review 1 change")
    console.plan()


def retention(rest: Rest, cluster_id: str) -> int:
    configs = rest.get(topic_path(cluster_id, TOPIC))["configs"]
    return next(int(row["value"]) for row in configs if row["name"] == "retention.ms")


# -- answers and streams that are lost ------------------------------------------------------
def test_an_answer_that_is_lost_starts_nothing_twice(console: Console, rest: Rest) -> None:
    """The confirmation arrives, its answer does not: pressed again it is the same operation."""
    page, name, lost = console.page, f"{TOPIC}-once", list[str]()

    def lose(route: Route) -> None:
        if lost or route.request.method != "POST":
            route.continue_()
            return
        lost.append(str(route.fetch().json()["id"]))
        route.abort()

    console.open("new-topic")
    page.get_by_label("Name").fill(name)
    console.click("Review plan")
    console.plan()
    page.route("**/api/v1/operations", lose)
    console.press_confirm()
    expect(console.plan().get_by_role("alert")).to_be_visible()
    console.press_confirm()
    assert [console.verified()] == lost
    kinds = rest.get(f"/api/v1/operations?cluster_id={console.cluster_id}")["data"]
    assert [row["id"] for row in kinds if row["resource"].endswith(name)] == lost
    rest.run("topic.delete", console.cluster_id, name=name)


def test_a_plan_that_cannot_be_made_is_asked_for_again(console: Console) -> None:
    page = console.page
    console.open("new-topic")
    page.get_by_label("Name").fill(f"{TOPIC}-again")
    page.route("**/api/v1/plans", lambda route: route.abort())
    console.click("Review plan")
    expect(console.dialog().get_by_role("alert")).to_be_visible()
    page.unroute("**/api/v1/plans")
    console.click("Try again")
    expect(console.plan()).to_contain_text(f"{TOPIC}-again")


def test_a_stream_that_drops_is_polled_instead(console: Console, rest: Rest) -> None:
    """What is planned meanwhile is seen to its verified end; then the stream is back."""
    page, name = console.page, f"{TOPIC}-polled"
    page.route("**/console/events**", lambda route: route.abort())
    page.route("**/console/events/**", lambda route: route.abort())
    console.open("new-topic")
    expect(page.get_by_text("Polling", exact=True)).to_be_visible()
    page.get_by_label("Name").fill(name)
    console.click("Review plan")
    console.plan()
    console.confirm()
    rest.run("topic.delete", console.cluster_id, name=name)
    page.unroute_all()
    console.open("topics")
    expect(page.get_by_text(re.compile("^Live$|running$"))).to_be_visible()


@pytest.fixture
def patient(
    signed_in: BrowserContext, request: pytest.FixtureRequest, cluster_id: str
) -> Iterator[Console]:
    """Somebody to whom the service may say that brokers do not answer now."""
    with opened(signed_in, request, begins="signed in", expected=UNAVAILABLE) as page:
        yield Console(page, cluster_id)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_broker_hangs_while_one_browses(patient: Console, rest: Rest) -> None:
    """That it does not answer is said, until others lead what it led; pages go on meanwhile."""
    page, path = patient.page, f"/api/v1/clusters/{patient.cluster_id}"
    led = rest.get(topic_path(patient.cluster_id, "demo.orders"))["partitions"][0]["leader"]
    broker = next(row for row in rest.get(path)["brokers"] if row["id"] == led)
    patient.open("topics/demo.orders/messages")
    rows = patient.table("Messages").locator("tbody tr")
    expect(rows.first).to_be_visible()
    hold_still(broker["pid"])
    try:
        search(patient)
        expect(away(page).first).to_be_visible(timeout=OPERATION_MS)
        patient.open("topics/demo.orders")
        expect(patient.table("Partitions").locator("tbody tr")).to_have_count(6)
        patient.open("topics/demo.orders/messages")
        search_until_whole(patient)
        expect(rows.first).to_be_visible()
    finally:
        os.kill(broker["pid"], signal.SIGCONT)
    wait_for(lambda: all(row["alive"] for row in rest.get(path)["brokers"]), 60)


def away(page: Page) -> Locator:
    """That nothing was read, or not all of it."""
    main = page.get_by_role("main")
    return main.get_by_text(re.compile("^Not read")).or_(main.get_by_role("alert"))


def search(console: Console) -> None:
    form = console.page.get_by_role("form", name="What to look for")
    form.get_by_role("button", name="Search").click()


def search_until_whole(console: Console) -> None:
    """Others lead what the hung broker led once its session has ended."""
    cancel = console.page.get_by_role("button", name="Cancel", exact=True)
    for _ in range(SEARCHES):
        expect(cancel).to_have_count(0, timeout=OPERATION_MS)
        if away(console.page).count() == 0:
            return
        search(console)
    raise AssertionError("partitions stay unread")


# -- messages and names ---------------------------------------------------------------------
def write(clients: Clients, key: str, value: str, header: str = "") -> None:
    producer = Producer({**clients.config, "message.max.bytes": 2 * MIB, "acks": "all"})
    headers: dict[str, str | bytes] = {header: header.encode()} if header else {}
    producer.produce(TOPIC, key=key, value=value, headers=headers)
    assert producer.flush(30) == 0


def test_what_strangers_wrote_is_text(
    console: Console, rest: Rest, clients: Clients, cluster_id: str
) -> None:
    page, group = console.page, f"e2e-{MARKUP}/../{os.getpid()}?#%2e"
    write(clients, MARKUP, json.dumps({"note": MARKUP, "name": TURNED}), header=MARKUP)
    assert clients.read(TOPIC, group, 1)
    console.open(f"topics/{TOPIC}/messages")
    row = console.table("Messages").locator("tbody tr").first
    expect(row).to_contain_text("<script>window.hit='script'</script>")
    page.get_by_role("button", name=re.compile("^Open the message at offset")).first.click()
    dialog = console.dialog()
    expect(dialog.get_by_label("Key of the message")).to_have_text(MARKUP)
    # What would turn the text around, or not be seen, is a sign.
    expect(dialog.get_by_label("Value of the message")).to_contain_text("u202e")
    expect(console.row("Headers", "onerror").first).to_be_visible()
    console.close_dialog()

    wait_for(lambda: not rest.missing(group_path(cluster_id, group)), 30)
    console.open("groups")
    page.get_by_label("Search groups").fill("onerror")
    expect(page).to_have_url(re.compile("q=onerror"))
    page.get_by_role("link", name=group).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(MARKUP)
    console.settled()
    fits(page)
    assert page.evaluate("window.hit") is None
    assert rest.get(group_path(cluster_id, group))["group"] == group


def test_the_longest_name_has_a_page(console: Console, rest: Rest) -> None:
    page = console.page
    rest.run("topic.create", console.cluster_id, name=LONG_NAME, partitions=1, replication_factor=1)
    console.open(f"topics?q={urllib.parse.quote(LONG_NAME)}")
    page.get_by_role("link", name=LONG_NAME).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(LONG_NAME)
    console.settled()
    fits(page)
    console.choose_from_menu("More", "Delete topic")
    console.plan()
    console.confirm()
    assert rest.missing(topic_path(console.cluster_id, LONG_NAME))


def fits(page: Page) -> None:
    for size in (PHONE, DESKTOP):
        page.set_viewport_size(size)
        assert not sticks_out(page), f"wider than {size['width']} px"


def test_a_message_of_a_mebibyte(console: Console, clients: Clients) -> None:
    """A cell shows its beginning; whole it is asked for, and not all of it is laid out."""
    page, length = console.page, 1_000_000
    write(clients, "large", "y" * (length - 1) + "z")
    console.open(f"topics/{TOPIC}/messages")
    row = console.row("Messages", "large")
    expect(row).to_contain_text("977 KiB")
    assert len(row.inner_text()) < 1_000
    row.get_by_role("button").click()
    console.click("Load the whole message")
    dialog = console.dialog()
    said = f"{DRAWN:,} of {length:,} characters are drawn"
    expect(dialog.get_by_text(said)).to_be_visible()
    assert len(dialog.get_by_label("Value of the message").inner_text()) == DRAWN
    console.close_dialog()
    fits(page)
