"""A real agent and brokers on a real ZooKeeper that asks for logins: each with rights of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys

import pytest
from cryptography.fernet import Fernet

from controlplane.clusters import zookeeper_tree as tree
from dataplane.agent.host_agent import HostAgent, HostSettings
from dataplane.agent.secrets import Unsealer
from dataplane.agent.zookeeper import AgentZooKeeper
from dataplane.ports.coordinator import NoNodeError, NotAuthorizedError
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper, free_port
from dataplane.runtime.os_clock import OsClock
from dataplane.runtime.zookeeper import ZooKeeperCoordinator
from tests.dataplane.agent.a_host import CHROOT, CLUSTER, HOST_PASSWORD, KEY, USERS, desired, until
from zookeeper_access import files, keys
from zookeeper_access.settings import Login, ZooKeeperAccess

pytestmark = pytest.mark.cluster

BOTH = pytest.mark.parametrize("zookeeper", ["", "/shared"], indirect=True)


@BOTH
async def test_an_agent_runs_fences_and_deletes_a_broker_with_rights_of_its_own(
    zookeeper, admin, start_agent, tmp_path
):
    agent = start_agent()
    port = free_port()
    path = f"/penstock/hosts/h1/desired/{KEY}"
    acl = tree.acl_of(admin, "/penstock/hosts/h1/desired")
    admin.create(path, desired(zookeeper, start_agent.key, "running", 1, port), acl=acl)

    def report(**wanted):
        if not admin.exists(f"/penstock/hosts/h1/observed/{KEY}"):
            return {}
        found = json.loads(admin.get(f"/penstock/hosts/h1/observed/{KEY}")[0])
        return found if all(found[name] == value for name, value in wanted.items()) else {}

    await until(lambda: report(state="running", generation=1), start_agent.log)
    registered = f"{CHROOT}/brokers/ids/7"
    await until(lambda: admin.exists(registered), start_agent.log)
    before = admin.exists(registered).czxid
    properties = (tmp_path / "brokers-h1" / KEY / "broker.properties").read_text()
    assert f"{keys.SASL_USERNAME}=member" in properties
    assert f"{keys.ACL_USERNAME}=kc_test" in properties
    # What lets the host write its reports is no broker's to have.
    assert HOST_PASSWORD not in properties

    # Killed: the agent deletes the registration as the cluster, not after the session's 18 s.
    loop = asyncio.get_running_loop()
    killed_s = loop.time()
    os.kill(report()["pid"], signal.SIGKILL)
    await until(
        lambda: (stat := admin.exists(registered)) and stat.czxid != before, start_agent.log
    )
    assert loop.time() - killed_s < 8
    await until(lambda: report(state="running", restarts=1), start_agent.log)
    assert "fenced broker 7: removed" in start_agent.log()

    admin.set(path, desired(zookeeper, start_agent.key, "deleted", 2, port))
    await until(lambda: report(state="deleted", generation=2), start_agent.log)
    assert admin.exists(registered) is None
    agent.terminate()
    assert agent.wait(20) == 0
    assert admin.exists("/penstock/hosts/h1/alive") is None
    for secret in (HOST_PASSWORD, CLUSTER[keys.ACL_PASSWORD], *USERS.values()):
        assert secret not in start_agent.log()


async def test_an_agent_forgets_a_cluster_with_its_last_broker(zookeeper, admin, tmp_path):
    """In memory, on the session that it has, and on disk."""
    member = {keys.SASL_USERNAME: "member", keys.SASL_PASSWORD: USERS["member"]}
    access = ZooKeeperAccess(
        sasl=Login("member", USERS["member"]),
        identity=Login("h1", HOST_PASSWORD),
        administrators=("sasl:controlplane",),
        set_acl=True,
    )
    key = Fernet.generate_key()
    (tmp_path / "fernet.key").write_bytes(key)
    session = await ZooKeeperCoordinator.connect(zookeeper.connect_string, access=access)
    agent = HostAgent(
        HostSettings(
            host_id="h1",
            data_dir=tmp_path / "brokers",
            rack="h1",
            address="127.0.0.1",
            port_range=(19_100, 19_199),
        ),
        session,
        clock=OsClock(),
        unseal=Unsealer(tmp_path / "fernet.key"),
        zookeeper=AgentZooKeeper(member, session.authenticate),
    )
    paths = {number: f"/penstock/hosts/h1/desired/kc_test-{number}" for number in (7, 8)}
    homes = {number: tmp_path / "brokers" / f"kc_test-{number}" for number in (7, 8)}
    acl = tree.acl_of(admin, "/penstock/hosts/h1/desired")

    def reported(number):
        path = f"/penstock/hosts/h1/observed/kc_test-{number}"
        return json.loads(admin.get(path)[0])["state"] if admin.exists(path) else ""

    try:
        await agent.start()
        with pytest.raises(NotAuthorizedError):
            await session.exists(CHROOT)
        for number, path in paths.items():
            wanted = desired(zookeeper, key, "running", 1, free_port(), broker_id=number)
            admin.create(path, wanted, acl=acl)
        ids = f"{CHROOT}/brokers/ids"
        await until(
            lambda: admin.exists(ids) and sorted(admin.get_children(ids)) == ["7", "8"], str
        )
        assert await session.exists(CHROOT) is not None
        life = await session.exists("/penstock/hosts/h1/alive")

        # One is desired no more: the other still has to be fenced.
        admin.delete(paths[7])
        await until(lambda: admin.get_children(ids) == ["8"], str)
        await until(lambda: not (homes[7] / "broker.properties").exists(), str)
        assert (homes[7] / "data").is_dir()
        assert await session.exists(CHROOT) is not None

        admin.set(paths[8], desired(zookeeper, key, "deleted", 2, 0, broker_id=8))
        await until(lambda: reported(8) == "deleted", str)
        with pytest.raises(NotAuthorizedError):
            await session.exists(CHROOT)
        password = CLUSTER[keys.ACL_PASSWORD].encode()
        kept = [path for path in (tmp_path / "brokers").rglob("*") if path.is_file()]
        assert not [path for path in kept if password in path.read_bytes()]

        # It lives on as itself, also over the next connection, and reports.
        assert (await session.exists("/penstock/hosts/h1/alive")) == life
        zookeeper.server.stop()
        zookeeper.server.start()
        with pytest.raises(NotAuthorizedError):
            await session.exists(CHROOT)
        assert (await session.exists("/penstock/hosts/h1/alive")) == life
    finally:
        await agent.stop(keep_brokers=False)
        await session.close()


@pytest.mark.usefixtures("admin")
@pytest.mark.parametrize(
    ("host", "changed", "code", "words"),
    [
        ("h2", {}, 1, "admit the host"),
        ("h1", {keys.ACL_PASSWORD: "a-guess-of-mine-1"}, 1, "admit the host"),
        ("h1", {keys.SASL_PASSWORD: "a-guess-of-mine-1"}, 1, "login of member"),
        ("h1", {keys.SASL_PASSWORD: "short"}, 2, keys.SASL_PASSWORD),
    ],
)
def test_an_agent_that_is_not_who_it_says_ends_with_one_line(
    start_agent, host, changed, code, words
):
    agent = start_agent(host, **changed)
    assert agent.wait(40) == code
    log = start_agent.log()
    [line] = [line for line in log.splitlines() if line.startswith("penstock agent:")]
    assert words in line
    assert "Traceback" not in log
    assert "a-guess-of-mine" not in log


@pytest.mark.parametrize(
    ("settings", "mode", "words"), [(CLUSTER, 0o644, "0600"), ({}, 0o600, "is it whole")]
)
def test_an_agents_file_that_everybody_may_read_or_that_is_empty_is_refused(
    tmp_path, settings, mode, words
):
    file = tmp_path / "agent.properties"
    files.write(file, settings)
    file.chmod(mode)
    (tmp_path / "key").write_bytes(Fernet.generate_key())
    done = subprocess.run(
        [
            *(sys.executable, "-m", "dataplane", "agent", "--host-id", "h1"),
            *("--zookeeper", "127.0.0.1:1", "--zookeeper-config", str(file)),
            *("--data-dir", str(tmp_path / "d"), "--key-file", str(tmp_path / "key")),
            *("--address", "127.0.0.1"),
        ],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


async def test_an_open_zookeeper_asks_an_agent_for_nothing(tmp_path):
    """Whoever configures no login runs as before."""
    server = EmbeddedZooKeeper(tmp_path / "open", fsync=False)
    server.start()
    try:
        session = await ZooKeeperCoordinator.connect(server.connect_string)
        with pytest.raises(NoNodeError):
            await session.get("/penstock")
        await session.create("/penstock", b"")
        await session.close()
    finally:
        server.stop()
