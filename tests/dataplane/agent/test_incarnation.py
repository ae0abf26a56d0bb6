"""One host id, one data directory: who comes second is refused, and changes nothing."""

from __future__ import annotations

import json

import pytest

from dataplane.agent.host_agent import HostAgent, HostSettings
from dataplane.agent.incarnation import FILE, IncarnationError, incarnation_of
from dataplane.ports.coordinator import NoNodeError
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from dataplane.runtime.os_clock import OsClock
from tests.waiting import until

HOST, ALIVE = "/penstock/hosts/h1", "/penstock/hosts/h1/alive"


class Place:
    """A ZooKeeper and the agents that come to it."""

    def __init__(self, directory):
        self.zookeeper, self.directory, self.agents = FakeZooKeeper(), directory, []
        self.admin = self.zookeeper.connect()

    def agent(self, name, **settings):
        """One on the data directory of that name, not yet started."""
        said = {"rack": f"rack-{name}", "address": f"{name}.example", **settings}
        made = HostAgent(
            HostSettings(
                host_id="h1", data_dir=self.directory / name, port_range=(19_100, 19_199), **said
            ),
            session := self.zookeeper.connect(),
            clock=OsClock(),
            unseal=lambda _: {},
        )
        made.session = session
        self.agents.append(made)
        return made

    async def host(self):
        return json.loads((await self.admin.get(HOST))[0])

    async def owner(self):
        return (await self.admin.exists(ALIVE)).ephemeral_owner


@pytest.fixture
async def place(tmp_path):
    made = Place(tmp_path)
    yield made
    for agent in made.agents:
        await agent.stop(keep_brokers=False)


async def test_a_second_agent_of_a_host_id_is_refused_and_changes_nothing(place):
    first = place.agent("first")
    await first.start()
    before = await place.host()
    for settings in ({}, {"replaces_host": True}):
        with pytest.raises(IncarnationError, match=r"^host id h1 belongs to .* is alive") as caught:
            await place.agent("second", **settings).start()
        assert "\n" not in str(caught.value)
    assert (await place.host(), await place.owner()) == (before, first.session.session_id)
    assert before["address"] == "first.example"


async def test_the_same_directory_is_the_same_host(place):
    await place.agent("first").start()
    before = await place.host()
    moved = place.agent("first", address="elsewhere.example")
    await moved.start()
    after = await place.host()
    assert after == {**before, "address": "elsewhere.example"}
    assert await place.owner() == moved.session.session_id


async def test_a_host_that_is_gone_is_replaced_only_when_that_is_asked_for(place):
    first = place.agent("first")
    await first.start()
    await first.stop(keep_brokers=False)
    with pytest.raises(IncarnationError, match="--replace-host if that directory is lost"):
        await place.agent("second").start()
    assert (await place.host())["address"] == "first.example"
    await place.agent("second", replaces_host=True).start()
    assert (await place.host())["address"] == "second.example"
    with pytest.raises(IncarnationError):
        await place.agent("first").start()


async def test_one_that_was_replaced_meanwhile_ends(place):
    """Its session had ended, and another one came in its place."""
    first = place.agent("first")
    await first.start()
    first.session.expire()
    # Before the first is back it has no sign of life.
    second = place.agent("second", replaces_host=True)
    await place.admin.set(HOST, json.dumps({"directory_id": "of-the-second"}).encode())
    await until(first.replaced.done)
    assert "of-the-second" in str(first.replaced.result())
    with pytest.raises(NoNodeError):
        await place.admin.get(ALIVE)
    await second.start()


async def test_of_two_that_come_at_once_one_is_refused(place):
    """Both saw no host: compare-and-set decides."""
    first, second = place.agent("first"), place.agent("second")
    get, waits = second.session.get, []

    async def late(path):
        if path == HOST and not waits:
            waits.append(path)
            try:
                return await get(path)
            finally:
                await first.start()
        return await get(path)

    second.session.get = late
    with pytest.raises(IncarnationError):
        await second.start()
    assert waits
    assert (await place.host())["address"] == "first.example"


@pytest.mark.parametrize("earlier", [b"", b'{"v": 1, "host_id": "h1"}', b"{", b"[]"])
async def test_a_host_of_an_earlier_version_is_taken(place, earlier):
    await place.admin.create(HOST, earlier, make_parents=True)
    await place.agent("first").start()
    assert (await place.host())["directory_id"]


@pytest.mark.parametrize("data", [b"", b"{", b"{}", b'{"directory_id": 3}', b"[" * 100_000])
def test_a_damaged_file_is_not_another_host(tmp_path, data):
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(IncarnationError, match="restore the file"):
        incarnation_of(tmp_path)
    assert (tmp_path / FILE).read_bytes() == data


def test_a_directory_keeps_its_id(tmp_path):
    (tmp_path / "boot").write_text("b-1\n")
    first = incarnation_of(tmp_path, tmp_path / "boot")
    assert first.boot_id == "b-1"
    (tmp_path / "boot").unlink()
    again = incarnation_of(tmp_path, tmp_path / "boot")
    assert (again.directory_id, again.boot_id) == (first.directory_id, "")
    (tmp_path / "other").mkdir()
    assert incarnation_of(tmp_path / "other").directory_id != first.directory_id
