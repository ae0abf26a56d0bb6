"""A real agent and brokers on a real ZooKeeper that asks for logins: each with rights of its own."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from cryptography.fernet import Fernet

from controlplane.clusters import zookeeper_tree as tree
from controlplane.clusters.hosts import ZooKeeperHosts
from controlplane.clusters.questions import (
    DENIALS,
    LOG_TAIL,
    SEGMENTS,
    Answered,
    HostQuestion,
    Unanswered,
)
from dataplane.agent.host_agent import HostAgent, HostSettings
from dataplane.agent.managed_broker import ManagedBroker
from dataplane.agent.secrets import Unsealer
from dataplane.agent.spec import DesiredBroker, Wanted
from dataplane.agent.zookeeper import AgentZooKeeper
from dataplane.ports.coordinator import NoNodeError, NotAuthorizedError
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper, free_port
from dataplane.runtime.os_clock import OsClock
from dataplane.runtime.zookeeper import ZooKeeperCoordinator
from tests.processes import hold_still
from zookeeper_access import files, keys
from zookeeper_access.client import AccessClient
from zookeeper_access.settings import Login, ZooKeeperAccess

pytestmark = pytest.mark.cluster

KEY = "kc_test-7"
CHROOT = "/penstock/clusters/kc_test"
USERS = {"controlplane": "controlplane-secret-1", "member": "member-secret-1"}
CONTROL_PLANE = ZooKeeperAccess(sasl=Login("controlplane", USERS["controlplane"]), set_acl=True)
CLUSTER = {
    keys.SET_ACL: "true",
    keys.ACL_USERNAME: "kc_test",
    keys.ACL_PASSWORD: "kc_test-secret-1",
    keys.ACL_ADMINISTRATORS: "sasl:controlplane",
}
HOST_PASSWORD = "h1-secret-secret-1"


class Shared(NamedTuple):
    """A ZooKeeper of which we have what is below a chroot, "" for all of it."""

    server: EmbeddedZooKeeper
    chroot: str

    @property
    def connect_string(self):
        return f"{self.server.connect_string}{self.chroot}"


@pytest.fixture
def zookeeper(tmp_path, request):
    server = EmbeddedZooKeeper(tmp_path / "zk", fsync=False, users=USERS)
    server.start()
    yield Shared(server, getattr(request, "param", ""))
    server.stop()


BOTH = pytest.mark.parametrize("zookeeper", ["", "/shared"], indirect=True)


@pytest.fixture
def admin(zookeeper):
    """The control plane's session, with host h1 and the cluster's chroot made."""
    client = AccessClient(
        zookeeper.connect_string, CONTROL_PLANE, logger=logging.getLogger("kazoo.client")
    )
    client.start(10)
    tree.prepare(client, CONTROL_PLANE, whole_server=True)
    tree.admit_host(client, CONTROL_PLANE, "h1", Login("h1", HOST_PASSWORD).owner())
    owner = ZooKeeperAccess.parse(CLUSTER).owner()
    client.create(CHROOT, acl=tree.chroot_acl(CONTROL_PLANE, owner))
    yield client
    client.stop()
    client.close()


@pytest.fixture
def start_agent(zookeeper, tmp_path):
    key = Fernet.generate_key()
    (tmp_path / "fernet.key").write_bytes(key)
    started = []

    def start(host="h1", **changed):
        file = tmp_path / f"{host}.properties"
        files.write(
            file,
            {
                keys.SASL_USERNAME: "member",
                keys.SASL_PASSWORD: USERS["member"],
                keys.SET_ACL: "true",
                keys.ACL_USERNAME: host,
                keys.ACL_PASSWORD: HOST_PASSWORD,
                keys.ACL_ADMINISTRATORS: "sasl:controlplane",
                **changed,
            },
        )
        with (tmp_path / "agent.log").open("ab") as log:
            started.append(
                subprocess.Popen(
                    [
                        *(sys.executable, "-m", "dataplane", "agent", "--host-id", host),
                        *("--zookeeper", zookeeper.connect_string),
                        *("--zookeeper-config", str(file)),
                        *("--data-dir", str(tmp_path / f"brokers-{host}")),
                        *("--key-file", str(tmp_path / "fernet.key")),
                        *("--address", "127.0.0.1"),
                    ],
                    stderr=log,
                )
            )
        return started[-1]

    start.key = key
    start.log = (tmp_path / "agent.log").read_text
    yield start
    for agent in started:
        if agent.poll() is None:
            agent.terminate()
            agent.wait(30)


def desired(zookeeper, key, state, generation, port, *, broker_id=7, config=None):
    return json.dumps(
        {
            "v": 1,
            "cluster_id": "kc_test",
            "broker_id": broker_id,
            "generation": generation,
            "state": state,
            "config": {
                "listeners": f"PLAINTEXT://127.0.0.1:{port}",
                "zookeeper.connect": f"{zookeeper.connect_string}{CHROOT}",
                "offsets.topic.replication.factor": "1",
                **(config or {}),
            },
            "secret": Fernet(key).encrypt(json.dumps(CLUSTER).encode()).decode(),
        }
    ).encode()


async def until(condition, log):
    try:
        async with asyncio.timeout(20):
            while not condition():
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(log()) from None


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


OPEN_BUT_FOR_ACLS = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
PATIENCE_S = 60


def asked_of_segments_and_denials(ask, port):
    """A topic's files, and a write that an ACL denies, as the broker and its client see them."""
    client = {"bootstrap.servers": f"127.0.0.1:{port}"}
    writer, kafka = Producer({**client, "message.timeout.ms": 30_000}), AdminClient(client)
    deadline_s = time.monotonic() + PATIENCE_S
    while kafka.list_topics(timeout=PATIENCE_S).controller_id != 7:
        assert time.monotonic() < deadline_s, "there is no controller"
    kafka.create_topics([NewTopic("orders", 1, 1)])["orders"].result(PATIENCE_S)
    assert failure_of(writer) is None
    found = ask(kind=SEGMENTS, topic="orders", partition=0, segments=10)
    assert isinstance(found, Answered), found
    [directory] = found.body["directories"]
    [segment] = directory["segments"]
    assert (directory["directory"], directory["role"]) == ("data", "current")
    assert (segment["base_offset"], directory["total"], directory["next"]) == (0, 1, None)
    assert segment["size_bytes"] == directory["total_bytes"] > 0
    nowhere = ask(kind=SEGMENTS, topic="other", partition=0, segments=10)
    assert nowhere.is_refusal, nowhere

    quiet = ask(kind=DENIALS, attempts=10)
    assert isinstance(quiet, Answered), quiet
    assert quiet.body["attempts"] == []
    denial = AclBinding(
        ResourceType.TOPIC,
        "orders",
        ResourcePatternType.LITERAL,
        "User:ANONYMOUS",
        "*",
        AclOperation.WRITE,
        AclPermissionType.DENY,
    )
    kafka.create_acls([denial])[denial].result(PATIENCE_S)
    deadline_s = time.monotonic() + PATIENCE_S
    while failure_of(writer) != "TOPIC_AUTHORIZATION_FAILED":
        assert time.monotonic() < deadline_s, "the ACL denies nothing"
    while not (attempts := ask(kind=DENIALS, attempts=10).body["attempts"]):
        assert time.monotonic() < deadline_s, "the attempt is not in the audit log"
    [attempt] = [each for each in attempts if each["operation"] == "WRITE"]
    assert (attempt["event"], attempt["principal"]) == ("denied", "User:ANONYMOUS")
    assert (attempt["resource"], attempt["host"]) == ("TOPIC:LITERAL:orders", "127.0.0.1")
    assert attempt["count"] >= 1
    assert attempt["first_ms"] <= attempt["last_ms"]


