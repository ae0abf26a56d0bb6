"""Logins and ACLs against a real ZooKeeper that asks for them: who gets in, and who reaches what."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from pathlib import Path

import pytest
from kazoo.exceptions import NoAuthError
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.security import OPEN_ACL_UNSAFE

from dataplane.ports.coordinator import (
    Check,
    ConnectionLossError,
    Create,
    Delete,
    Get,
    NotAuthorizedError,
    SessionState,
    SetData,
)
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper, jaas, jaas_file
from dataplane.runtime.zookeeper import ZooKeeperCoordinator
from tests.waiting import until
from tests.zookeeper_proxy import CONNECT, SASL, ZooKeeperProxy
from zookeeper_access.client import AccessClient
from zookeeper_access.settings import Login, ZooKeeperAccess

pytestmark = pytest.mark.cluster

USERS = {
    "super": "super-secret-1",
    "controlplane": "controlplane-secret-1",
    "member": "member-secret-1",
}
ADMINISTRATORS = ("sasl:controlplane",)


def as_user(name):
    return ZooKeeperAccess(sasl=Login(name, USERS[name]), set_acl=True)


def as_cluster(name):
    return ZooKeeperAccess(
        sasl=Login("member", USERS["member"]),
        identity=Login(name, f"{name}-secret-1"),
        administrators=ADMINISTRATORS,
        set_acl=True,
    )


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory):
    server = EmbeddedZooKeeper(tmp_path_factory.mktemp("zk"), fsync=False, users=USERS)
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def connect(zookeeper):
    opened = []

    async def open_session(access, chroot="", **options):
        opened.append(
            await ZooKeeperCoordinator.connect(
                zookeeper.connect_string + chroot, access=access, **options
            )
        )
        return opened[-1]

    yield open_session
    for session in opened:
        await session.close()


def by_kazoo(zookeeper, access, work):
    """What `work(client)` answers: for requests that a coordinator does not offer. Blocking."""
    logger = logging.getLogger("kazoo.client")
    client = AccessClient(zookeeper.connect_string, access, logger=logger)
    try:
        client.start(10)
        return work(client)
    finally:
        client.stop()
        client.close()


async def refused(attempt):
    with pytest.raises(NotAuthorizedError):
        await attempt


async def test_an_outsider_gets_nothing(zookeeper):
    with pytest.raises(NotAuthorizedError, match="asks for a login"):
        await ZooKeeperCoordinator.connect(zookeeper.connect_string)
    # A digest login alone is none: anybody can make one up.
    made_up = ZooKeeperAccess(identity=Login("kc_a", "kc_a-secret-1"))
    with pytest.raises(NotAuthorizedError, match="asks for a login"):
        await ZooKeeperCoordinator.connect(zookeeper.connect_string, access=made_up)


@pytest.mark.parametrize("name", ["member", "nobody", "super"])
async def test_a_wrong_password_is_refused_by_name_and_not_shown(zookeeper, name):
    wrong = ZooKeeperAccess(sasl=Login(name, "not-the-password"))
    with pytest.raises(NotAuthorizedError, match=f"login of {name}") as error:
        await ZooKeeperCoordinator.connect(zookeeper.connect_string, access=wrong)
    assert "not-the-password" not in str(error.value)


async def test_one_cluster_neither_reads_nor_writes_anothers_nodes(connect):
    ours = await connect(as_cluster("kc_a"), "/kc_a")
    await ours.create("/brokers/ids", b"secret", make_parents=True)
    await ours.create("/controller", b"1", ephemeral=True)
    theirs = await connect(as_cluster("kc_b"))
    for path in ("/kc_a", "/kc_a/brokers", "/kc_a/brokers/ids", "/kc_a/controller"):
        await refused(theirs.get(path))
        await refused(theirs.children(path))
        await refused(theirs.set(path, b"x"))
        await refused(theirs.create(f"{path}/intruder"))
        await refused(theirs.multi([Get(path)]))
        await refused(theirs.multi([SetData(path, b"x")]))
        await refused(theirs.multi([Create(f"{path}/intruder")]))
    await refused(theirs.delete("/kc_a/controller"))
    await refused(theirs.delete("/kc_a/brokers/ids"))
    await refused(theirs.multi([Check("/kc_a/controller", 0), Delete("/kc_a/controller")]))
    assert (await ours.get("/controller"))[0] == b"1"
    assert await ours.children("/brokers") == ["ids"]


async def test_one_cluster_neither_reads_nor_changes_anothers_acls(connect, zookeeper):
    ours = await connect(as_cluster("kc_j"), "/kc_j")
    await ours.create("/controller", b"1", ephemeral=True)

    def attempts(client):
        for path in ("/kc_j", "/kc_j/controller"):
            with pytest.raises(NoAuthError):
                client.get_acls(path)
            with pytest.raises(NoAuthError):
                client.set_acls(path, OPEN_ACL_UNSAFE)

    await asyncio.to_thread(by_kazoo, zookeeper, as_cluster("kc_b"), attempts)

    def own(client):
        return [client.get_acls(path)[0] for path in ("/kc_j", "/kc_j/controller")]

    found = await asyncio.to_thread(by_kazoo, zookeeper, as_cluster("kc_j"), own)
    assert found == [as_cluster("kc_j").acl()] * 2


async def test_the_admission_login_alone_reaches_no_node(connect):
    ours = await connect(as_cluster("kc_c"), "/kc_c")
    await ours.create("/topics", b"secret")
    only_let_in = await connect(ZooKeeperAccess(sasl=Login("member", USERS["member"])))
    await refused(only_let_in.get("/kc_c/topics"))
    await refused(only_let_in.children("/kc_c"))
    await refused(only_let_in.delete("/kc_c/topics"))


async def test_a_password_that_is_a_guess_is_another_identity(connect):
    ours = await connect(as_cluster("kc_d"), "/kc_d")
    await ours.create("/topics", b"secret")
    guessed = ZooKeeperAccess(
        sasl=Login("member", USERS["member"]), identity=Login("kc_d", "another-secret")
    )
    await refused((await connect(guessed)).get("/kc_d/topics"))


async def test_administrators_and_the_super_user_reach_every_node(connect):
    ours = await connect(as_cluster("kc_e"), "/kc_e")
    await ours.multi([Create("/one", b"1"), Create("/two", b"2")])
    administrator = await connect(as_user("controlplane"))
    assert (await administrator.get("/kc_e/one"))[0] == b"1"
    await administrator.delete("/kc_e/one")
    everything = await connect(as_user("super"))
    await everything.delete("/kc_e/two")
    assert await ours.children("/") == []


async def test_an_identity_is_added_to_a_session_and_kept_over_a_reconnect(connect, zookeeper):
    ours = await connect(as_cluster("kc_f"), "/kc_f")
    await ours.create("/topics", b"mine")
    async with ZooKeeperProxy(zookeeper.host, zookeeper.port) as proxy:
        let_in = ZooKeeperAccess(sasl=Login("member", USERS["member"]))
        agent = await ZooKeeperCoordinator.connect(proxy.address, access=let_in)
        await refused(agent.get("/kc_f/topics"))
        await agent.authenticate(Login("kc_f", "kc_f-secret-1"))
        assert (await agent.get("/kc_f/topics"))[0] == b"mine"
        states = []
        agent.on_session(states.append)
        proxy.drop()
        await until(lambda: states == [SessionState.SUSPENDED, SessionState.CONNECTED])
        assert len(proxy.connections) == 2
        assert (await agent.get("/kc_f/topics"))[0] == b"mine"
        await agent.close()


async def test_an_identity_that_is_added_without_a_connection_counts_with_the_next(
    zookeeper, connect
):
    ours = await connect(as_cluster("kc_j"), "/kc_j")
    await ours.create("/one", b"1")
    agent = await connect(ZooKeeperAccess(sasl=Login("member", USERS["member"])))
    await refused(agent.get("/kc_j/one"))
    states = []
    agent.on_session(states.append)
    zookeeper.stop()
    async with asyncio.timeout(10):
        while SessionState.SUSPENDED not in states:
            await asyncio.sleep(0.01)
    try:
        await agent.authenticate(Login("kc_j", "kc_j-secret-1"))
    finally:
        zookeeper.start()
    async with asyncio.timeout(20):
        assert (await agent.get("/kc_j/one"))[0] == b"1"


async def test_an_identity_is_added_while_other_requests_are_under_way(connect):
    """The server answers a login before requests that it has taken earlier."""
    session = await connect(as_cluster("kc_i"), "/kc_i")
    await session.create("/one", b"1")
    for round_number in range(20):
        await asyncio.gather(
            *(session.get("/one") for _ in range(50)),
            *(session.set("/one", b"1") for _ in range(10)),
            session.authenticate(Login(f"kc_{round_number}", "one-of-many-1")),
            *(session.get("/one") for _ in range(50)),
        )
    async with asyncio.timeout(5):
        assert (await session.get("/one"))[0] == b"1"


@pytest.mark.parametrize("said", [[CONNECT], [CONNECT, SASL], [CONNECT, SASL, SASL]])
async def test_a_connection_that_ends_in_the_middle_of_a_login_is_tried_again(zookeeper, said):
    """kazoo's own login would give the session up for good."""
    cut = []

    def once(connection):
        if not cut and connection.request_types() == said:
            cut.append(connection)
        return connection in cut

    async with ZooKeeperProxy(zookeeper.host, zookeeper.port) as proxy:
        proxy.hangs_up = once
        session = await ZooKeeperCoordinator.connect(proxy.address, access=as_user("member"))
        assert cut == proxy.connections[:1]
        await session.create("/after_all")
        session_id = session.session_id
        cut.clear()
        proxy.drop()
        async with asyncio.timeout(10):
            assert (await session.get("/after_all"))[0] == b""
        assert cut == proxy.connections[2:3]
        assert session.session_id == session_id
        await session.delete("/after_all")
        await session.close()


