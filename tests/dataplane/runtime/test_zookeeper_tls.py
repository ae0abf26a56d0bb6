"""TLS towards a real ZooKeeper: whom the client trusts, what it shows, and that a broker runs on it."""

from __future__ import annotations

import asyncio
import pathlib
import socket
import struct
import subprocess
import sys

import pytest

from dataplane.ports.coordinator import CoordinatorError, NotAuthorizedError
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper, ServerTls, free_port
from dataplane.runtime.zookeeper import ZooKeeperCoordinator
from tests.certificates import Authority
from tests.zookeeper_proxy import ZooKeeperProxy
from zookeeper_access import keys
from zookeeper_access.settings import AccessError, ZooKeeperAccess

pytestmark = pytest.mark.cluster

USERS = {"member": "member-secret-1"}
LOGIN = {keys.SASL_USERNAME: "member", keys.SASL_PASSWORD: USERS["member"]}
ROOT = pathlib.Path(__file__).resolve().parents[3]
KEY_PASSWORD = "key-password-1"
CONNECT_MS = 3_000
CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, APPLICATION = range(20, 24)
TLS_RECORD = struct.Struct("!BHH")


class Stage:
    def __init__(self, directory):
        self.authority = Authority(directory, "authority")
        self.stranger = Authority(directory, "stranger")
        tls = ServerTls(
            port=free_port(),
            key_store=self.authority.issue("server"),
            trust_store=self.authority.file,
            client_auth="need",
        )
        self.server = EmbeddedZooKeeper(directory / "zk", fsync=False, users=USERS, tls=tls)
        self.address = f"127.0.0.1:{tls.port}"
        self.port = tls.port
        self.client = self.authority.issue("client", password=KEY_PASSWORD)

    def settings(self, **changed):
        return {
            **LOGIN,
            keys.SSL_ENABLE: "true",
            keys.CLIENT_SOCKET: "org.apache.zookeeper.ClientCnxnSocketNetty",
            keys.TRUSTSTORE_LOCATION: str(self.authority.file),
            keys.KEYSTORE_LOCATION: str(self.client),
            keys.KEYSTORE_PASSWORD: KEY_PASSWORD,
            **changed,
        }

    async def connect(self, *, address="", **changed):
        return await ZooKeeperCoordinator.connect(
            address or self.address,
            access=ZooKeeperAccess.parse(self.settings(**changed)),
            connect_timeout_ms=CONNECT_MS,
        )


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    made = Stage(tmp_path_factory.mktemp("tls"))
    made.server.start()
    yield made
    made.server.stop()


async def test_reads_writes_and_watches_travel_by_tls(stage):
    async with ZooKeeperProxy("127.0.0.1", stage.port) as proxy:
        session = await stage.connect(address=proxy.address)
        await read_write_and_watch(session)
        await session.close()
    [connection] = proxy.connections
    for piece in (connection.sent, connection.answered):
        assert len(piece) > 1_000_000
        assert set(tls_record_types(piece)) <= {CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, APPLICATION}
        assert b"many-" not in piece
    # The server's first message names the version; 1.3 calls itself 1.2 here.
    assert connection.answered[:2] == bytes([HANDSHAKE, 3])
    assert connection.answered[9:11] == b"\x03\x03"


def tls_record_types(piece):
    """Of all records; what is no whole TLS record is none of the known types."""
    at = 0
    while at < len(piece):
        kind, version, length = TLS_RECORD.unpack_from(piece, at)
        at += TLS_RECORD.size + length
        yield kind if version in {0x0301, 0x0303} and at <= len(piece) else -1


async def read_write_and_watch(session):
    seen = []
    watch = session.watch_data("/large", lambda data, _stat: seen.append(data))
    large = bytes(1_000_000)
    await session.create("/large", large)
    await asyncio.gather(*(session.create(f"/many-{n}", bytes(n)) for n in range(500)))
    answers = await asyncio.gather(*(session.get(f"/many-{n}") for n in range(500)))
    assert [len(data) for data, _ in answers] == list(range(500))
    async with asyncio.timeout(10):
        while not seen or seen[-1] != large:
            await asyncio.sleep(0.01)
    watch.cancel()


