"""A wrong connect string never stands for the host's own: what runs goes on, nothing is said there."""

from __future__ import annotations

import json
import sys

import pytest

from dataplane.agent.ensemble import FILE, EnsembleError
from dataplane.agent.host_agent import HostAgent, HostSettings
from dataplane.agent.main import ArgumentsError, connect_string
from dataplane.agent.processes import Identity, start_ticks_of
from dataplane.ports.coordinator import NoNodeError
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from dataplane.runtime.os_clock import OsClock
from tests.waiting import until
from zookeeper_access.identity import NODE

HOST = "/penstock/hosts/h1"
DESIRED = f"{HOST}/desired/kc_a-1"
RUNNING = {
    "v": 1,
    "cluster_id": "kc_a",
    "broker_id": 1,
    "generation": 1,
    "state": "running",
    "config": {
        "zookeeper.connect": "zk-1:2181/penstock/clusters/kc_a",
        "listeners": "PLAINTEXT://127.0.0.1:0",
    },
}
ID = "0c6b1c9a-6a55-4f0e-9a53-3d6c3c0e7a01"


async def tree(identity=ID, *, created_later_by=0):
    """A ZooKeeper; `created_later_by` transactions have been before the one of its identity."""
    made = FakeZooKeeper()
    made.admin = made.connect()
    for number in range(created_later_by):
        await made.admin.create(f"/before-{number}")
    if identity:
        data = json.dumps({"v": 1, "id": identity}).encode()
        await made.admin.create(NODE, data, make_parents=True)
    return made


@pytest.fixture
async def agent_of(tmp_path):
    agents = []

    def begin(ensemble, **settings):
        made = HostAgent(
            HostSettings(
                host_id="h1",
                data_dir=tmp_path / "brokers",
                rack="r",
                address="127.0.0.1",
                port_range=(19_100, 19_199),
                **{"zookeeper": "zk-1:2181", **settings},
            ),
            session := ensemble.connect(),
            clock=OsClock(),
            unseal=lambda _: {},
        )
        made.session = session
        agents.append(made)
        return made

    yield begin
    for agent in agents:
        await agent.stop(keep_brokers=False)


async def said(zookeeper):
    return json.loads((await zookeeper.admin.get(HOST))[0])["zookeeper"]


async def test_another_string_to_the_same_tree_is_taken_and_said(agent_of):
    zookeeper = await tree()
    await agent_of(zookeeper).start()
    before = await said(zookeeper)
    assert before["connect"] == "zk-1:2181"
    assert before["ensemble"].startswith(f"{ID}@")
    await agent_of(zookeeper, zookeeper="zk-4:2181,zk-5:2181").start()
    assert await said(zookeeper) == {**before, "connect": "zk-4:2181,zk-5:2181"}


@pytest.mark.parametrize(
    "other",
    [{"identity": ""}, {"identity": ID.replace("0c", "1d")}, {"created_later_by": 3}],
    ids=["empty", "another's", "a copy"],
)
async def test_another_tree_is_refused_before_anything_is_written_there(agent_of, other, tmp_path):
    """Also the copy of all nodes: whoever reads a copy does not see what the brokers do."""
    await agent_of(await tree()).start()
    kept = (tmp_path / "brokers" / FILE).read_bytes()
    wrong = await tree(**other)
    with pytest.raises(EnsembleError, match="is not this host's") as caught:
        await agent_of(wrong, zookeeper="typo:2181").start()
    assert "typo:2181" in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(NoNodeError):
        await wrong.admin.get(HOST)
    assert (tmp_path / "brokers" / FILE).read_bytes() == kept


async def test_an_operator_says_that_the_ensemble_of_before_is_lost(agent_of):
    await agent_of(await tree()).start()
    other = await tree(ID.replace("0c", "1d"))
    await agent_of(other, adopts_ensemble=True).start()
    await agent_of(other).start()
    with pytest.raises(EnsembleError):
        await agent_of(await tree()).start()


async def test_a_tree_that_gets_its_identity_later_is_the_hosts_from_then_on(agent_of, tmp_path):
    """Of before there were identities, or begun before the control plane was."""
    zookeeper = await tree("")
    agent = agent_of(zookeeper)
    await agent.start()
    assert (await said(zookeeper))["ensemble"] == ""
    await zookeeper.admin.create(NODE, json.dumps({"v": 1, "id": ID}).encode())
    await until((tmp_path / "brokers" / FILE).exists)
    with pytest.raises(EnsembleError):
        await agent_of(await tree("")).start()


async def test_a_session_that_comes_to_another_ensemble_takes_no_broker_away(
    agent_of, tmp_path, monkeypatch
):
    """One string with servers of two ensembles: the session ends, and the next one is at the other."""
    script = tmp_path / "broker"
    script.write_text("#!/bin/sh\nwhile :; do sleep 0.05; done\n")
    script.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(script))
    zookeeper = await tree()
    agent = agent_of(zookeeper)
    await agent.start()
    running = json.dumps(RUNNING).encode()
    await zookeeper.admin.create(DESIRED, running)
    pid_file = tmp_path / "brokers" / "kc_a-1" / "broker.pid"
    await until(pid_file.exists)
    before = pid_file.read_bytes()
    elsewhere = await tree(ID.replace("0c", "1d"))
    agent.session.zookeeper = elsewhere
    agent.session.expire()
    await until(agent.replaced.done)
    assert isinstance(agent.replaced.result(), EnsembleError)
    assert pid_file.read_bytes() == before
    assert start_ticks_of(Identity.load(pid_file).pid) is not None
    with pytest.raises(NoNodeError):
        await elsewhere.admin.get(HOST)


async def test_a_file_that_says_nothing_is_no_permission(agent_of, tmp_path):
    await agent_of(await tree()).start()
    (tmp_path / "brokers" / FILE).write_text("{")
    with pytest.raises(EnsembleError, match="restore the file"):
        await agent_of(await tree()).start()


def test_a_connect_string_without_blanks_or_none():
    assert connect_string("a:1, b:2/root/") == "a:1,b:2/root"
    with pytest.raises(ArgumentsError, match="--zookeeper a b"):
        connect_string("a b")