def failure_of(writer):
    """The name of what refuses a record; None when it was written."""
    reported = []
    writer.produce("orders", b"record", callback=lambda error, _: reported.append(error))
    assert writer.flush(PATIENCE_S) == 0
    return reported[0].name() if reported[0] else None


async def test_the_control_plane_asks_an_agent_about_a_broker_of_its_own(
    zookeeper, admin, start_agent, tmp_path
):
    """With ACLs, by the real client of each side; nothing is left of a question."""
    hosts = ZooKeeperHosts(zookeeper.connect_string, CONTROL_PLANE)

    def ask(key=KEY, kind=LOG_TAIL, host="h1", **args):
        args = {"lines": 100, **args} if kind == LOG_TAIL else args
        [answer] = hosts.ask([HostQuestion((host, key), kind, args)])
        return answer

    try:
        away = await asyncio.to_thread(ask)
        assert isinstance(away, Unanswered)
        assert away.why.startswith("Unknown: the agent of this broker's host is not alive.")
        agent = start_agent()
        path = f"/penstock/hosts/h1/desired/{KEY}"
        acl = tree.acl_of(admin, "/penstock/hosts/h1/desired")
        port = free_port()
        wanted = desired(zookeeper, start_agent.key, "running", 1, port, config=OPEN_BUT_FOR_ACLS)
        admin.create(path, wanted, acl=acl)
        await until(lambda: admin.exists(f"{CHROOT}/brokers/ids/7"), start_agent.log)
        await asyncio.to_thread(asked_of_segments_and_denials, ask, port)
        found = await asyncio.to_thread(ask)
        assert isinstance(found, Answered), found
        log = (tmp_path / "brokers-h1" / KEY / "broker.log").read_text()
        shown = [row["text"] for row in found.body["lines"]]
        assert shown
        assert all(text in log for text in shown)
        assert isinstance(await asyncio.to_thread(ask, level="ERROR"), Answered)
        refused = await asyncio.to_thread(ask, key="kc_other-1")
        assert refused.is_refusal
        assert "no such broker" in refused.why
        unknown = await asyncio.to_thread(ask, kind="shell")
        assert unknown.why.startswith(
            "Unknown: the agent of this broker's host does not answer this"
        )
        for name in ("asked", "answered"):
            assert admin.get_children(f"/penstock/hosts/h1/{name}") == []

        # It is there and says nothing: as an agent that hangs, or of a version before this.
        hold_still(agent.pid)
        try:
            silent = await asyncio.to_thread(ask)
        finally:
            agent.send_signal(signal.SIGCONT)
        assert silent.why.startswith("Unknown: the agent of this broker's host does not answer")
        assert admin.get_children("/penstock/hosts/h1/asked") == []
        assert isinstance(await asyncio.to_thread(ask), Answered)
        row = json.loads(admin.get("/penstock/hosts/h1")[0])
        del row["answers"]
        admin.set("/penstock/hosts/h1", json.dumps(row).encode())
        old = await asyncio.to_thread(ask)
        assert "of an earlier version (0.1.0)" in old.why
    finally:
        hosts.close()


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


