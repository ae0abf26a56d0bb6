"""Hosts and clusters in a real ZooKeeper that asks for logins: each reaches its own nodes alone."""

import concurrent.futures
import contextlib
import io
import json
import logging
import socket
import time

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from kazoo.exceptions import NoAuthError
from kazoo.security import OPEN_ACL_UNSAFE

from controlplane.clusters import asking
from controlplane.clusters import hosts as hosts_module
from controlplane.clusters.hosts import HostsUnavailableError, ZooKeeperHosts, use_hosts
from controlplane.clusters.questions import (
    ANSWER_BYTES_MAX,
    LOG_TAIL,
    OPEN_MAX,
    TOO_MANY,
    Answered,
    HostQuestion,
)
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.waiting import wait_until
from zookeeper_access import files, keys
from zookeeper_access.client import AccessClient
from zookeeper_access.identity import NODE, identity_of, is_identity
from zookeeper_access.settings import Login, ZooKeeperAccess

pytestmark = pytest.mark.cluster

USERS = {"controlplane": "controlplane-secret-1", "member": "member-secret-1"}
CONTROL_PLANE = {
    keys.SASL_USERNAME: "controlplane",
    keys.SASL_PASSWORD: USERS["controlplane"],
    keys.SET_ACL: "true",
}
CONNECTION = {keys.SASL_USERNAME: "member", keys.SASL_PASSWORD: USERS["member"]}


def login(name, password=""):
    return Login(name, password or f"{name}-secret-1")


class Stage:
    def __init__(self, directory):
        self.server = EmbeddedZooKeeper(directory, fsync=False, users=USERS)
        self.server.start()
        self.clients = []
        self.hosts = ZooKeeperHosts(
            self.server.connect_string, ZooKeeperAccess.parse(CONTROL_PLANE)
        )

    def connect(self, access):
        client = AccessClient(
            self.server.connect_string, access, logger=logging.getLogger("kazoo.client")
        )
        client.start(10)
        self.clients.append(client)
        return client

    def as_member(self, identity):
        """As an agent or a broker logs in."""
        return self.connect(
            ZooKeeperAccess(
                sasl=Login("member", USERS["member"]),
                identity=identity,
                administrators=("sasl:controlplane",),
                set_acl=True,
            )
        )

    def stop(self):
        for client in self.clients:
            client.stop()
            client.close()
        self.hosts.close()
        self.server.stop()


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    made = Stage(tmp_path_factory.mktemp("zk"))
    made.hosts.prepare(whole_server=True)
    for name in ("host-1", "host-2"):
        made.hosts.admit_host(name, login(name).owner())
    yield made
    made.stop()


def refused(*attempts):
    for attempt in attempts:
        with pytest.raises(NoAuthError):
            attempt()


def every_attempt(client, path):
    """All that somebody can try with one node."""
    return (
        lambda: client.exists(path),
        lambda: client.get(path),
        lambda: client.get_children(path),
        lambda: client.set(path, b"x"),
        lambda: client.create(f"{path.rstrip('/')}/intruder", b"x"),
        lambda: client.get_acls(path),
        lambda: client.set_acls(path, OPEN_ACL_UNSAFE),
    )


def test_an_agent_does_its_work_under_its_own_host(stage):
    stage.hosts.write_desired(("host-1", "kc-1"), {"generation": 3})
    agent = stage.as_member(login("host-1"))
    described = {"host_id": "host-1", "address": "127.0.0.1", "port_range": [1, 9]}
    agent.set("/penstock/hosts/host-1", json.dumps(described).encode())
    agent.create("/penstock/hosts/host-1/alive", b"{}", ephemeral=True)
    assert agent.get_children("/penstock/hosts/host-1/desired") == ["kc-1"]
    assert json.loads(agent.get("/penstock/hosts/host-1/desired/kc-1")[0]) == {"generation": 3}
    agent.create("/penstock/hosts/host-1/observed/kc-1", b'{"state":"running","generation":3}')
    [host] = stage.hosts.hosts()
    assert (host.host_id, host.alive, host.brokers) == ("host-1", True, ("kc-1",))
    observed = stage.hosts.observed([("host-1", "kc-1")])
    assert observed["host-1", "kc-1"].generation == 3
    stage.hosts.forget_broker(("host-1", "kc-1"))
    assert agent.get_children("/penstock/hosts/host-1/observed") == []