async def test_connections_that_end_before_anybody_has_looked_at_them_are_no_timeout(
    zookeeper, monkeypatch
):
    """Whoever waits for the first connection runs later than kazoo's thread, which loses it."""

    class LateEvent(threading.Event):
        def wait(self, timeout=None):
            is_set = super().wait(timeout)
            time.sleep(0.1)
            return is_set

    monkeypatch.setattr(SequentialThreadingHandler, "event_object", lambda _self: LateEvent())
    async with ZooKeeperProxy(zookeeper.host, zookeeper.port) as proxy:
        cut_until = 4  # kazoo's pauses are 0.05, 0.1 and 0.2 s long by then

        def first_ones(connection):
            is_cut = len(proxy.connections) <= cut_until
            return is_cut and connection.request_types() == [CONNECT, SASL]

        proxy.hangs_up = first_ones
        session = await ZooKeeperCoordinator.connect(proxy.address, access=as_user("member"))
        assert len(proxy.connections) > cut_until
        await session.create("/late")
        await session.delete("/late")
        await session.close()


async def test_no_log_line_holds_a_credential(connect, caplog):
    caplog.set_level(logging.DEBUG, logger="kazoo.client")
    session = await connect(as_cluster("kc_g"), "/kc_g")
    await session.authenticate(Login("kc_h", "kc_h-secret-1"))
    await session.create("/one")
    assert "Auth([hidden])" in caplog.text
    for secret in ("kc_g-secret-1", "kc_h-secret-1", USERS["member"]):
        assert secret not in caplog.text


