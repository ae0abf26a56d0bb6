"""Incidents on real processes: what the overview says names the cause, and leads to its way out.

Of each is measured how long after its cause somebody who looks at the overview can read it, and
how long somebody takes who is woken then: from the login to the cause, and to the way out, which
is a plan, or what the runbook says where no plan helps.
"""

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Producer
from playwright.sync_api import Locator, Page, expect

from controlplane.alerts.rules import BY_ID
from tests.controlplane.live.clients import Clients
from tests.controlplane.live.holds import BEFORE
from tests.controlplane.live.incidents.traffic import Writing
from tests.e2e import journeys
from tests.e2e.conftest import sign_in
from tests.e2e.killed_worker import worker_killed_at
from tests.e2e.pages import OPERATION_MS, Console, group_path, topic_path
from tests.e2e.rest import Rest, wait_for
from tests.e2e.service import Address, LocalService
from tests.faults.disk import small_disk
from tests.local_cluster import LocalCluster
from tests.processes import hold_still

pytestmark = [pytest.mark.slow, pytest.mark.timeout(700)]

NAME = f"e2e.incident-{os.getpid()}"
GROUP = f"e2e-incident-{os.getpid()}"
SAID_MS = 180_000
# A group is judged after 3 minutes of samples, and one that stands still after 5; then the rule has
# to hold, on a machine that does other things.
GROUP_SAID_MS = 480_000
DISK_MIB = 160
FULL = 0.87
HALF_EMPTY = 0.6
# What the console is for: the cause in under a minute, the safe way out in two.
CAUSE_S, WAY_OUT_S = 60.0, 120.0


@dataclass(frozen=True, slots=True)
class Incident:
    """What has been caused at a moment, and how the overview names it."""

    says: str
    rule: str
    begun_s: float
    plan: str | None = None
    within_ms: int = SAID_MS

    def row(self, page: Page) -> Locator:
        """The overview's row; of one whose next step is a plan, once it is offered."""
        rows = page.get_by_role("list", name="Needs attention").get_by_role("listitem")
        found = rows.filter(has_text=re.compile(self.says))
        if self.plan is None:
            return found
        return found.filter(has=page.get_by_role("button", name=f"Plan: {self.plan}"))


Woken = Callable[[Incident], Console]


@pytest.fixture
def woken(console: Console, stranger: Page, address: Address) -> Woken:
    """Waits until the overview says it; then somebody signs in, finds the cause and follows it."""

    def wake(incident: Incident) -> Console:
        console.page.goto("/")
        console.settled()
        # Nobody reloads the page for it.
        expect(incident.row(console.page).first).to_be_visible(timeout=incident.within_ms)
        journey = journeys.of(stranger)
        journey.begin_again()
        journey.note("said after", time.monotonic() - incident.begun_s)
        sign_in(stranger, address)
        row = incident.row(stranger).first
        expect(row).to_be_visible()
        journey.note("cause at")
        assert journey.so_far_s < CAUSE_S
        runbook = row.get_by_role("link", name="Follow the runbook")
        expect(runbook).to_have_attribute(
            "href", re.compile(f"/runbooks/{BY_ID[incident.rule].runbook}")
        )
        return Console(stranger, console.cluster_id)

    return wake


def way_out(at: Console) -> None:
    """It is on the screen by now."""
    journey = journeys.of(at.page)
    journey.note("way out at")
    assert journey.so_far_s < WAY_OUT_S


def follow(at: Console, row: Locator) -> None:
    """The row's runbook, a run of it, and all its checks."""
    row.get_by_role("link", name="Follow the runbook").click()
    at.click("Begin a run")
    at.click("Run all checks")
    buttons = at.page.get_by_role("button", name=re.compile("^Run the check: "))
    expect(buttons.first).to_be_visible()
    expect(at.table("Recorded").locator("tbody tr")).to_have_count(
        buttons.count(), timeout=OPERATION_MS
    )


def found(at: Console, check: str) -> Locator:
    return at.row("Recorded", check)


@pytest.fixture(scope="module")
def stopped(rest: Rest, cluster_id: str, clients: Clients) -> Iterator[float]:
    """When an application ended for which records go on coming: long before it is judged."""
    rest.run("topic.create", cluster_id, name=NAME, partitions=1, replication_factor=3)
    writing = Writing(clients, NAME, per_s=10, partitions=1)
    assert len(clients.read(NAME, GROUP, 50)) == 50
    yield time.monotonic()
    writing.stop()
    rest.run("group.delete", cluster_id, group=GROUP)
    rest.run("topic.delete", cluster_id, name=NAME)


@pytest.mark.usefixtures("stopped")
def test_a_broker_hangs(cluster_id: str, rest: Rest, woken: Woken) -> None:
    """Its plan stops and starts it: what does not end when asked is killed."""
    path = f"/api/v1/clusters/{cluster_id}"
    broker = rest.get(path)["brokers"][-1]
    title = "Stop and start the broker"
    hold_still(broker["pid"])
    try:
        says = rf"[Bb]roker {broker['id']}\b"
        incident = Incident(says, "broker-down", time.monotonic(), plan=title)
        at = woken(incident)
        incident.row(at.page).first.get_by_role("button", name=f"Plan: {title}").click()
        expect(at.plan()).to_contain_text(f"Stop and start broker {broker['id']}")
        way_out(at)
        at.confirm()
        at.close_dialog()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(broker["pid"], signal.SIGCONT)
    brokers = wait_for(lambda: all_alive(rest, path), 60)
    assert brokers[-1]["pid"] != broker["pid"]