async def test_what_still_runs_is_reported_as_of_its_own_generation(tmp_path):
    """A process of the generation before is no proof that what is desired now has been done."""
    reports = []
    broker = ManagedBroker(
        KEY,
        tmp_path / KEY,
        FakeZooKeeper().connect(),
        clock=OsClock(),
        unseal=lambda _token: {},
        report=lambda _key, data: reports.append(json.loads(data)),
    )

    def want(generation, wanted):
        config = {
            "zookeeper.connect": f"127.0.0.1:1{CHROOT}",
            "listeners": "PLAINTEXT://127.0.0.1:0",
        }
        broker.want(DesiredBroker(KEY, "kc_test", 7, generation, wanted, config))

    try:
        want(1, Wanted.RUNNING)
        await until(lambda: any(report["pid"] for report in reports), lambda: str(reports))
        seen = len(reports)
        want(2, Wanted.STOPPED)
        await until(lambda: reports[-1]["generation"] == 2, lambda: str(reports))
        after = reports[seen:]
        assert [report["generation"] for report in after] == [1] * (len(after) - 1) + [2]
        assert after[-1]["state"] == "stopped"
        assert len(after) > 1
    finally:
        await broker.close(keep_running=False)


async def test_an_unreadable_desired_state_has_failed_although_a_process_runs(tmp_path):
    """What runs is of the generation before: it is no proof that this one was understood."""
    reports = []
    broker = ManagedBroker(
        KEY,
        tmp_path / KEY,
        FakeZooKeeper().connect(),
        clock=OsClock(),
        unseal=lambda _token: {},
        report=lambda _key, data: reports.append(json.loads(data)),
    )
    config = {"zookeeper.connect": f"127.0.0.1:1{CHROOT}", "listeners": "PLAINTEXT://127.0.0.1:0"}
    try:
        broker.want(DesiredBroker(KEY, "kc_test", 7, 1, Wanted.RUNNING, config))
        await until(lambda: any(report["pid"] for report in reports), lambda: str(reports))
        broker.refuse("it cannot be understood", 5)
        assert (reports[-1]["state"], reports[-1]["generation"]) == ("failed", 5)
    finally:
        await broker.close(keep_running=False)


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