def test_the_servers_passwords_are_in_a_private_file_and_in_no_argument(zookeeper):
    assert jaas_file(zookeeper.data_dir).stat().st_mode & 0o777 == 0o600
    line = Path(f"/proc/{zookeeper.pid}/cmdline").read_text()
    assert not [password for password in USERS.values() if password in line]
    assert USERS["member"] not in (zookeeper.data_dir / "zoo.cfg").read_text()


@pytest.mark.parametrize("bad", ['a"b', "a b", "a\nb", "a\\b", "ä"])
def test_a_user_that_would_change_the_jaas_file_is_refused(bad):
    with pytest.raises(ValueError, match="JAAS"):
        jaas({"member": bad})
    with pytest.raises(ValueError, match="JAAS"):
        jaas({bad: "password"})


async def test_requests_wait_for_a_lost_connection_and_nothing_else_does(zookeeper):
    """Far more of them than kazoo's own pair of sockets has space for; the proxy, which the new
    connection needs, runs in the loop that asks."""
    host, port = zookeeper.connect_string.split(":")
    async with ZooKeeperProxy(host, int(port)) as proxy:
        session = await ZooKeeperCoordinator.connect(
            f"{proxy.address}/away", access=as_user("controlplane")
        )
        states = []
        session.on_session(states.append)
        proxy.drop()
        # What was asked before is lost with the connection, and only that.
        await until(lambda: SessionState.SUSPENDED in states)
        asked = [session.create(f"/n-{n}", b"") for n in range(2_000)]
        async with asyncio.timeout(60):
            answers = await asyncio.gather(*asked, return_exceptions=True)
            made = await session.children("/")
        failed = [answer for answer in answers if isinstance(answer, BaseException)]
        assert len(made) >= 2_000 - len(failed) > 1_000
        assert {type(error) for error in failed} <= {ConnectionLossError}
        await session.close()