def test_a_host_says_what_it_has_left_and_of_megabytes_nothing_is_read(stage):
    stage.hosts.admit_host("roomy", login("roomy").owner())
    agent = stage.as_member(login("roomy"))
    root = "/penstock/hosts/roomy"
    described = {"host_id": "roomy", "address": "127.0.0.1", "port_range": [1, 9]}
    agent.set(root, json.dumps({**described, "labels": {"disk": "nvme"}}).encode())
    agent.create(f"{root}/capacity", b'{"disk_total_bytes": 9, "disk_free_bytes": 5}')

    def host():
        return next(host for host in stage.hosts.hosts() if host.host_id == "roomy")

    assert (host().labels, host().capacity.disk_free_bytes) == ((("disk", "nvme"),), 5)
    assert host().capacity.reported_at_ms is not None
    agent.set(f"{root}/capacity", b'{"disk_free_bytes": 5, "x": "' + b"x" * 900_000 + b'"}')
    assert host().capacity.disk_free_bytes is None
    assert host().capacity.problem.startswith("Its agent's report has 900")
    agent.set(root, b"x" * 900_000)
    assert [host for host in stage.hosts.hosts() if host.host_id == "roomy"] == []
    # The next owner writes its own.
    stage.hosts.admit_host("roomy", login("roomy", "another-secret-1").owner())
    refused(lambda: agent.set(f"{root}/capacity", b"{}"))
    stage.hosts.forget_host("roomy")


def test_log_directories_are_fenced_where_their_brokers_look(stage):
    path, owner = "/penstock/clusters/kc-fenced", login("kc-fenced")
    stage.hosts.fence_directories(path, ["dir-1"])  # nothing is there to keep them out of
    stage.hosts.make_chroot(path, owner.owner())
    broker = stage.as_member(owner)
    broker.ensure_path(f"{path}/brokers/directories")
    assert stage.hosts.directories_of(path, 1) == []
    said = {"version": 1, "directories": ["dir-1", "../x", 3, "dir-1"]}
    broker.create(f"{path}/brokers/directories/1", json.dumps(said).encode())
    assert stage.hosts.directories_of(path, 1) == ["dir-1"]
    for _ in range(2):
        stage.hosts.fence_directories(path, ["dir-1"])
    assert broker.get_children(f"{path}/brokers/fenced_directories") == ["dir-1"]
    stage.hosts.remove_chroot(path)


def test_an_agent_does_not_write_what_is_desired_of_it(stage):
    stage.hosts.write_desired(("host-1", "kc-2"), {"generation": 1})
    agent = stage.as_member(login("host-1"))
    path = "/penstock/hosts/host-1/desired"
    refused(
        lambda: agent.set(f"{path}/kc-2", b"{}"),
        lambda: agent.delete(f"{path}/kc-2"),
        lambda: agent.create(f"{path}/kc-3", b"{}"),
        lambda: agent.set_acls(f"{path}/kc-2", OPEN_ACL_UNSAFE),
        lambda: agent.set_acls("/penstock/hosts/host-1", OPEN_ACL_UNSAFE),
    )
    stage.hosts.forget_broker(("host-1", "kc-2"))


def asked_host(stage, name):
    """A host that is alive, whose agent is this test; its root and its session."""
    stage.hosts.admit_host(name, login(name).owner())
    agent = stage.as_member(login(name))
    root = f"/penstock/hosts/{name}"
    described = {"host_id": name, "agent_version": "0.1.0", "answers": [LOG_TAIL]}
    agent.set(root, json.dumps(described).encode())
    agent.create(f"{root}/alive", b"{}", ephemeral=True)
    return root, agent


def ask_in_thread(stage, name):
    """The answer when it is there, of a question that is put meanwhile."""
    question = HostQuestion((name, "kc-1"), LOG_TAIL, {"lines": 1})
    pool = concurrent.futures.ThreadPoolExecutor(1)
    asked = pool.submit(lambda: stage.hosts.ask([question])[0])
    pool.shutdown(wait=False)
    return asked