async def test_a_server_of_another_authority_is_not_spoken_to(stage):
    with pytest.raises(NotAuthorizedError, match=r"no TLS .* unable to get local issuer|self"):
        await stage.connect(**{keys.TRUSTSTORE_LOCATION: str(stage.stranger.file)})


async def test_a_server_of_another_name_is_not_spoken_to_unless_names_do_not_count(stage, tmp_path):
    elsewhere = stage.authority.issue("elsewhere", host="127.0.0.2")
    tls = ServerTls(
        port=free_port(),
        key_store=elsewhere,
        trust_store=stage.authority.file,
    )
    other = EmbeddedZooKeeper(tmp_path / "zk", fsync=False, tls=tls)
    other.start()
    address = f"127.0.0.1:{tls.port}"
    plain = {key: value for key, value in stage.settings().items() if key not in LOGIN}
    try:
        with pytest.raises(NotAuthorizedError, match="IP address mismatch"):
            await ZooKeeperCoordinator.connect(
                address, access=ZooKeeperAccess.parse(plain), connect_timeout_ms=CONNECT_MS
            )
        unchecked = ZooKeeperAccess.parse({**plain, keys.ENDPOINT_IDENTIFICATION: ""})
        await (await ZooKeeperCoordinator.connect(address, access=unchecked)).close()
    finally:
        other.stop()


@pytest.mark.parametrize("shown", ["", "stranger"])
async def test_a_client_without_a_certificate_of_the_servers_authority_is_refused(stage, shown):
    file = str(stage.stranger.issue("intruder")) if shown else ""
    with pytest.raises(CoordinatorError):
        await stage.connect(**{keys.KEYSTORE_LOCATION: file, keys.KEYSTORE_PASSWORD: ""})
    # The certificate was the reason: with the right one the same server lets in.
    await (await stage.connect()).close()


async def test_tls_alone_is_no_login(stage):
    with pytest.raises(NotAuthorizedError, match="asks for a login"):
        await stage.connect(**{keys.SASL_USERNAME: "", keys.SASL_PASSWORD: ""})


def test_a_wrong_key_password_is_said_at_the_start_and_not_shown(stage):
    with pytest.raises(AccessError) as refused:
        ZooKeeperAccess.parse(stage.settings(**{keys.KEYSTORE_PASSWORD: "not-the-password"}))
    assert refused.value.key == keys.KEYSTORE_LOCATION
    assert "not-the-password" not in str(refused.value)


def test_the_secure_port_speaks_nothing_else(stage):
    def answer(port):
        with socket.create_connection(("127.0.0.1", port), timeout=5) as plain:
            plain.sendall(b"srvr")
            plain.shutdown(socket.SHUT_WR)
            return plain.makefile("rb").read()

    assert b"Mode" in answer(stage.server.port)
    assert b"Mode" not in answer(stage.port)


def test_a_broker_runs_on_it(stage, tmp_path):
    values = stage.settings(
        **{
            "broker.id": "0",
            "listeners": f"PLAINTEXT://127.0.0.1:{free_port()}",
            "log.dirs": str(tmp_path / "data"),
            "zookeeper.connect": f"{stage.address}/over-tls",
            keys.SET_ACL: "true",
        }
    )
    file = tmp_path / "broker.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in values.items()))
    log = tmp_path / "broker.log"
    broker = subprocess.Popen(
        [sys.executable, "-m", "dataplane", "broker", "--config", str(file)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=log.open("wb"),
        text=True,
    )
    try:
        assert broker.stdout.readline().startswith("started"), log.read_text()
    finally:
        broker.terminate()
        broker.wait(30)
        broker.stdout.close()
    assert KEY_PASSWORD not in log.read_text()
