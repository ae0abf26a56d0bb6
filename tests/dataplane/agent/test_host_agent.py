"""A host agent over an in-memory ZooKeeper; its brokers are scripts that take a while to end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from dataplane.agent.host_agent import HostAgent, HostSettings
from dataplane.agent.install_version import install
from dataplane.agent.managed_broker import SECRET_FILES
from dataplane.agent.processes import Identity, start_ticks_of
from dataplane.agent.versions import OWN_ROOT, Versions
from dataplane.agent.zookeeper import AgentZooKeeper
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from dataplane.runtime.os_clock import OsClock
from tests.waiting import turns, until
from zookeeper_access import keys

DESIRED = "/penstock/hosts/h1/desired/kc_a-1"
OBSERVED = "/penstock/hosts/h1/observed/kc_a-1"
LOGIN = {keys.ACL_USERNAME: "kc_a", keys.ACL_PASSWORD: "kc_a-secret-1"}
SLOW_TO_END = """#!/bin/sh
trap 'touch "$PENSTOCK_LOG_FILE.ending"; sleep 0.5; exit 0' TERM
touch "$PENSTOCK_LOG_FILE.started"
while :; do sleep 0.05; done
"""


def desired(state, generation):
    return json.dumps(
        {
            "v": 1,
            "cluster_id": "kc_a",
            "broker_id": 1,
            "generation": generation,
            "state": state,
            "config": {
                "zookeeper.connect": "127.0.0.1:1/penstock/clusters/kc_a",
                "listeners": "PLAINTEXT://127.0.0.1:0",
            },
            "secret": json.dumps(LOGIN | {keys.SET_ACL: "true"}),
        }
    ).encode()


@pytest.fixture
async def agent(tmp_path, monkeypatch):
    script = tmp_path / "broker"
    script.write_text(SLOW_TO_END)
    script.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(script))
    zookeeper = FakeZooKeeper()
    settings = HostSettings(
        host_id="h1",
        data_dir=tmp_path / "brokers",
        rack="r",
        address="127.0.0.1",
        port_range=(19_100, 19_199),
    )
    acts_as = []

    async def authenticate(login):
        login.held_by(acts_as.remove)
        acts_as.append(login)

    versions = tmp_path / "versions"
    versions.mkdir()
    versions.chmod(0o755)

    def another():
        return HostAgent(
            settings,
            zookeeper.connect(),
            clock=OsClock(),
            unseal=lambda token: json.loads(token or "{}"),
            zookeeper=AgentZooKeeper({}, authenticate),
            versions=Versions(versions),
            versions_every_s=0.02,
        )

    made = another()
    made.another, made.zookeeper, made.versions = another, zookeeper, versions
    made.install = lambda name: install(OWN_ROOT, versions, name)
    made.admin, made.home = zookeeper.connect(), settings.data_dir / "kc_a-1"
    made.acts_as = acts_as
    yield made
    await made.stop(keep_brokers=False)


async def test_a_broker_that_is_desired_again_while_it_stops_begins_after_that(agent):
    """Else what stops removes the pid file of what runs, and no later agent finds the process."""
    await agent.admin.create(DESIRED, desired("running", 1), make_parents=True)
    await agent.start()
    pid_file = agent.home / "broker.pid"
    await until((agent.home / "broker.log.started").exists)
    first = Identity.load(pid_file)
    await agent.admin.delete(DESIRED)
    await until((agent.home / "broker.log.ending").exists)
    await agent.admin.create(DESIRED, desired("running", 2), make_parents=True)
    await until(lambda: start_ticks_of(first.pid) is None)
    await until(lambda: (now := Identity.load(pid_file)) is not None and now.generation == 2)
    assert start_ticks_of(Identity.load(pid_file).pid) is not None
    assert secrets_in(agent.home) == ["broker.properties"]
    assert [login.username for login in agent.acts_as] == ["kc_a"]


async def test_one_that_is_desired_a_third_time_begins_after_the_first_too(agent):
    await agent.admin.create(DESIRED, desired("running", 1), make_parents=True)
    await agent.start()
    pid_file = agent.home / "broker.pid"
    await until((agent.home / "broker.log.started").exists)
    first = Identity.load(pid_file)
    await agent.admin.delete(DESIRED)
    await until((agent.home / "broker.log.ending").exists)
    await agent.admin.create(DESIRED, desired("running", 2), make_parents=True)
    await turns()
    await agent.admin.delete(DESIRED)
    await turns()
    await agent.admin.create(DESIRED, desired("running", 3), make_parents=True)
    await until(lambda: start_ticks_of(first.pid) is None)
    await until(lambda: (now := Identity.load(pid_file)) is not None and now.generation == 3)


async def test_an_agent_ends_while_a_broker_that_is_desired_again_waits(agent):
    await agent.admin.create(DESIRED, desired("running", 1), make_parents=True)
    await agent.start()
    await until((agent.home / "broker.log.started").exists)
    process = Identity.load(agent.home / "broker.pid")
    await agent.admin.delete(DESIRED)
    await until((agent.home / "broker.log.ending").exists)
    await agent.admin.create(DESIRED, desired("running", 2), make_parents=True)
    await agent.stop(keep_brokers=False)
    await until(lambda: start_ticks_of(process.pid) is None)


def secrets_in(home):
    return [name for name in SECRET_FILES if (home / name).exists()]


def left_by_an_earlier_agent(home):
    (home / "data").mkdir(parents=True)
    (home / "data" / "records.log").write_text("kept")
    for name in SECRET_FILES:
        (home / name).write_text("secret")


async def test_what_nobody_desires_when_an_agent_starts_keeps_its_data_and_no_secret(agent):
    unwanted = agent.home.with_name("kc_b-1")
    for home in (agent.home, unwanted):
        left_by_an_earlier_agent(home)
    await agent.admin.create(DESIRED, b"unreadable", make_parents=True)
    await agent.start()
    assert secrets_in(unwanted) == []
    assert (unwanted / "data" / "records.log").read_text() == "kept"
    assert secrets_in(agent.home) == list(SECRET_FILES)


async def test_what_is_desired_no_more_keeps_its_data_and_no_secret(agent):
    await agent.admin.create(DESIRED, desired("running", 1), make_parents=True)
    await agent.start()
    await until((agent.home / "broker.log.started").exists)
    assert secrets_in(agent.home) == ["broker.properties"]
    assert [login.username for login in agent.acts_as] == ["kc_a"]
    left = agent.home / "data" / "records.log"
    left.parent.mkdir(exist_ok=True)
    left.write_text("kept")
    await agent.admin.delete(DESIRED)
    await until(lambda: not secrets_in(agent.home) and not agent.acts_as)
    assert not (agent.home / "broker.pid").exists()
    assert left.read_text() == "kept"


async def test_a_stopped_broker_is_nothing_to_act_for(agent):
    await agent.admin.create(DESIRED, desired("running", 1), make_parents=True)
    await agent.start()
    await until(lambda: agent.acts_as)
    await agent.admin.set(DESIRED, desired("stopped", 2))
    await until(lambda: not agent.acts_as)
    await agent.admin.set(DESIRED, desired("running", 3))
    await until(lambda: agent.acts_as)


def of_version(state, generation, version):
    return json.dumps({**json.loads(desired(state, generation)), "version": version}).encode()


async def report_of(agent, generation):
    """The agent's report, once it is of this generation."""
    found = {}

    def is_there():
        node = agent.zookeeper.find(OBSERVED)
        found.update(json.loads(node.data) if node is not None else {})
        return found.get("generation") == generation

    await until(is_there)
    return dict(found)