def test_a_host_reads_its_questions_and_writes_their_answers_alone(stage):
    root, agent = asked_host(stage, "asked-1")
    other = stage.as_member(login("host-2"))
    asked = ask_in_thread(stage, "asked-1")
    wait_until(lambda: agent.exists(f"{root}/asked") and agent.get_children(f"{root}/asked"))
    [name] = agent.get_children(f"{root}/asked")
    question = json.loads(agent.get(f"{root}/asked/{name}")[0])
    assert (question["kind"], question["broker"], question["wait_ms"]) == (LOG_TAIL, "kc-1", 4_000)
    refused(
        lambda: agent.set(f"{root}/asked/{name}", b"{}"),
        lambda: agent.delete(f"{root}/asked/{name}"),
        lambda: agent.create(f"{root}/asked/mine", b"{}"),
        lambda: agent.create(f"{root}/answered/mine", b"{}"),
        lambda: agent.delete(f"{root}/answered/{name}"),
        lambda: agent.set_acls(f"{root}/answered/{name}", OPEN_ACL_UNSAFE),
        lambda: agent.set_acls(f"{root}/asked", OPEN_ACL_UNSAFE),
        lambda: agent.set(f"{root}/answered", b"x"),
    )
    for node in ("asked", "answered", f"asked/{name}", f"answered/{name}"):
        refused(*every_attempt(other, f"{root}/{node}"))
    agent.set(f"{root}/answered/{name}", b'{"v":1,"at_ms":3,"answer":{"lines":[]}}')
    assert asked.result(20) == Answered({"lines": []}, 3)
    assert agent.get_children(f"{root}/asked") == agent.get_children(f"{root}/answered") == []


def test_an_answer_above_its_bound_is_unknown_and_takes_nothing_with_it(stage):
    root, agent = asked_host(stage, "asked-2")
    asked = ask_in_thread(stage, "asked-2")
    wait_until(lambda: agent.exists(f"{root}/answered") and agent.get_children(f"{root}/answered"))
    [name] = agent.get_children(f"{root}/answered")
    long = b'{"v":1,"answer":{"lines":["' + b"x" * ANSWER_BYTES_MAX + b'"]}}'
    agent.set(f"{root}/answered/{name}", long)
    assert "cannot be understood" in asked.result(20).why
    assert agent.get_children(f"{root}/answered") == []


def test_so_many_questions_are_open_at_a_host_and_no_more(stage, monkeypatch):
    root, _ = asked_host(stage, "asked-3")
    administrator = stage.connect(ZooKeeperAccess.parse(CONTROL_PLANE))
    for number in range(OPEN_MAX):
        administrator.create(f"{root}/asked/left-{number}", b"", ephemeral=True)
    asked = ask_in_thread(stage, "asked-3").result(20)
    assert asked.why == TOO_MANY
    assert len(administrator.get_children(f"{root}/asked")) == OPEN_MAX
    # Those that nobody waits for any more make room.
    monkeypatch.setattr(asking, "STALE_MS", -1)
    monkeypatch.setattr(asking, "WAIT_S", 0.2)
    time.sleep(0.01)
    assert "does not answer" in ask_in_thread(stage, "asked-3").result(20).why
    assert administrator.get_children(f"{root}/asked") == []


def test_a_host_that_nobody_knows_is_unknown(stage):
    assert "is not alive" in ask_in_thread(stage, "no-such-host").result(20).why


def test_an_asker_that_ends_leaves_no_question(stage):
    root, agent = asked_host(stage, "asked-4")
    asker = ZooKeeperHosts(stage.server.connect_string, ZooKeeperAccess.parse(CONTROL_PLANE))
    pool = concurrent.futures.ThreadPoolExecutor(1)
    asked = pool.submit(asker.ask, [HostQuestion(("asked-4", "kc-1"), LOG_TAIL, {"lines": 1})])
    wait_until(lambda: agent.get_children(f"{root}/asked"))
    asker.close()
    wait_until(lambda: not agent.get_children(f"{root}/asked"))
    assert agent.get_children(f"{root}/answered") == []
    # Whichever it notices first: that its session is over, or that its node is gone.
    with contextlib.suppress(HostsUnavailableError):
        assert "does not answer" in asked.result(20)[0].why
    pool.shutdown()


def test_re_sealing_changes_the_sealed_part_alone_and_only_if_nobody_has_written(stage):
    stage.hosts.prepare(whole_server=True)
    stage.hosts.admit_host("sealed", login("sealed").owner())
    key = ("sealed", "c-1")
    assert stage.hosts.sealed_for(key) == ""
    assert not stage.hosts.reseal(key, "", "new")
    spec = {"v": 1, "generation": 3, "secret": "old"}
    stage.hosts.write_desired(key, spec)
    assert stage.hosts.sealed_for(key) == "old"
    assert not stage.hosts.reseal(key, "another", "new")
    assert stage.hosts.reseal(key, "old", "new")
    agent = stage.as_member(login("sealed"))
    path = "/penstock/hosts/sealed/desired/c-1"
    assert json.loads(agent.get(path)[0]) == {**spec, "secret": "new"}
    with pytest.raises(NoAuthError):
        agent.set(path, b"mine")


