"""An agent answers questions about its own brokers over an in-memory ZooKeeper."""

from __future__ import annotations

import json
import os

import pytest

from dataplane.agent import answering
from dataplane.agent.answering import Answering
from dataplane.agent.questions import OPEN_MAX
from dataplane.ports.coordinator import ConnectionLossError, NoNodeError
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from tests.waiting import turns, until

ASKED, ANSWERED = "/penstock/hosts/h1/asked", "/penstock/hosts/h1/answered"


class Stage:
    def __init__(self, directory):
        self.home = directory / "kc-1"
        self.home.mkdir()
        zookeeper = FakeZooKeeper()
        self.admin, self.session = zookeeper.connect(), zookeeper.connect()
        self.clock = FakeClock()
        self.answering = Answering(
            "h1", self.session, clock=self.clock, home_of={"kc-1": self.home}.get
        )
        self.numbers = iter(range(10_000))

    async def put(self, name=None, *, kind="log-tail", broker="kc-1", args=None, data=None):
        name = name or f"q{next(self.numbers):05}"
        row = {"v": 1, "kind": kind, "broker": broker, "wait_ms": 4_000, "args": args or {}}
        await self.admin.create(f"{ANSWERED}/{name}", b"", ephemeral=True, make_parents=True)
        content = json.dumps(row).encode() if data is None else data
        await self.admin.create(f"{ASKED}/{name}", content, ephemeral=True, make_parents=True)
        return name

    async def said(self, name):
        """What the agent has written; empty while it has not."""
        data, _ = await self.admin.get(f"{ANSWERED}/{name}")
        return json.loads(data) if data else {}

    async def ask(self, **how):
        name = await self.put(**how)
        found = self.admin.zookeeper.find
        await until(lambda: found(f"{ANSWERED}/{name}").data)
        return await self.said(name)


@pytest.fixture
async def stage(tmp_path):
    made = Stage(tmp_path)
    made.answering.start()
    yield made
    await made.answering.close()


async def test_the_last_lines_of_a_log_that_was_put_aside(stage):
    (stage.home / "broker.log").write_text("two\n")
    (stage.home / "broker.log.1").write_text("one\n")
    said = await stage.ask(args={"lines": 5})
    assert [row["text"] for row in said["answer"]["lines"]] == ["one", "two"]
    assert said["answer"]["next"] is None
    assert said["at_ms"] == stage.clock.realtime_ms()


@pytest.mark.parametrize("broker", ["kc-2", "", "..", "../other", "kc-1/../kc-2", "."])
async def test_what_is_no_broker_of_this_host_is_nobodys_to_ask_for(stage, broker):
    said = await stage.ask(broker=broker, args={"lines": 5})
    assert said["refused"] == "no such broker is desired of this host"


async def test_what_cannot_be_understood_is_refused_and_the_next_answered(stage):
    assert "not JSON" in (await stage.ask(data=b"\xff"))["refused"]
    assert "does not answer" in (await stage.ask(kind="shell"))["refused"]
    assert "no log" in (await stage.ask(args={"lines": 5}))["refused"]


async def test_a_log_that_leads_elsewhere_is_not_followed(stage, tmp_path):
    (tmp_path / "secret").write_text("hunter2\n")
    (stage.home / "broker.log").symlink_to(tmp_path / "secret")
    said = await stage.ask(args={"lines": 5})
    assert said["refused"].startswith("the host cannot read it")
    assert "hunter2" not in json.dumps(said)
    assert str(tmp_path) not in json.dumps(said)


async def test_a_log_that_is_no_file_holds_nobody_up(stage):
    os.mkfifo(stage.home / "broker.log")
    assert "no log" in (await stage.ask(args={"lines": 5}))["refused"]


async def test_a_bug_of_ours_is_said_and_the_next_is_answered(stage, monkeypatch):
    (stage.home / "broker.log").write_text("one\n")
    monkeypatch.setattr(answering, "read_log", lambda *_: 1 // 0)
    assert "the agent failed" in (await stage.ask(args={"lines": 5}))["refused"]
    monkeypatch.undo()
    said = await stage.ask(args={"lines": 5})
    assert [row["text"] for row in said["answer"]["lines"]] == ["one"]


async def test_no_more_than_its_bound_are_looked_at_until_some_have_gone(stage):
    """Whoever fills the node with questions gets no memory or thread of the agent for them."""
    (stage.home / "broker.log").write_text("one\n")
    names = [await stage.put(f"a{n:03}", args={"lines": 5}) for n in range(OPEN_MAX + 3)]
    found = stage.admin.zookeeper.find
    await until(lambda: all(found(f"{ANSWERED}/{name}").data for name in names[:OPEN_MAX]))
    await turns()
    assert [await stage.said(name) for name in names[OPEN_MAX:]] == [{}, {}, {}]
    for name in names[:3]:
        await stage.admin.delete(f"{ASKED}/{name}")
    await until(lambda: all(found(f"{ANSWERED}/{name}").data for name in names[OPEN_MAX:]))


async def test_who_stopped_waiting_gets_no_answer(stage):
    stage.session.suspend()
    name = await stage.put(args={"lines": 5})
    await turns()
    await stage.admin.delete(f"{ASKED}/{name}")
    await stage.admin.delete(f"{ANSWERED}/{name}")
    stage.session.resume()
    await turns()
    with pytest.raises(NoNodeError):
        await stage.said(name)


async def test_an_answer_that_is_lost_leaves_the_agent_as_it_was(stage, caplog):
    caplog.set_level("INFO")
    stage.session.fail_next(ConnectionLossError())
    name = await stage.put(args={"lines": 5})
    await until(lambda: f"question {name} is not answered" in caplog.text)
    assert "no log" in (await stage.ask(args={"lines": 5}))["refused"]
    assert await stage.said(name) == {}
