"""Real child processes (small scripts), an in-memory ZooKeeper."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys

import pytest

from dataplane.agent import supervisor as supervisor_module
from dataplane.agent.fence import fence, read_session
from dataplane.agent.processes import Identity, adopt, start_ticks_of
from dataplane.agent.states import BrokerState
from dataplane.agent.supervisor import END_LINES, BrokerSpec, Supervisor
from dataplane.ports.coordinator import ConnectionLossError
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from dataplane.runtime.os_clock import OsClock

SCRIPT = """
import json, os, pathlib, signal, sys, time
log_dir, session, mode = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
print("hello from", os.getpid(), flush=True)
if mode == "bad":
    sys.exit(2)
if mode == "crash":
    sys.exit(1)
if mode == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
log_dir.mkdir(parents=True, exist_ok=True)
(log_dir / ".penstock-session.json").write_text(json.dumps({"pid": os.getpid(), "session_id": session}))
time.sleep(600)
"""


async def until(condition, timeout_s=10.0):
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture
async def zookeeper():
    return FakeZooKeeper()


@pytest.fixture
async def supervise(tmp_path, zookeeper):
    made = []
    coordinator = zookeeper.connect()

    def make(mode="run", session=777, generation=0, on_change=None):
        spec = BrokerSpec(
            broker_id=1,
            command=(sys.executable, "-c", SCRIPT, str(tmp_path / "data"), str(session), mode),
            log_dir=tmp_path / "data",
            log_file=tmp_path / "broker.log",
            pid_file=tmp_path / "broker.pid",
            generation=generation,
        )
        states = []

        def changed(report):
            states.append(report.state)
            if on_change is not None:
                on_change(report)

        supervisor = Supervisor(spec, coordinator, clock=OsClock(), on_change=changed)
        supervisor.states = states
        supervisor.coordinator = coordinator
        made.append(supervisor)
        return supervisor

    # One that another has taken over from is not stopped: the process is not its own any more.
    make.handed_over = made.remove
    yield make
    for supervisor in made:
        await supervisor.stop(2_000)


async def register(zookeeper, session_holder):
    """What a broker of this session would have in ZooKeeper."""
    await session_holder.create("/brokers/ids/1", b"{}", ephemeral=True, make_parents=True)
    await session_holder.create("/controller", b"{}", ephemeral=True)


async def test_a_killed_child_is_fenced_before_it_is_started_again(supervise, zookeeper):
    broker_session = zookeeper.connect()
    await register(zookeeper, broker_session)
    gone_when_started = []

    def changed(report):
        if report.state is BrokerState.STARTING:
            gone_when_started.append(zookeeper.find("/brokers/ids/1") is None)

    supervisor = supervise(session=broker_session.session_id, on_change=changed)
    await supervisor.start()
    await until(lambda: supervisor.report.state is BrokerState.RUNNING)
    first = supervisor.report.pid
    os.kill(first, signal.SIGKILL)
    await until(lambda: supervisor.report.pid not in (first, None))
    await until(lambda: supervisor.report.state is BrokerState.RUNNING)
    # A start is reported before the process is there and when it is.
    assert gone_when_started == [False, False, True, True]
    assert zookeeper.find("/controller") is None
    assert supervisor.report.exit_code == -signal.SIGKILL
    assert supervisor.report.restarts == 1
    (end,) = supervisor.report.ends
    assert (end.exit_code, end.message) == (-signal.SIGKILL, "killed by signal 9")
    assert len(end.log_tail) <= END_LINES


async def test_a_child_that_died_without_zookeeper_is_fenced_when_it_is_back(
    supervise, zookeeper, monkeypatch
):
    """The next process runs long before, and what it registers is not touched."""
    monkeypatch.setattr(supervisor_module, "FENCE_TIMEOUT_MS", 50)
    monkeypatch.setattr(supervisor_module, "FENCE_RETRY_MS", 10)
    broker = zookeeper.connect()
    supervisor = supervise(session=broker.session_id)
    await supervisor.start()
    await until(lambda: supervisor.report.state is BrokerState.RUNNING)
    await register(zookeeper, broker)
    first = supervisor.report.pid
    supervisor.coordinator.suspend()
    os.kill(first, signal.SIGKILL)
    await until(
        lambda: supervisor.report.restarts == 1 and supervisor.report.pid not in (None, first)
    )
    assert await broker.exists("/brokers/ids/1") is not None
    supervisor.coordinator.fail_next(ConnectionLossError())  # and once more when it is back
    supervisor.coordinator.resume()
    async with asyncio.timeout(10):
        while await broker.exists("/brokers/ids/1") or await broker.exists("/controller"):
            await asyncio.sleep(0.01)
    newer = zookeeper.connect()
    await register(zookeeper, newer)
    await until(lambda: supervisor.report.state is BrokerState.RUNNING)
    await supervisor.stop(2_000)
    assert await newer.exists("/brokers/ids/1") is not None


async def test_nodes_of_another_session_are_never_touched(supervise, zookeeper):
    other = zookeeper.connect()
    await register(zookeeper, other)
    supervisor = supervise(session=other.session_id + 1000)
    await supervisor.start()
    await until(lambda: supervisor.report.state is BrokerState.RUNNING)
    os.kill(supervisor.report.pid, signal.SIGKILL)
    await until(lambda: supervisor.report.restarts == 1)
    assert zookeeper.find("/brokers/ids/1") is not None
    assert zookeeper.find("/controller") is not None


async def test_stop_ends_the_process_and_leaves_no_file(supervise):
    supervisor = supervise()
    await supervisor.start()
    await until(lambda: supervisor.report.state is BrokerState.RUNNING)
    pid = supervisor.report.pid
    await supervisor.stop()
    assert start_ticks_of(pid) is None
    assert not supervisor.spec.pid_file.exists()
    assert supervisor.report.state is BrokerState.STOPPED
    assert supervisor.log_tail()[0].startswith("hello")


async def test_a_stubborn_child_is_killed(supervise, zookeeper):
    broker_session = zookeeper.connect()
    await register(zookeeper, broker_session)
    supervisor = supervise("stubborn", session=broker_session.session_id)
    await supervisor.start()
    await until(lambda: supervisor.report.state is BrokerState.RUNNING)
    pid = supervisor.report.pid
    await supervisor.stop(300)
    assert start_ticks_of(pid) is None
    assert zookeeper.find("/brokers/ids/1") is None


async def test_a_refused_configuration_is_not_tried_again(supervise):
    supervisor = supervise("bad")
    await supervisor.start()
    await until(lambda: supervisor.report.state is BrokerState.FAILED)
    assert supervisor.report.exit_code == 2
    assert supervisor.report.restarts == 0
    assert "hello" in supervisor.report.message


async def test_a_crashing_child_is_retried_with_growing_pauses(supervise):
    supervisor = supervise("crash")
    await supervisor.start()
    await until(lambda: supervisor.report.restarts >= 2)
    assert BrokerState.BACKOFF in supervisor.states


async def test_a_running_process_is_taken_up_by_the_next_supervisor(supervise):
    first = supervise(generation=4)
    await first.start()
    await until(lambda: first.report.state is BrokerState.RUNNING)
    pid = first.report.pid
    await first.release()
    second = supervise(generation=4)
    await second.start()
    assert second.report.pid == pid
    assert second.report.state is BrokerState.RUNNING
    # Reaped by this test process only because it is the parent; another agent would not be.
    os.kill(pid, signal.SIGKILL)
    await until(lambda: second.report.pid not in (pid, None))
    supervise.handed_over(first)


async def test_an_old_configuration_is_replaced_when_taken_up(supervise):
    first = supervise(generation=4)
    await first.start()
    await until(lambda: first.report.state is BrokerState.RUNNING)
    pid = first.report.pid
    await first.release()
    supervise.handed_over(first)
    second = supervise(generation=5)
    await second.start()
    await until(lambda: second.report.state is BrokerState.RUNNING)
    assert second.report.pid != pid
    assert start_ticks_of(pid) is None


async def test_a_recycled_pid_is_not_taken_up(tmp_path):
    mine = Identity(os.getpid(), start_ticks_of(os.getpid()))
    assert adopt(Identity(mine.pid, mine.start_ticks + 1)) is None
    assert adopt(Identity(2**22 - 1, 1)) is None
    process = adopt(mine)
    assert process is not None
    process.release()


async def test_the_session_file_must_speak_of_the_dead_process(tmp_path):
    (tmp_path / ".penstock-session.json").write_text(json.dumps({"pid": 10, "session_id": 99}))
    assert read_session(tmp_path, 10) == 99
    assert read_session(tmp_path, 11) is None
    assert read_session(tmp_path / "none", 10) is None
    (tmp_path / ".penstock-session.json").write_text("{")
    assert read_session(tmp_path, 10) is None


async def test_fencing_twice_or_under_a_chroot(zookeeper):
    agent, broker = zookeeper.connect(), zookeeper.connect()
    await broker.create("/c/x/brokers/ids/1", b"", ephemeral=True, make_parents=True)
    assert await fence(agent, 1, broker.session_id, root="/c/x") == ["/c/x/brokers/ids/1"]
    assert await fence(agent, 1, broker.session_id, root="/c/x") == []