async def test_a_version_that_is_not_there_is_refused_and_what_runs_goes_on(agent):
    await agent.admin.create(DESIRED, desired("running", 1), make_parents=True)
    await agent.start()
    await until((agent.home / "broker.log.started").exists)
    process = Identity.load(agent.home / "broker.pid")
    before = (agent.home / "broker.properties").read_text()
    await agent.admin.set(DESIRED, of_version("running", 2, "7.1"))
    said = await report_of(agent, 2)
    assert (said["state"], said["message"]) == (
        "failed",
        "version 7.1 is not installed on this host",
    )
    assert said["version"]["name"] == "agent"
    assert Identity.load(agent.home / "broker.pid") == process
    assert start_ticks_of(process.pid) == process.start_ticks
    assert (agent.home / "broker.properties").read_text() == before


async def test_a_version_that_comes_later_is_started_then(agent):
    await agent.admin.create(DESIRED, of_version("running", 1, "7.1"), make_parents=True)
    await agent.start()
    await report_of(agent, 1)
    agent.install("7.1")
    await until((agent.home / "broker.log.started").exists)
    pid_file = agent.home / "broker.pid"
    await until(lambda: (now := Identity.load(pid_file)) is not None and now.generation == 1)
    environment = (Path("/proc") / str(Identity.load(pid_file).pid) / "environ").read_bytes()
    assert f"PYTHONPATH={agent.versions / '7.1'}".encode() in environment.split(b"\0")
    assert json.loads((agent.home / "started.json").read_text())["version"] == "7.1"


async def test_what_runs_is_taken_up_though_its_release_has_gone(agent):
    agent.install("7.1")
    await agent.admin.create(DESIRED, of_version("running", 1, "7.1"), make_parents=True)
    await agent.start()
    await until((agent.home / "broker.log.started").exists)
    process = Identity.load(agent.home / "broker.pid")
    await agent.stop(keep_brokers=True)
    shutil.rmtree(agent.versions / "7.1")
    following = agent.another()
    await following.start()
    try:
        await until(lambda: json.loads(agent.zookeeper.find(OBSERVED).data)["state"] == "running")
        said = json.loads(agent.zookeeper.find(OBSERVED).data)
        assert (said["pid"], said["version"]["name"]) == (process.pid, "7.1")
    finally:
        await following.stop(keep_brokers=False)
    assert start_ticks_of(process.pid) is None


async def test_the_next_agent_watches_what_runs_though_it_cannot_start_what_is_wanted(agent):
    """Else its end would be nobody's to see, to fence and to follow by another start."""
    await agent.admin.create(DESIRED, desired("running", 1), make_parents=True)
    await agent.start()
    await until((agent.home / "broker.log.started").exists)
    process = Identity.load(agent.home / "broker.pid")
    await agent.stop(keep_brokers=True)
    await agent.admin.set(DESIRED, of_version("running", 2, "7.1"))
    following = agent.another()
    await following.start()
    try:
        said = await report_of(agent, 2)
        assert said["message"] == "version 7.1 is not installed on this host"
        os.kill(process.pid, signal.SIGKILL)
        pid_file = agent.home / "broker.pid"
        await until(lambda: (now := Identity.load(pid_file)) is not None and now.pid != process.pid)
        assert Identity.load(pid_file).generation == 1
    finally:
        await following.stop(keep_brokers=False)
