"""One suite, two coordinators: the fake is only worth something if it behaves as ZooKeeper does."""

from __future__ import annotations

import asyncio
import contextlib
import re

import pytest

from dataplane.ports.coordinator import (
    BadVersionError,
    Check,
    Create,
    Delete,
    Get,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    SessionState,
    SetData,
)
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from tests.zookeeper_proxy import ZooKeeperProxy


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory):
    from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper

    server = EmbeddedZooKeeper(tmp_path_factory.mktemp("zk"), fsync=False)
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.cluster)])
async def connect(request):
    """A function that opens another session with the same empty tree."""
    opened = []
    if request.param == "fake":
        tree = FakeZooKeeper()

        async def open_session():
            opened.append(tree.connect())
            return opened[-1]
    else:
        from dataplane.runtime.zookeeper import ZooKeeperCoordinator

        server = request.getfixturevalue("zookeeper")
        chroot = f"/contract/{abs(hash(request.node.name))}"

        async def open_session():
            opened.append(await ZooKeeperCoordinator.connect(server.connect_string + chroot))
            return opened[-1]

    yield open_session
    for session in opened:
        await session.close()


async def until(condition, timeout_s=5.0):
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.005)


async def test_verbs_and_their_errors(connect):
    zk = await connect()
    path, stat = await zk.create("/a", b"1")
    assert (path, stat.version, stat.ephemeral_owner) == ("/a", 0, 0)
    with pytest.raises(NodeExistsError):
        await zk.create("/a")
    with pytest.raises(NoNodeError):
        await zk.create("/missing/child")
    await zk.create("/x/y/z", b"deep", make_parents=True)
    assert await zk.children("/x") == ["y"]
    stat2 = await zk.set("/a", b"2", 0)
    assert stat2.version == 1
    assert stat2.czxid == stat.czxid
    with pytest.raises(BadVersionError):
        await zk.set("/a", b"3", 0)
    with pytest.raises(NoNodeError):
        await zk.set("/nope", b"")
    assert (await zk.get("/a"))[0] == b"2"
    with pytest.raises(NotEmptyError):
        await zk.delete("/x")
    with pytest.raises(BadVersionError):
        await zk.delete("/a", 7)
    await zk.delete("/a", 1)
    assert await zk.exists("/a") is None
    with pytest.raises(NoNodeError):
        await zk.get("/a")
    with pytest.raises(NoNodeError):
        await zk.children("/a")
    with pytest.raises(NoNodeError):
        await zk.delete("/a")


async def test_sequential_names_grow(connect):
    zk = await connect()
    await zk.create("/q")
    names = [(await zk.create("/q/n_", sequential=True))[0] for _ in range(3)]
    assert names == sorted(names)
    assert names[0] == "/q/n_0000000000"


async def test_multi_is_all_or_nothing_and_names_the_refused(connect):
    zk = await connect()
    await zk.create("/m", b"0")
    results = await zk.multi([Check("/m", 0), Create("/m/a", b"x"), SetData("/m", b"1", 0)])
    assert results[0] is None
    assert results[1] == "/m/a"
    assert results[2].version == 1
    with pytest.raises(BadVersionError) as refused:
        await zk.multi([Create("/m/b"), Check("/m", 0), Delete("/m/a")])
    assert refused.value.failed_index == 1
    assert await zk.children("/m") == ["a"]
    with pytest.raises(NodeExistsError) as exists:
        await zk.multi([Delete("/m/a"), Create("/m/a"), Create("/m/a")])
    assert exists.value.failed_index == 2
    with pytest.raises(NoNodeError):
        await zk.multi([Delete("/m/zz")])
    await zk.multi([Delete("/m/a"), Delete("/m")])
    assert await zk.exists("/m") is None


async def test_many_reads_at_once(connect):
    zk = await connect()
    await zk.create("/r", b"root")
    for number in range(3):
        await zk.create(f"/r/{number}", b"x" * number)
    found = await zk.multi([Get("/r/2"), Get("/r/missing"), Get("/r"), Get("/r/0")])
    assert [item and item[0] for item in found] == [b"xx", None, b"root", b""]
    assert found[2] == await zk.get("/r")
    with pytest.raises(ValueError):
        await zk.multi([Get("/r"), Delete("/r/0")])


async def test_ephemerals_belong_to_a_session_and_end_with_it(connect):
    one, two = await connect(), await connect()
    _, stat = await one.create("/e", b"", ephemeral=True)
    assert stat.ephemeral_owner == one.session_id != two.session_id
    assert (await two.exists("/e")).czxid == stat.czxid
    await one.close()
    gone = []
    two.watch_data("/e", lambda data, _stat: gone.append(data))
    await until(lambda: gone and gone[-1] is None)
    _, again = await two.create("/e", ephemeral=True)
    assert again.czxid > stat.czxid