def test_an_agent_of_one_host_does_not_reach_anothers_nodes(stage):
    stage.hosts.write_desired(("host-2", "kc-3"), {"secret": "sealed"})
    other = stage.as_member(login("host-2"))
    other.create("/penstock/hosts/host-2/alive", b"{}", ephemeral=True)
    other.create("/penstock/hosts/host-2/observed/kc-3", b"{}")
    agent = stage.as_member(login("host-1"))
    for path in ("", "/alive", "/desired", "/desired/kc-3", "/observed", "/observed/kc-3"):
        refused(*every_attempt(agent, f"/penstock/hosts/host-2{path}"))
    refused(
        lambda: agent.delete("/penstock/hosts/host-2/alive"),
        lambda: agent.delete("/penstock/hosts/host-2/observed/kc-3"),
        lambda: agent.delete("/penstock/hosts/host-2/desired/kc-3"),
    )


@pytest.mark.parametrize("identity", [None, login("host-1"), login("kc_a")])
def test_what_lies_above_hosts_and_clusters_is_the_control_planes(stage, identity):
    client = (
        stage.as_member(identity)
        if identity
        else stage.connect(ZooKeeperAccess(sasl=Login("member", USERS["member"])))
    )
    for path in ("/", "/penstock", "/penstock/hosts", "/penstock/clusters"):
        refused(*every_attempt(client, path))
    refused(*every_attempt(client, "/zookeeper/quota")[:5])
    # A host that was not admitted cannot make itself known.
    refused(lambda: client.create("/penstock/hosts/host-9", b"{}"))


def test_a_cluster_keeps_to_its_chroot_and_the_control_plane_removes_it(stage):
    stage.hosts.make_chroot("/penstock/clusters/kc_a", login("kc_a").owner())
    stage.hosts.make_chroot("/penstock/clusters/kc_b", login("kc_b").owner())
    broker = stage.as_member(login("kc_a"))
    broker.create("/penstock/clusters/kc_a/brokers/ids/1", b"{}", makepath=True)
    refused(
        *every_attempt(broker, "/penstock/clusters/kc_b"),
        lambda: broker.delete("/penstock/clusters/kc_a"),
        lambda: broker.set_acls("/penstock/clusters/kc_a", OPEN_ACL_UNSAFE),
        lambda: broker.create("/penstock/clusters/kc_c", b""),
    )
    agent = stage.as_member(login("host-1"))
    refused(*every_attempt(agent, "/penstock/clusters/kc_a/brokers/ids/1"))
    stage.hosts.remove_chroot("/penstock/clusters/kc_a")
    assert broker.exists("/penstock/clusters/kc_a") is None


def test_a_host_that_is_admitted_again_has_another_login(stage):
    stage.hosts.admit_host("host-3", login("host-3").owner())
    stage.hosts.write_desired(("host-3", "kc-4"), {})
    before = stage.as_member(login("host-3"))
    before.create("/penstock/hosts/host-3/observed/kc-4", b"{}")
    before.create("/penstock/hosts/host-3/alive", b"{}", ephemeral=True)
    stage.hosts.admit_host("host-3", login("host-3", "another-secret-1").owner())
    after = stage.as_member(login("host-3", "another-secret-1"))
    for path in (
        *("", "/alive", "/desired", "/desired/kc-4", "/observed", "/observed/kc-4"),
        *("/asked", "/answered"),
    ):
        refused(*every_attempt(before, f"/penstock/hosts/host-3{path}"))
        after.get(f"/penstock/hosts/host-3{path}")
    after.set("/penstock/hosts/host-3/observed/kc-4", b"{}")
    after.delete("/penstock/hosts/host-3/alive")


def test_open_nodes_of_before_are_closed_with_all_below_them(stage):
    anybody = stage.connect(ZooKeeperAccess(sasl=Login("member", USERS["member"])))
    administrator = stage.connect(ZooKeeperAccess.parse(CONTROL_PLANE))
    chroot = "/penstock/clusters/kc_old"
    administrator.create(chroot, acl=OPEN_ACL_UNSAFE)
    for path in ("/brokers/ids/1", "/brokers/topics/t/partitions/0", "/config/users/a"):
        anybody.create(chroot + path, b"open", makepath=True)
    assert stage.hosts.protect_chroot(chroot, login("kc_old").owner()) == 11
    refused(*every_attempt(anybody, chroot), *every_attempt(anybody, f"{chroot}/brokers/ids/1"))
    refused(*every_attempt(anybody, f"{chroot}/brokers/topics/t/partitions/0"))
    broker = stage.as_member(login("kc_old"))
    assert broker.get(f"{chroot}/brokers/ids/1")[0] == b"open"
    broker.delete(f"{chroot}/brokers/ids/1")
    assert stage.hosts.protect_chroot(chroot, login("kc_old").owner()) == 10


