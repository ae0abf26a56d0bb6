"""A real ZooKeeper is away at each step of the kinds that provision clusters, for longer than every
lease and session, and comes back. Agents are the test's own, which note what they are asked for.

One outage is one at every step: an operation stands at each when it begins.
"""

import contextlib
import json
import logging
import os
import signal
import time
from collections import defaultdict
from datetime import timedelta

import pytest
from django.utils import timezone
from kazoo.exceptions import NodeExistsError

from controlplane.clusters import hosts as hosts_module
from controlplane.clusters import zookeeper_tree
from controlplane.clusters.hosts import ZooKeeperHosts, use_hosts
from controlplane.clusters.models import DELETED, RUNNING, Cluster
from controlplane.common.problems import Unavailable
from controlplane.operations import engine
from controlplane.operations.operations import required_kind
from controlplane.operations.services import operation_cancel
from controlplane.operations.states import ACTIVE_STATES
from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.controlplane.operations.trouble import FORWARD, expire
from tests.controlplane.support import ACTOR
from tests.processes import hold_still
from zookeeper_access.client import AccessClient
from zookeeper_access.settings import ZooKeeperAccess

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(180)]
CREATE, DELETE = "cluster.create", "cluster.delete"
ANSWER_S = 0.5
"""How long ZooKeeper is waited for, shorter than as the product has it: 15 operations ask in turn."""
AWAY_S = 12.0
"""Longer than the sessions of both sides, 10 s."""
BACK_S = 30.0
KILLED, HANGS = "killed", "hangs"
HOSTS = ("host-1", "host-2", "host-3")


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setattr(hosts_module, "ANSWER_TIMEOUT_S", ANSWER_S)
    monkeypatch.setattr(zookeeper_tree, "ANSWER_TIMEOUT_S", ANSWER_S)
    made = EmbeddedZooKeeper(tmp_path, fsync=False)
    made.start()
    yield made
    if made.pid:
        os.kill(made.pid, signal.SIGCONT)
    made.stop()


@pytest.fixture
def agents(world, server):
    made = Agents(server.connect_string)
    hosts = ZooKeeperHosts(server.connect_string)
    use_hosts(hosts)
    yield made
    hosts.close()
    made.close()


class Agents:
    """They obey at once, whenever the test lets them; `obeyed` holds (generation, state) by broker."""

    def __init__(self, servers):
        self.obeyed = defaultdict(list)
        logger = logging.getLogger("kazoo.client")
        self.client = AccessClient(servers, ZooKeeperAccess(), logger=logger, timeout=10.0)
        self.client.start(10)
        for number, host in enumerate(HOSTS):
            first = 20_000 + 100 * number
            described = {
                "host_id": host,
                "rack": host,
                "address": "127.0.0.1",
                "port_range": [first, first + 99],
            }
            self.client.create(self.at(host), json.dumps(described).encode(), makepath=True)
            for kind in ("desired", "observed"):
                self.client.create(self.at(host, kind))
        self.obey()

    def at(self, host, *rest):
        return "/".join(("/penstock/hosts", host, *rest))

    def obey(self):
        for host in HOSTS:
            with contextlib.suppress(NodeExistsError):  # a session that expired took it along
                self.client.create(self.at(host, "alive"), ephemeral=True)
            for broker in self.client.get_children(self.at(host, "desired")):
                self._obey(host, broker)

    def _obey(self, host, broker):
        spec = json.loads(self.client.get(self.at(host, "desired", broker))[0])
        wanted = spec["generation"], spec["state"]
        if wanted in self.obeyed[broker][-1:]:
            return
        self.obeyed[broker].append(wanted)
        report = json.dumps({"generation": wanted[0], "state": wanted[1], "pid": 1}).encode()
        path = self.at(host, "observed", broker)
        if self.client.exists(path):
            self.client.set(path, report)
        else:
            self.client.create(path, report)

    def traces_of(self, cluster_id):
        """Nodes that ZooKeeper has of a cluster."""
        found = [
            self.at(host, kind, broker)
            for host in HOSTS
            for kind in ("desired", "observed")
            for broker in self.client.get_children(self.at(host, kind))
            if broker.startswith(cluster_id)
        ]
        chroot = Cluster.objects.get(pk=cluster_id).zookeeper_path
        return found + ([chroot] if self.client.exists(chroot) else [])

    def close(self):
        self.client.stop()
        self.client.close()


def tick(operation, agents=None):
    operation.refresh_from_db()
    if operation.state in ACTIVE_STATES:
        engine.tick(operation.id)
        if agents:
            agents.obey()
    operation.refresh_from_db()


