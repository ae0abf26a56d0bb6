"""Incidents on real processes: what the overview says names the cause, and leads to its runbook.

Seconds are from the cause until somebody who looks at the overview can read it.
"""

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from playwright.sync_api import Locator, expect

from controlplane.alerts.rules import BY_ID
from tests.controlplane.live.clients import Clients
from tests.controlplane.live.holds import BEFORE
from tests.e2e.killed_worker import worker_killed_at
from tests.e2e.pages import Console
from tests.e2e.rest import Rest, wait_for
from tests.e2e.service import LocalService
from tests.faults.disk import small_disk
from tests.local_cluster import LocalCluster

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

NAME = f"e2e.incident-{os.getpid()}"
GROUP = f"e2e-incident-{os.getpid()}"
SAID_MS = 180_000
DISK_MIB = 160
FULL = 0.87


Since = Callable[[str], Callable[[], None]]


@pytest.fixture
def seconds(capsys: pytest.CaptureFixture[str]) -> Since:
    """Call with what was caused; calling what that gives prints how long it took."""

    def since(cause: str) -> Callable[[], None]:
        begun_s = time.monotonic()

        def said() -> None:
            took_s = time.monotonic() - begun_s
            with capsys.disabled():
                print(f"\n{cause}: on the overview after {took_s:.0f} s")

        return said

    return since


def says(console: Console, what: str | Locator, rule: str) -> Locator:
    """The overview's row that names it, with its runbook; nobody reloads the page for it."""
    page = console.page
    page.goto("/")
    console.settled()
    rows = page.get_by_role("list", name="Needs attention").get_by_role("listitem")
    row = rows.filter(has_text=re.compile(what)) if isinstance(what, str) else rows.filter(has=what)
    expect(row.first).to_be_visible(timeout=SAID_MS)
    ways = row.first.get_by_role("link", name="Follow the runbook")
    expect(ways).to_have_attribute("href", re.compile(f"/runbooks/{BY_ID[rule].runbook}"))
    return row.first


def test_a_broker_hangs(console: Console, rest: Rest, seconds: Since) -> None:
    path = f"/api/v1/clusters/{console.cluster_id}"
    broker = rest.get(path)["brokers"][-1]
    os.kill(broker["pid"], signal.SIGSTOP)
    said = seconds("SIGSTOP of a broker")
    try:
        says(console, rf"[Bb]roker {broker['id']}\b", "broker-down")
        said()
    finally:
        os.kill(broker["pid"], signal.SIGCONT)
    wait_for(lambda: all(row["alive"] for row in rest.get(path)["brokers"]), 60)


def test_a_group_stops(console: Console, rest: Rest, clients: Clients, seconds: Since) -> None:
    rest.run("topic.create", console.cluster_id, name=NAME, partitions=1, replication_factor=3)
    clients.produce(NAME, 50)
    assert len(clients.read(NAME, GROUP, 50)) == 50
    clients.produce(NAME, 70)
    said = seconds("the application of a group ends")
    says(console, rf"{GROUP}.*stopped", "group-stopped")
    said()
    rest.run("group.delete", console.cluster_id, group=GROUP)
    rest.run("topic.delete", console.cluster_id, name=NAME)


def test_an_operation_is_stuck(
    console: Console, rest: Rest, service: LocalService, seconds: Since
) -> None:
    cluster_id = console.cluster_id
    rule = {"rule": "operation-stuck", "cluster_id": cluster_id, "thresholds": {"step_s": 60}}
    rest.post("/api/v1/alert-overrides", rule)
    rest.run("topic.create", cluster_id, name=NAME, partitions=1, replication_factor=3)
    plan = {"kind": "topic.delete", "cluster_id": cluster_id, "inputs": {"name": NAME}}
    with worker_killed_at(service, "topic.delete", "delete", BEFORE) as kill:
        planned = rest.post("/api/v1/plans", plan)
        operation = rest.post(
            "/api/v1/operations",
            {"plan_id": planned["id"], "plan_hash": planned["plan_hash"], "confirm": NAME},
        )
        said = seconds("a worker hangs in a step")
        of_it = console.page.locator(f"a[href='/operations/{operation['id']}']")
        says(console, of_it, "operation-stuck")
        said()
        kill.strike(operation["id"])
    rest.finished(operation["id"])


Tight = tuple[LocalCluster, Path, str]


@pytest.fixture
def tight(tmp_path: Path, rest: Rest) -> Iterator[Tight]:
    """A registered cluster of one broker on a small disk, the disk and the cluster's id."""
    with small_disk(tmp_path / "disk", DISK_MIB) as disk:
        settings = {"log.retention.check.interval.ms": "1000", "offsets.topic.num.partitions": "1"}
        cluster = LocalCluster(disk.path / "tight", brokers=1, settings=settings)
        try:
            name = f"tight-{os.getpid()}"
            body = {"name": name, "bootstrap_servers": cluster.bootstrap}
            made = rest.run("cluster.register", None, **body)
            yield cluster, disk.path, made["cluster_id"]
            rest.run("cluster.delete", made["cluster_id"])
        finally:
            cluster.stop()


def test_a_disk_fills(console: Console, rest: Rest, tight: Tight, seconds: Since) -> None:
    cluster, disk, cluster_id = tight
    inputs = {"name": "large", "partitions": 1, "replication_factor": 1}
    rest.run("topic.create", cluster_id, **inputs, configs={"segment.bytes": str(4 << 20)})
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "linger.ms": 20})
    while used_share(disk) < FULL:
        for _ in range(20):
            producer.produce("large", os.urandom(50_000), partition=0)
        producer.flush(30)
    said = seconds(f"records fill {FULL:.0%} of a disk")
    says(console, r"[Dd]isk", "disk-filling")
    said()


def used_share(disk: Path) -> float:
    volume = os.statvfs(disk)
    return 1 - volume.f_bavail / volume.f_blocks