def test_nodes_of_two_logins_are_both_theirs_until_one_is_taken_from_them(stage):
    chroot = "/penstock/clusters/kc_two"
    old, new = login("kc_two"), login("kc_two", "another-secret-1")
    stage.hosts.make_chroot(chroot, old.owner())
    before, after = stage.as_member(old), stage.as_member(new)
    before.create(f"{chroot}/brokers/ids/1", b"{}", makepath=True)
    refused(*every_attempt(after, chroot), *every_attempt(after, f"{chroot}/brokers/ids/1"))
    assert stage.hosts.protect_chroot(chroot, old.owner(), new.owner()) == 4
    for broker, number in ((before, 2), (after, 3)):
        broker.set(f"{chroot}/brokers/ids/1", b"{}")
        broker.create(f"{chroot}/brokers/ids/{number}", b"{}")
        broker.create(f"{chroot}/of-{number}", b"")
        broker.delete(f"{chroot}/of-{number}")
        # The chroot's own ACL is neither's to change.
        refused(lambda broker=broker: broker.set_acls(chroot, OPEN_ACL_UNSAFE))
    assert stage.hosts.protect_chroot(chroot, new.owner()) == 6
    for path in ("", "/brokers", "/brokers/ids", *(f"/brokers/ids/{n}" for n in (1, 2, 3))):
        refused(*every_attempt(before, chroot + path))
        after.get(chroot + path)
    for number in (1, 2, 3):
        after.delete(f"{chroot}/brokers/ids/{number}")


@pytest.mark.parametrize(
    ("access", "words"),
    [
        ({}, "SessionClosedRequireSaslError"),
        ({**CONTROL_PLANE, keys.SASL_PASSWORD: "not-the-password"}, "login of controlplane"),
        (CONNECTION, "ACLs do not let the control plane"),
    ],
)
def test_a_control_plane_without_its_login_says_so(stage, access, words):
    unauthorized = ZooKeeperHosts(stage.server.connect_string, ZooKeeperAccess.parse(access))
    try:
        with pytest.raises(HostsUnavailableError, match=words) as error:
            unauthorized.hosts()
        assert "not-the-password" not in str(error.value)
    finally:
        unauthorized.close()


@pytest.fixture
def command(stage, settings, tmp_path):
    """`manage.py zookeeper` with the control plane's own file."""
    file = tmp_path / "controlplane.properties"
    files.write(file, CONTROL_PLANE)
    settings.ZOOKEEPER_CONFIG = str(file)
    connection = tmp_path / "member.properties"
    files.write(connection, CONNECTION)
    use_hosts(stage.hosts)

    def run(*arguments):
        out = io.StringIO()
        call_command("zookeeper", *arguments, stdout=out)
        return out.getvalue()

    run.connection, run.directory = connection, tmp_path
    yield run
    use_hosts(None)


def test_a_host_is_admitted_by_command_and_gets_a_private_file(stage, command):
    target = command.directory / "host-5.properties"
    said = command("host", "host-5", "--connection", str(command.connection), "--file", str(target))
    settings = files.read(target)
    assert target.stat().st_mode & 0o777 == 0o600
    assert settings[keys.ACL_PASSWORD] not in said
    assert settings[keys.ACL_ADMINISTRATORS] == "sasl:controlplane"
    agent = stage.connect(ZooKeeperAccess.parse(settings))
    agent.set("/penstock/hosts/host-5", b"{}")
    refused(*every_attempt(agent, "/penstock/hosts/host-1"))


def sessions_of(server):
    """How many clients the server serves; this question is one of them."""
    with socket.create_connection((server.host, server.port), timeout=5) as connection:
        connection.sendall(b"mntr")
        lines = connection.makefile().read().splitlines()
    [count] = [line.split()[1] for line in lines if line.startswith("zk_num_alive_connections")]
    return int(count)


