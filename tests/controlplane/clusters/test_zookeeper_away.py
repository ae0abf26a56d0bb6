"""A real ZooKeeper goes away under the control plane: what was given up is not done later."""

import json
import logging
import os
import signal
import threading
import time

import pytest

from controlplane.clusters import hosts as hosts_module
from controlplane.clusters import zookeeper_tree
from controlplane.clusters.hosts import HostsUnavailableError, ZooKeeperHosts
from controlplane.common.once_a_minute import OnceAMinute
from controlplane.log_lines import log_lines
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.local_cluster import eventually
from tests.processes import hold_still
from zookeeper_access.client import AccessClient
from zookeeper_access.prompt_client import PromptClient
from zookeeper_access.settings import ZooKeeperAccess

pytestmark = pytest.mark.cluster
KEY = ("host-1", "kc-1")
CHROOT = "/penstock/clusters/c"
NODE = "/penstock/hosts/host-1/desired/kc-1"
NEWER = {"generation": 2, "state": "deleted"}
STALE = {"generation": 1, "state": "running"}
ANSWER_S = 1.0
"""Of ZooKeeper, shorter than as the product has it."""
REFUSED_S = 3 * ANSWER_S
"""Until a call is refused; each asks for more than one thing."""
LONG_S = 14.0
"""Longer than a session. kazoo's own waits would have grown to as much by then."""
BACK_S = 10.0
ANYONE = "world:anyone"
"""Who owns the nodes: a server that hung may do late what was refused, and these tests read all."""


@pytest.fixture(autouse=True)
def answers_are_awaited_for_a_moment(monkeypatch):
    monkeypatch.setattr(hosts_module, "ANSWER_TIMEOUT_S", ANSWER_S)
    monkeypatch.setattr(zookeeper_tree, "ANSWER_TIMEOUT_S", ANSWER_S)


@pytest.fixture
def server(tmp_path):
    made = EmbeddedZooKeeper(tmp_path, fsync=False)
    made.start()
    yield made
    if made.pid:
        os.kill(made.pid, signal.SIGCONT)
    made.stop()


@pytest.fixture
def connect(server):
    made = []

    def opened():
        made.append(ZooKeeperHosts(server.connect_string))
        made[-1].hosts()
        return made[-1]

    yield opened
    for one in made:
        one.close()


WRITES = {
    "write_desired": lambda hosts: hosts.write_desired(KEY, STALE),
    "reseal": lambda hosts: hosts.reseal(KEY, "old", "new"),
    "make_chroot": lambda hosts: hosts.make_chroot(f"{CHROOT}-2", ANYONE),
    "remove_chroot": lambda hosts: hosts.remove_chroot(CHROOT),
    "forget_broker": lambda hosts: hosts.forget_broker(KEY),
    "forget_host": lambda hosts: hosts.forget_host("host-1"),
    "admit_host": lambda hosts: hosts.admit_host("host-2", ANYONE),
    "protect_chroot": lambda hosts: hosts.protect_chroot(CHROOT, ANYONE),
}


@pytest.fixture
def plain(server):
    """Opens a client of its own, as another process of the control plane."""
    made = []

    def opened():
        access = ZooKeeperAccess()
        logger = logging.getLogger("kazoo.client")
        made.append(AccessClient(server.connect_string, access, logger=logger))
        made[-1].start(10)
        return made[-1]

    yield opened
    for one in made:
        one.stop()
        one.close()


def everything(client, path="/penstock"):
    """Paths with their data."""
    found = {path: client.get(path)[0]}
    for name in client.get_children(path):
        found |= everything(client, f"{path}/{name}")
    return found


def refused(write, hosts):
    """How long it took, in seconds; in a thread, as it might not come back."""
    found = []

    def run():
        try:
            write(hosts)
        except HostsUnavailableError as error:
            found.append(str(error))

    began_s = time.monotonic()
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(REFUSED_S)
    assert not thread.is_alive(), "it holds its caller for as long as ZooKeeper is away"
    assert found, "it was not refused"
    return time.monotonic() - began_s


def test_away_for_minutes_the_log_has_one_line_of_it_a_minute(monkeypatch, caplog):
    clock_s = [0.0]
    monkeypatch.setattr(hosts_module, "SAID", OnceAMinute(None, monotonic=lambda: clock_s[0]))
    hosts = ZooKeeperHosts("127.0.0.1:1")
    level = logging.getLevelName(log_lines("INFO")["loggers"]["kazoo"]["level"])
    with caplog.at_level(level, "kazoo"), caplog.at_level(logging.INFO, hosts_module.__name__):
        for clock_s[0] in (0.0, 30.0, 60.0):
            with pytest.raises(HostsUnavailableError):
                hosts.hosts(within_s=0.3)
    hosts.close()
    assert [record.name for record in caplog.records] == [hosts_module.__name__] * 2
    assert "ZooKeeper at 127.0.0.1:1 does not answer" in caplog.messages[0]