def drive(agents, operation, until=lambda _: False):
    for _ in range(100):
        if operation.state not in ACTIVE_STATES or until(operation):
            return operation
        tick(operation, agents)
    raise AssertionError(f"{operation} does not get there: {list(operation.steps.values())}")


def stands_at(step):
    """Everything of this way before the step is done, and the step is not."""

    def holds(operation):
        rows = {row.name: row.state for row in operation.steps.all()}
        if rows[step] in ("done", "skipped"):
            raise AssertionError(f"{operation} is beyond {step}: {rows}")
        phase = required_kind(operation.kind).step(step).phase
        way = [
            spec.name
            for spec in required_kind(operation.kind).steps
            if spec.phase == phase or (phase in FORWARD and spec.phase in FORWARD)
        ]
        return all(rows[name] == "done" for name in way[: way.index(step)])

    return holds


def create(world, name):
    return world.start(world.plan(CREATE, None, name=name, broker_count=1))


def cancel(world, operation):
    operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    operation.refresh_from_db()


def prepared(world, agents):
    """An operation at each step, by (kind or `cancelled`, step)."""
    found = {}
    for spec in required_kind(CREATE).steps:
        way = CREATE if spec.phase in FORWARD else "cancelled"
        operation = create(world, f"{way}-{spec.name}".replace(".", "-"))
        if way == "cancelled":
            drive(agents, operation, stands_at("registration"))
            cancel(world, operation)
            engine.tick(operation.id)  # it turns back
        found[way, spec.name] = drive(agents, operation, stands_at(spec.name))
    for spec in required_kind(DELETE).steps:
        made = drive(agents, create(world, f"delete-{spec.name}"))
        assert made.state == "succeeded", made.error
        operation = world.start(world.plan(DELETE, made.cluster_id))
        found[DELETE, spec.name] = drive(agents, operation, stands_at(spec.name))
    return found


@pytest.mark.parametrize("how", [KILLED, HANGS])
def test_away_at_each_step_of_the_kinds_that_provision(world, agents, server, how):
    operations = prepared(world, agents)
    given_up = create(world, "given-up")
    tick(given_up)  # its places are free
    assert stands_at("desired")(given_up)
    server.kill() if how == KILLED else hold_still(server.pid)
    taken_s = time.monotonic()
    for at, operation in operations.items():
        for _ in range(2):
            tick(operation)
            assert operation.state in {*ACTIVE_STATES, "succeeded"}, (at, operation.error)
            expire(operation)
    assert_given_up(given_up)
    with pytest.raises(Unavailable) as caught:
        create(world, "meanwhile")
    assert caught.value.code == "zookeeper-away"
    time.sleep(max(0.0, taken_s + AWAY_S - time.monotonic()))
    server.start() if how == KILLED else os.kill(server.pid, signal.SIGCONT)
    back_s = time.monotonic()
    agents.client.retry(agents.obey)
    every = [*operations.values(), given_up]
    while any(operation.state in ACTIVE_STATES for operation in every):
        assert time.monotonic() - back_s < BACK_S, {
            at: (one.state, [row.detail for row in one.steps.all()])
            for at, one in operations.items()
        }
        for operation in every:
            tick(operation, agents)
    for at, operation in operations.items():
        assert_is_so(agents, at, operation)
    assert (given_up.state, given_up.remains) == ("failed", [])
    assert Cluster.objects.get(pk=given_up.cluster_id).phase == DELETED
    assert agents.traces_of(given_up.cluster_id) == []


def assert_given_up(operation):
    """Beyond the step's deadline it has failed, says why, and goes on clearing up."""
    tick(operation)
    tick(operation)
    long_ago = timezone.now() - timedelta(seconds=200)
    operation.steps.filter(name="desired").update(started_at=long_ago)
    tick(operation)
    expire(operation)
    tick(operation)
    assert (operation.state, operation.rolling_back) == ("running", True)
    assert operation.error["code"] == "step-timeout"
    assert "ZooKeeper does not answer" in operation.error["detail"]


def assert_is_so(agents, at, operation):
    """The rows, ZooKeeper and what the agents were asked for say the same; nothing twice."""
    cluster = Cluster.objects.get(pk=operation.cluster_id)
    asked = [seen for key, seen in agents.obeyed.items() if key.startswith(cluster.id)]
    if at[0] == CREATE:
        assert operation.state == "succeeded", (at, operation.error)
        assert cluster.phase == RUNNING
        assert asked == [[(1, "running")]], at
        assert len(agents.traces_of(cluster.id)) == 3
        return
    assert operation.state == ("succeeded" if at[0] == DELETE else "cancelled"), (at, operation)
    assert cluster.phase == DELETED
    assert asked == [[(1, "running"), (2, "deleted")]], at
    assert agents.traces_of(cluster.id) == [], at