def test_the_command_ends_its_session(stage, command):
    stage.hosts.hosts()
    before = sessions_of(stage.server)
    command("prepare")
    # The server counts a moment later; without a close it would count the session for 10 s.
    deadline_s = time.monotonic() + 3
    while sessions_of(stage.server) != before - 1:
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    assert stage.hosts.hosts()


@pytest.mark.parametrize("name", ["a/b", "a:b", "..", "", "x" * 101, "a b"])
def test_a_host_with_a_name_that_leads_elsewhere_is_not_admitted(command, name):
    target = command.directory / "made.properties"
    with pytest.raises(CommandError):
        command("host", name, "--connection", str(command.connection), "--file", str(target))
    assert not target.exists()


def test_without_settings_the_command_says_what_is_missing(command, settings):
    settings.ZOOKEEPER_CONFIG = ""
    with pytest.raises(CommandError, match="PENSTOCK_ZOOKEEPER_CONFIG"):
        command("prepare")


def test_a_settings_file_that_is_empty_opens_no_session_without_a_login(command):
    files.write(command.directory / "controlplane.properties", {})
    hosts_module.use_hosts(None)
    with pytest.raises(HostsUnavailableError, match="is it whole"):
        hosts_module.hosts()
    with pytest.raises(CommandError, match="is it whole"):
        command("prepare")


def test_a_settings_file_that_everybody_may_read_is_refused(command, settings):
    (command.directory / "controlplane.properties").chmod(0o644)
    with pytest.raises(CommandError, match="0600"):
        command("prepare")
    hosts_module.use_hosts(None)
    with pytest.raises(HostsUnavailableError, match="0600"):
        hosts_module.hosts()


def test_the_tree_has_one_identity_which_agents_read_and_nobody_changes(stage):
    found = stage.hosts.ensemble()
    assert is_identity(found)
    stage.hosts.prepare(whole_server=True)
    again = ZooKeeperHosts(stage.server.connect_string, ZooKeeperAccess.parse(CONTROL_PLANE))
    with contextlib.closing(again):
        assert again.ensemble() == found
    agent = stage.as_member(login("host-1"))
    data, stat = agent.get(NODE)
    assert identity_of(data, stat.czxid) == found
    refused(
        lambda: agent.set(NODE, b"x"),
        lambda: agent.delete(NODE),
        lambda: agent.create(f"{NODE}/intruder", b"x"),
        lambda: agent.set_acls(NODE, OPEN_ACL_UNSAFE),
    )


def test_in_a_tree_that_is_not_its_own_the_service_does_nothing(stage):
    access = ZooKeeperAccess.parse(CONTROL_PLANE)
    asked = []

    def refusal(found):
        asked.append(found)
        return "it is another one"

    wrong = ZooKeeperHosts(stage.server.connect_string, access, refusal=refusal)
    with contextlib.closing(wrong):
        for attempt in (wrong.hosts, lambda: wrong.make_chroot("/penstock/clusters/kc-wrong")):
            with pytest.raises(HostsUnavailableError, match="it is another one"):
                attempt()
    assert set(asked) == {stage.hosts.ensemble()}
    assert stage.connect(access).exists("/penstock/clusters/kc-wrong") is None


def test_a_host_that_was_let_go_has_no_nodes_and_no_way_back(stage):
    stage.hosts.admit_host("host-9", login("host-9").owner())
    agent = stage.as_member(login("host-9"))
    root = "/penstock/hosts/host-9"
    described = {"host_id": "host-9", "address": "127.0.0.1", "port_range": [1, 9]}
    agent.set(root, json.dumps(described).encode())
    agent.create(f"{root}/alive", b"{}", ephemeral=True)
    agent.create(f"{root}/observed/kc-9", b'{"state": "running"}')
    (host,) = [row for row in stage.hosts.hosts() if row.host_id == "host-9"]
    now_ms = time.time() * 1000
    assert now_ms - 60_000 < host.described_at_ms <= host.alive_since_ms <= now_ms
    report = stage.hosts.observed([("host-9", "kc-9")])[("host-9", "kc-9")]
    assert host.alive_since_ms <= report.reported_at_ms <= now_ms
    with pytest.raises(HostsUnavailableError, match="the agent of host-9 lives"):
        stage.hosts.forget_host("host-9")
    agent.delete(f"{root}/alive")
    stage.hosts.forget_host("host-9")
    assert "host-9" not in [row.host_id for row in stage.hosts.hosts()]
    refused(lambda: agent.create(root, b"x"))