def test_killed_for_long_nothing_that_was_refused_is_done_when_it_is_back(server, connect, plain):
    ours = connect()
    ours.make_chroot(f"{CHROOT}/brokers/ids")
    ours.write_desired(KEY, {"generation": 1, "secret": "old"})
    before = everything(plain())
    server.kill()
    began_s = time.monotonic()
    for write in WRITES.values():
        refused(write, ours)
    time.sleep(max(0.0, began_s + LONG_S - time.monotonic()))
    server.start()
    back_s = time.monotonic()
    answered(lambda: ours.observed([KEY]))
    assert time.monotonic() - back_s < BACK_S
    assert everything(plain()) == before


def test_hanging_for_longer_than_the_session_each_call_is_refused_in_time(server, connect, plain):
    ours = connect()
    ours.make_chroot(f"{CHROOT}/brokers/ids")
    ours.write_desired(KEY, {"generation": 1, "secret": "old"})
    hold_still(server.pid)
    began_s = time.monotonic()
    for write in WRITES.values():
        refused(write, ours)
    time.sleep(max(0.0, began_s + LONG_S - time.monotonic()))
    os.kill(server.pid, signal.SIGCONT)
    answered(lambda: ours.write_desired(KEY, NEWER))
    ours.remove_chroot(CHROOT)
    ours.remove_chroot(CHROOT)
    there = everything(plain())
    assert json.loads(there[NODE]) == NEWER
    assert CHROOT not in there


def answered(call):
    for _ in eventually(BACK_S, "a connection is there again"):
        try:
            call()
        except HostsUnavailableError:
            continue
        return


@pytest.mark.parametrize("method", ["set_async", "create_async"])
def test_a_write_that_comes_late_replaces_nothing_newer(connect, plain, monkeypatch, method):
    """It was on its way to a server that hung, while another worker's got there first."""
    ours, other = connect(), plain()
    ours.write_desired(KEY, STALE)
    if method == "create_async":
        ours.forget_broker(KEY)
    write = getattr(PromptClient, method)

    def late(self, path, *args, **keywords):
        if path == NODE:
            newer = json.dumps(NEWER).encode()
            other.set(NODE, newer) if other.exists(NODE) else other.create(NODE, newer)
        return write(self, path, *args, **keywords)

    with monkeypatch.context() as patch:
        patch.setattr(PromptClient, method, late)
        with pytest.raises(HostsUnavailableError, match="somebody else"):
            ours.write_desired(KEY, STALE)
    assert json.loads(other.get(NODE)[0]) == NEWER


def test_a_page_waits_for_a_moment_whatever_it_asks(server, connect, monkeypatch):
    """Each of its requests alone could have taken an answer's whole time."""
    ours = connect()
    monkeypatch.setattr(zookeeper_tree, "ANSWER_TIMEOUT_S", LONG_S * 10)
    hold_still(server.pid)
    for read in (ours.hosts, lambda **wait: ours.observed([KEY, ("host-2", "kc-2")], **wait)):
        began_s = time.monotonic()
        with pytest.raises(HostsUnavailableError):
            read(within_s=0.2)
        assert time.monotonic() - began_s < LONG_S


def test_one_that_opens_the_first_connection_holds_no_page_up(server):
    hosts = ZooKeeperHosts(server.connect_string)
    with hosts._lock, pytest.raises(HostsUnavailableError):  # noqa: SLF001 - as another one has it
        hosts.hosts(within_s=0.1)
    assert hosts.hosts() == []
    hosts.close()


def test_a_report_says_whether_its_agent_lives(connect, plain):
    ours, theirs = connect(), plain()
    report = json.dumps({"state": "running", "generation": 1, "pid": 7}).encode()
    theirs.create("/penstock/hosts/host-1/observed/kc-1", report, makepath=True)
    theirs.create("/penstock/hosts/host-2/observed/kc-2", report, makepath=True)
    theirs.create("/penstock/hosts/host-2/alive", b"", ephemeral=True)
    found = ours.observed([KEY, ("host-2", "kc-2")])
    assert {key: each.is_watched for key, each in found.items()} == {
        KEY: False,
        ("host-2", "kc-2"): True,
    }
