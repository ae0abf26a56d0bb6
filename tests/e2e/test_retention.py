"""Records kept longer for a time and put back, a topic emptied: each from the login."""

import os
import re

from playwright.sync_api import expect

from tests.controlplane.live.clients import Clients
from tests.e2e.flows import undo
from tests.e2e.pages import Console, topic_path
from tests.e2e.rest import Rest

TOPIC = f"e2e.kept-{os.getpid()}"
HOUR_MS = 3_600_000


def test_records_are_kept_longer_and_put_back(arrived: Console, rest: Rest) -> None:
    """Once by the card of the lease, once by undo."""
    cluster_id = arrived.cluster_id
    configs = {"retention.ms": str(24 * HOUR_MS)}
    rest.run(
        "topic.create",
        cluster_id,
        name=TOPIC,
        partitions=1,
        replication_factor=3,
        configs=configs,
    )
    arrived.find_topic(TOPIC)
    lease(arrived, hours=72)
    assert lease_of(rest, cluster_id)["to_ms"] == 72 * HOUR_MS
    arrived.click("Put it back now")
    arrived.plan()
    arrived.confirm()
    arrived.close_dialog()
    expect(arrived.page.get_by_role("button", name="Put it back now")).to_have_count(0)
    assert retention(rest, cluster_id) == str(24 * HOUR_MS)

    operation_id = lease(arrived, hours=48)
    undo(arrived, operation_id)
    assert retention(rest, cluster_id) == str(24 * HOUR_MS)


def lease(console: Console, hours: int) -> str:
    """Taken and verified, its dialog closed; the operation's id."""
    console.choose_from_menu("More", "Keep records longer for a time")
    console.dialog().get_by_label("Keep records for, hours").fill(str(hours))
    console.click("Review plan")
    expect(console.plan()).to_contain_text("retention.ms goes back")
    operation_id = console.confirm()
    console.close_dialog()
    expect(console.page.get_by_text("Records are kept longer for a time")).to_be_visible()
    return operation_id


def test_a_topic_is_emptied_after_its_name_was_typed(
    arrived: Console, rest: Rest, clients: Clients
) -> None:
    cluster_id = arrived.cluster_id
    clients.produce(TOPIC, 40)
    arrived.find_topic(TOPIC)
    expect(arrived.figure("Records held")).to_contain_text("40")
    arrived.choose_from_menu("More", "Empty topic")
    plan = arrived.plan()
    expect(plan).to_contain_text("40")
    expect(plan).to_contain_text("do not come back")
    arrived.confirm()
    arrived.close_dialog()
    (partition,) = rest.get(topic_path(cluster_id, TOPIC))["partitions"]
    assert partition["log_start"] == partition["log_end"] == 40
    expect(arrived.figure("Records held").first).to_contain_text(re.compile(r"^0\D"))
    rest.run("topic.delete", cluster_id, name=TOPIC)


def test_a_new_topic_is_undone(arrived: Console, rest: Rest) -> None:
    name = f"{TOPIC}-undone"
    arrived.visit("Topics")
    arrived.page.get_by_role("link", name="New topic").click()
    arrived.page.get_by_label("Name").fill(name)
    arrived.click("Review plan")
    expect(arrived.plan()).to_contain_text("the topic is deleted, with all that was written to it")
    operation_id = arrived.confirm()
    assert not rest.missing(topic_path(arrived.cluster_id, name))
    undo(arrived, operation_id)
    assert rest.missing(topic_path(arrived.cluster_id, name))


def lease_of(rest: Rest, cluster_id: str) -> dict[str, int]:
    found: dict[str, int] = rest.get(topic_path(cluster_id, TOPIC))["lease"]
    return found


def retention(rest: Rest, cluster_id: str) -> str:
    configs = rest.get(topic_path(cluster_id, TOPIC))["configs"]
    return next(str(row["value"]) for row in configs if row["name"] == "retention.ms")
