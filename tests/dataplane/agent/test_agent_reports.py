"""What an agent reports of a broker whose process is not what is desired now."""

from __future__ import annotations

import json

import pytest

from dataplane.agent.managed_broker import ManagedBroker
from dataplane.agent.spec import DesiredBroker, Wanted
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from dataplane.runtime.os_clock import OsClock
from tests.dataplane.agent.a_host import CHROOT, KEY, until

pytestmark = pytest.mark.cluster


async def test_what_still_runs_is_reported_as_of_its_own_generation(tmp_path):
    """A process of the generation before is no proof that what is desired now has been done."""
    reports = []
    broker = ManagedBroker(
        KEY,
        tmp_path / KEY,
        FakeZooKeeper().connect(),
        clock=OsClock(),
        unseal=lambda _token: {},
        report=lambda _key, data: reports.append(json.loads(data)),
    )

    def want(generation, wanted):
        config = {
            "zookeeper.connect": f"127.0.0.1:1{CHROOT}",
            "listeners": "PLAINTEXT://127.0.0.1:0",
        }
        broker.want(DesiredBroker(KEY, "kc_test", 7, generation, wanted, config))

    try:
        want(1, Wanted.RUNNING)
        await until(lambda: any(report["pid"] for report in reports), lambda: str(reports))
        seen = len(reports)
        want(2, Wanted.STOPPED)
        await until(lambda: reports[-1]["generation"] == 2, lambda: str(reports))
        after = reports[seen:]
        assert [report["generation"] for report in after] == [1] * (len(after) - 1) + [2]
        assert after[-1]["state"] == "stopped"
        assert len(after) > 1
    finally:
        await broker.close(keep_running=False)


async def test_an_unreadable_desired_state_has_failed_although_a_process_runs(tmp_path):
    """What runs is of the generation before: it is no proof that this one was understood."""
    reports = []
    broker = ManagedBroker(
        KEY,
        tmp_path / KEY,
        FakeZooKeeper().connect(),
        clock=OsClock(),
        unseal=lambda _token: {},
        report=lambda _key, data: reports.append(json.loads(data)),
    )
    config = {"zookeeper.connect": f"127.0.0.1:1{CHROOT}", "listeners": "PLAINTEXT://127.0.0.1:0"}
    try:
        broker.want(DesiredBroker(KEY, "kc_test", 7, 1, Wanted.RUNNING, config))
        await until(lambda: any(report["pid"] for report in reports), lambda: str(reports))
        broker.refuse("it cannot be understood", 5)
        assert (reports[-1]["state"], reports[-1]["generation"]) == ("failed", 5)
    finally:
        await broker.close(keep_running=False)


async def test_why_the_system_refuses_is_said_without_the_path(tmp_path):
    """The broker's tenant reads it; the agent's own log has the whole of it."""
    (tmp_path / "main").write_text("no directory")
    reports = []
    broker = ManagedBroker(
        KEY,
        tmp_path / "main" / KEY,
        FakeZooKeeper().connect(),
        clock=OsClock(),
        unseal=lambda _token: {},
        report=lambda _key, data: reports.append(json.loads(data)),
    )
    try:
        broker.want(DesiredBroker(KEY, "kc_test", 7, 1, Wanted.RUNNING, {}))
        await until(lambda: bool(reports), lambda: str(reports))
        assert (reports[-1]["state"], reports[-1]["message"]) == ("failed", "Not a directory")
    finally:
        await broker.close(keep_running=False)
