"""What the units of `deploy/systemd` do to brokers, by their own command lines on real processes."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dataplane.agent.processes import start_ticks_of
from tests.dataplane.agent.test_agent_live import registered, stage  # noqa: F401 - a fixture
from tests.processes import hold_still

pytestmark = pytest.mark.cluster
UNITS = Path(__file__).resolve().parents[3] / "deploy" / "systemd"


def command_of(unit, key, variables):
    (line,) = [
        line.partition("=")[2]
        for line in (UNITS / unit).read_text().splitlines()
        if line.startswith(f"{key}=")
    ]
    for name, value in variables.items():
        line = line.replace(f"${{{name}}}", value)
    assert "${" not in line
    words = shlex.split(line)
    assert words[0] == "/opt/penstock/.venv/bin/python"
    return [sys.executable, *words[1:]]


@pytest.fixture
def unit(stage, tmp_path):  # noqa: F811 - the fixture
    """Starts or stops by a unit's command line; a host without a login to ZooKeeper."""
    variables = {
        "PENSTOCK_HOST_ID": "h1",
        "PENSTOCK_ZOOKEEPER": stage.zookeeper,
        "PENSTOCK_HOST_ZOOKEEPER_CONFIG": "",
        "PENSTOCK_AGENT_DATA_DIR": str(tmp_path / "brokers"),
        "PENSTOCK_HOST_KEY_FILE": str(tmp_path / "fernet.key"),
        "PENSTOCK_HOST_ADDRESS": "127.0.0.1",
        "PENSTOCK_HOST_RACK": "r1",
        "PENSTOCK_BROKER_PORTS": "19100-19999",
    }
    started = []

    def run(name, key):
        words = [word for word in command_of(name, key, variables) if word]
        if "--zookeeper-config" in words:  # empty, as in the unit's settings file
            words.remove("--zookeeper-config")
        with (tmp_path / "units.log").open("ab") as log:
            started.append(subprocess.Popen(words, stderr=log))
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def lives(pid):
    """A process that has ended may be there until its parent has seen it."""
    return start_ticks_of(pid) is not None


async def ended(process):
    return await asyncio.to_thread(process.wait, 60)


async def test_restarting_the_agent_leaves_its_brokers_and_the_next_takes_them_up(stage, unit):  # noqa: F811
    agent = unit("penstock-agent.service", "ExecStart")
    await stage.want("running")
    pid = (await stage.observed(state="running", generation=1))["pid"]
    before = await registered(stage.zk)
    agent.send_signal(signal.SIGTERM)  # KillMode=process: to this one alone
    assert await ended(agent) == 0
    assert lives(pid)
    assert (await registered(stage.zk)).ephemeral_owner == before.ephemeral_owner
    unit("penstock-agent.service", "ExecStart")
    await stage.want("running", generation=2, **{"num.io.threads": "3"})
    report = await stage.observed(state="running", generation=2)
    assert report["pid"] != pid, "the next agent governs it"


@pytest.mark.parametrize("how", ["while the agent runs", "after the agent was killed"])
async def test_stopping_the_brokers_unit_stops_agent_and_brokers_in_good_order(stage, unit, how):  # noqa: F811
    agent = unit("penstock-agent.service", "ExecStart")
    await stage.want("running")
    pid = (await stage.observed(state="running", generation=1))["pid"]
    await registered(stage.zk)
    if how == "after the agent was killed":
        agent.kill()
        await ended(agent)
        assert lives(pid)
    stopping = unit("penstock-brokers.service", "ExecStop")
    assert await ended(stopping) == 0
    assert not lives(pid)
    await ended(agent)  # its lock is let go shortly before
    # It has said good-bye itself: nobody had to fence it, and no session has to run out.
    assert not await stage.zk.exists("/penstock/clusters/cl_test/brokers/ids/7")


async def test_what_does_not_go_in_time_is_named(stage, tmp_path):  # noqa: F811
    stage.start_agent("--keep-brokers")
    await stage.want("running")
    pid = (await stage.observed(state="running", generation=1))["pid"]
    hold_still(pid)
    words = ("stop-host", "--data-dir", str(tmp_path / "brokers"), "--timeout-s", "1")
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "dataplane", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    os.kill(pid, signal.SIGCONT)
    assert done.returncode == 1
    assert "has not gone" in done.stderr or "have not gone" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_directory_that_is_none_is_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "dataplane", "stop-host", "--data-dir", str(tmp_path / "none")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