def all_alive(rest: Rest, path: str) -> list[dict[str, object]] | None:
    brokers: list[dict[str, object]] = rest.get(path)["brokers"]
    return brokers if all(row["alive"] for row in brokers) else None


def test_an_operation_is_stuck(
    console: Console, rest: Rest, service: LocalService, woken: Woken
) -> None:
    """No plan helps: the runbook says what the operation waits for, and to kill its worker."""
    cluster_id, topic = console.cluster_id, f"{NAME}-stuck"
    rule = {"rule": "operation-stuck", "cluster_id": cluster_id, "thresholds": {"step_s": 60}}
    rest.post("/api/v1/alert-overrides", rule)
    rest.run("topic.create", cluster_id, name=topic, partitions=1, replication_factor=3)
    plan = {"kind": "topic.delete", "cluster_id": cluster_id, "inputs": {"name": topic}}
    with worker_killed_at(service, "topic.delete", "delete", BEFORE) as kill:
        planned = rest.post("/api/v1/plans", plan)
        operation = rest.post(
            "/api/v1/operations",
            {"plan_id": planned["id"], "plan_hash": planned["plan_hash"], "confirm": topic},
        )
        incident = Incident(topic, "operation-stuck", time.monotonic())
        at = woken(incident)
        row = incident.row(at.page).first
        of_it = row.locator(f"a[href='/operations/{operation['id']}']")
        expect(of_it).to_be_visible()
        follow(at, row)
        expect(found(at, "Where does it stand?")).to_contain_text("Delete the topic")
        expect(at.page.get_by_text("A worker that hangs in a step is killed")).to_be_visible()
        way_out(at)
        kill.strike(operation["id"])
    rest.finished(operation["id"])
    assert rest.missing(topic_path(cluster_id, topic))


Tight = tuple[LocalCluster, Path, str, str]


@pytest.fixture
def tight(tmp_path: Path, rest: Rest) -> Iterator[Tight]:
    """A registered cluster of one broker on a small disk, the disk, the cluster's id and name."""
    with small_disk(tmp_path / "disk", DISK_MIB) as disk:
        settings = {
            "log.retention.check.interval.ms": "1000",
            "file.delete.delay.ms": "1000",
            "offsets.topic.num.partitions": "1",
        }
        cluster = LocalCluster(disk.path / "tight", brokers=1, settings=settings)
        try:
            name = f"tight-{os.getpid()}"
            body = {
                "name": name,
                "bootstrap_servers": cluster.bootstrap,
                "security_protocol": "PLAINTEXT",
            }
            made = rest.run("cluster.register", None, **body)
            yield cluster, disk.path, made["cluster_id"], name
            rest.run("cluster.delete", made["cluster_id"])
        finally:
            cluster.stop()


def test_a_disk_fills(rest: Rest, tight: Tight, woken: Woken) -> None:
    """Which topic it is stands in the alert; how long its records are kept is a person's choice."""
    cluster, disk, cluster_id, name = tight
    inputs = {"name": "large", "partitions": 1, "replication_factor": 1}
    rest.run("topic.create", cluster_id, **inputs, configs={"segment.bytes": str(4 << 20)})
    fill(cluster, disk)
    incident = Incident(rf"{name}: disks of broker \d+ \(8\d%\)", "disk-filling", time.monotonic())
    at = woken(incident)
    follow(at, incident.row(at.page).first)
    expect(found(at, "Is there room on the disks?")).to_contain_text("Bad")
    act = at.page.get_by_role("form", name="Shorten the retention of the largest topic")
    act.get_by_label("retention (ms)").fill("1000")
    act.get_by_role("button", name="Show the plan").click()
    expect(at.plan()).to_contain_text("retention.ms")
    expect(at.plan()).to_contain_text("large")
    way_out(at)
    at.confirm()
    at.close_dialog()
    wait_for(lambda: used_share(disk) < HALF_EMPTY, 60)


def fill(cluster: LocalCluster, disk: Path) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "linger.ms": 20})
    while used_share(disk) < FULL:
        for _ in range(20):
            producer.produce("large", os.urandom(50_000), partition=0)
        producer.flush(30)


def used_share(disk: Path) -> float:
    volume = os.statvfs(disk)
    return 1 - volume.f_bavail / volume.f_blocks


def test_a_group_stops(rest: Rest, cluster_id: str, stopped: float, woken: Woken) -> None:
    """Nobody can start an application from here: its records are kept until somebody has."""
    title = "Keep the topic's records longer for a set time"
    says = rf"group {GROUP} has stopped reading {NAME}"
    incident = Incident(says, "group-stopped", stopped, plan=title, within_ms=GROUP_SAID_MS)
    at = woken(incident)
    incident.row(at.page).first.get_by_role("button", name=f"Plan: {title}").click()
    expect(at.plan()).to_contain_text(NAME)
    expect(at.plan().get_by_role("table", name="Disk space")).to_be_visible()
    way_out(at)
    at.confirm()
    at.close_dialog()
    assert rest.get(topic_path(cluster_id, NAME))["lease"]
    assert rest.get(group_path(cluster_id, GROUP))["members"] == []