async def test_watches_report_the_present_then_every_change(connect):
    zk, other = await connect(), await connect()
    children, data = [], []
    zk.watch_children("/w", children.append)
    watch = zk.watch_data("/w", lambda value, stat: data.append((value, stat and stat.version)))
    await until(lambda: children == [[]] and data == [(None, None)])
    await other.create("/w", b"0")
    await until(lambda: data[-1] == (b"0", 0))
    await other.create("/w/a")
    await until(lambda: children[-1] == ["a"])
    await other.set("/w", b"1")
    await until(lambda: data[-1] == (b"1", 1))
    watch.cancel()
    await other.delete("/w/a")
    await other.delete("/w")
    await until(lambda: children[-1] == [])
    assert data[-1] == (b"1", 1)


async def test_a_child_that_is_removed_and_created_again_is_reported(connect):
    zk, other = await connect(), await connect()
    await zk.create("/ids")
    await zk.create("/ids/1")
    seen = []
    zk.watch_children("/ids", seen.append)
    await until(lambda: len(seen) == 1)
    await other.multi([Delete("/ids/1"), Create("/ids/1", b"again")])
    await until(lambda: len(seen) >= 2)
    assert seen[-1] == ["1"]


@pytest.mark.cluster
async def test_real_session_expiry_is_reported_and_renewed(zookeeper):
    """Another connection with the same session id that closes is how a server ends a session."""
    from kazoo.client import KazooClient

    from dataplane.runtime.zookeeper import ZooKeeperCoordinator

    async with ZooKeeperProxy(zookeeper.host, zookeeper.port) as proxy:
        zk = await ZooKeeperCoordinator.connect(proxy.address, session_timeout_ms=4000)
        states, ids = [], []
        zk.on_session(states.append)
        await zk.create("/expiry", make_parents=True)
        await zk.create("/expiry/e", ephemeral=True)
        zk.watch_children("/expiry", ids.append)
        await until(lambda: ids == [["e"]])
        first = zk.session_id
        session = proxy.connections[0].session()
        assert session[0] == first
        twin = KazooClient(zookeeper.connect_string, client_id=session)
        await asyncio.to_thread(twin.start)
        await asyncio.to_thread(twin.stop)
        await until(
            lambda: SessionState.EXPIRED in states and states[-1] is SessionState.CONNECTED, 15
        )
        await until(lambda: ids[-1] == [])
        assert zk.session_id != first
        await zk.create("/expiry/f", ephemeral=True)
        await until(lambda: ids[-1] == ["f"])
        await zk.close()


@pytest.mark.cluster
async def test_a_session_is_asked_for_that_ends_within_the_timeout(zookeeper, caplog):
    """Servers look once a tick, here every 500 ms, so it may last that much longer than asked."""
    from dataplane.runtime.zookeeper import ZooKeeperCoordinator

    caplog.set_level(1, "kazoo.client")
    zk = await ZooKeeperCoordinator.connect(zookeeper.connect_string, session_timeout_ms=18_000)
    await zk.close()
    (negotiated,) = re.findall(r"negotiated session timeout: (\d+)", caplog.text)
    assert int(negotiated) == 17_100


@pytest.mark.cluster
async def test_every_request_is_timed_whatever_its_answer(zookeeper):
    from dataplane.runtime.zookeeper import ZooKeeperCoordinator

    zk = await ZooKeeperCoordinator.connect(zookeeper.connect_string)
    took_s = []
    zk.on_answer(took_s.append)
    await zk.exists("/timed")
    await zk.create("/timed")
    with pytest.raises(NoNodeError):
        await zk.get("/timed/nothing")
    await zk.multi([Delete("/timed")])
    assert len(took_s) == 4
    assert all(0 < each < 30 for each in took_s)
    await zk.close()


@pytest.mark.cluster
async def test_a_dead_server_is_named(tmp_path):
    from dataplane.ports.coordinator import CoordinatorError
    from dataplane.runtime.embedded_zookeeper import free_port
    from dataplane.runtime.zookeeper import ZooKeeperCoordinator

    with contextlib.suppress(TimeoutError), pytest.raises(CoordinatorError, match="no ZooKeeper"):
        await ZooKeeperCoordinator.connect(f"127.0.0.1:{free_port()}", connect_timeout_ms=300)
