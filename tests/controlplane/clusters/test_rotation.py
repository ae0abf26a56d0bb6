"""Another login for a cluster: in which order, and what a kill at any point leaves behind."""

import io
import itertools

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from controlplane.clusters.models import Cluster
from controlplane.clusters.protection import ProtectionError, protect
from controlplane.clusters.reports import Observed
from controlplane.clusters.rotation import rotate
from controlplane.clusters.services import restart_broker
from controlplane.clusters.specs import (
    ZOOKEEPER_NODES,
    ZOOKEEPER_PASSWORD,
    ZOOKEEPER_ROTATION,
)
from controlplane.common.crypto import seal, unseal
from zookeeper_access import files, keys
from zookeeper_access.settings import ZooKeeperAccess


class Killed(BaseException):
    """As a process ends: nothing of it runs any more."""


@pytest.fixture
def cluster(world, settings, tmp_path):
    file = tmp_path / "zookeeper.properties"
    files.write(
        file,
        {
            keys.SASL_USERNAME: "controlplane",
            keys.SASL_PASSWORD: "controlplane-secret-1",
            keys.SET_ACL: "true",
        },
    )
    settings.ZOOKEEPER_CONFIG = str(file)
    made = world.run("cluster.create", None, name="closed", broker_count=3)
    return Cluster.objects.get(pk=made.cluster_id)


def now(cluster):
    return Cluster.objects.get(pk=cluster.pk)


def password_of(cluster):
    return unseal(now(cluster).secrets_token)[ZOOKEEPER_PASSWORD]


def run(cluster, said=None):
    lines = [] if said is None else said
    return rotate(now(cluster), timeout_s=0.0, say=lines.append)


def accesses(world, cluster):
    """How each broker reaches ZooKeeper, as its host opens it."""
    return [ZooKeeperAccess.parse(secret) for secret in world.opened(cluster.id).values()]


def check_all_reach_all(world, cluster, nodes):
    """No broker makes, or has made, what another one cannot reach."""
    brokers = accesses(world, cluster)
    for maker in brokers:
        nodes.add(frozenset(f"{entry.id.scheme}:{entry.id.id}" for entry in maker.acl()))
    for broker in brokers:
        assert all(broker.owner() in owners for owners in nodes)
        assert broker.owner() in world.hosts.chroots[cluster.zookeeper_path]


@pytest.fixture
def watched(world, cluster, monkeypatch):
    """Every write to ZooKeeper is counted and checked; `kill_at` says before which one it ends."""
    nodes = set()  # who owns what is there
    check_all_reach_all(world, cluster, nodes)
    state = {"count": 0, "kill_at": None, "nodes": nodes}

    def counted(name):
        real = getattr(world.hosts, name)

        def write(*arguments):
            state["count"] += 1
            if state["count"] == state["kill_at"]:
                raise Killed
            answer = real(*arguments)
            if name == "protect_chroot":
                nodes.clear()
                nodes.add(frozenset((*arguments[1:], "sasl:controlplane")))
            check_all_reach_all(world, cluster, nodes)
            return answer

        monkeypatch.setattr(world.hosts, name, write)

    for name in ("write_desired", "make_chroot", "protect_chroot"):
        counted(name)
    return state


def check_done(world, cluster, before, watched):
    after = password_of(cluster)
    assert after != before
    assert not [key for key in unseal(now(cluster).secrets_token) if key.startswith("zookeeper:")]
    owners = {access.owner() for access in accesses(world, cluster)}
    assert {access.identity.password for access in accesses(world, cluster)} == {after}
    assert world.hosts.chroots[cluster.zookeeper_path] == tuple(owners)
    # Neither what is there nor what is made from here on belongs to the old one.
    assert watched["nodes"] == {frozenset({*owners, "sasl:controlplane"})}


def test_brokers_reach_each_others_nodes_all_the_time_and_the_old_login_nothing_after(
    world, cluster, watched
):
    before, said = password_of(cluster), []
    run(cluster, said)
    check_done(world, cluster, before, watched)
    assert [line.split(": ")[1] for line in said] == [
        *(f"broker {number} gives what it makes to both logins" for number in (1, 2, 3)),
        *(f"broker {number} has its new login" for number in (1, 2, 3)),
        *(f"broker {number} gives what it makes to the new login alone" for number in (1, 2, 3)),
        "1 nodes are the new login's alone",
    ]
    assert not [line for line in said if before in line or password_of(cluster) in line]


WRITES = 3 * 3 * 2 + 2


def test_killed_before_any_of_its_writes_it_goes_on_where_it_was(world, cluster, watched):
    for kill_at in itertools.chain(range(1, WRITES + 1), [None]):
        before = password_of(cluster)
        watched.update(count=0, kill_at=kill_at)
        if kill_at is None:
            break
        with pytest.raises(Killed):
            run(cluster)
        assert ZOOKEEPER_ROTATION in unseal(now(cluster).secrets_token)
        # What an operation writes for a broker meanwhile fits too.
        watched.update(count=0, kill_at=None)
        restart_broker(now(cluster), 2)
        watched.update(count=0)
        run(cluster)
        assert watched["count"] <= WRITES
        check_done(world, cluster, before, watched)
    run(cluster)
    assert watched["count"] == WRITES


def test_a_broker_that_has_what_it_is_to_have_is_not_restarted_again(world, cluster, watched):
    watched.update(count=0, kill_at=5)  # the chroot's and its own for each of two brokers
    with pytest.raises(Killed):
        run(cluster)
    done = {
        spec["broker_id"]: spec["generation"]
        for spec in world.hosts.desired.values()
        if spec["cluster_id"] == cluster.id
    }
    watched.update(count=0, kill_at=None)
    run(cluster)
    assert watched["count"] == WRITES - 4
    after = {
        spec["broker_id"]: spec["generation"]
        for spec in world.hosts.desired.values()
        if spec["cluster_id"] == cluster.id
    }
    assert {number: after[number] - done[number] for number in (1, 2)} == {1: 2, 2: 2}


def test_a_broker_that_does_not_come_back_stops_it_and_another_run_goes_on(world, cluster, watched):
    before = password_of(cluster)
    key = next(key for key in world.hosts.desired if key[1].endswith("-2"))
    world.hosts.reports[key] = Observed(state="failed", generation=2, message="no such file")
    with pytest.raises(ProtectionError, match=r"broker 2 .* failed\. no such file"):
        run(cluster)
    assert password_of(cluster) == before
    world.hosts.reports = {}
    run(cluster)
    check_done(world, cluster, before, watched)


def test_a_second_run_takes_over_and_the_first_writes_nothing_more(world, cluster, watched):
    before, counts = password_of(cluster), []

    def second(_line):
        if not counts:
            counts.append(None)
            run(cluster)
            counts[0] = watched["count"]

    with pytest.raises(ProtectionError, match="another run"):
        rotate(now(cluster), timeout_s=0.0, say=second)
    assert counts == [watched["count"]]
    check_done(world, cluster, before, watched)


def test_not_while_an_operation_is_under_way_nor_of_a_cluster_without_a_login(world, cluster):
    held = unseal(cluster.secrets_token)
    for refused in (
        {key: value for key, value in held.items() if key != ZOOKEEPER_PASSWORD},
        {**held, ZOOKEEPER_NODES: "closing"},
    ):
        Cluster.objects.filter(pk=cluster.pk).update(secrets_token=seal(refused))
        with pytest.raises(ProtectionError, match="has no login that could be replaced"):
            run(cluster)
        assert unseal(now(cluster).secrets_token) == refused
    Cluster.objects.filter(pk=cluster.pk).update(secrets_token=seal(held))
    world.start(world.plan("topic.create", cluster.id, name="t"))
    with pytest.raises(ProtectionError, match="under way"):
        run(cluster)
    assert unseal(now(cluster).secrets_token) == held


def test_nodes_are_not_closed_to_one_login_while_there_are_two(world, cluster, watched):
    watched.update(count=0, kill_at=12)
    with pytest.raises(Killed):
        run(cluster)
    with pytest.raises(ProtectionError, match="being replaced"):
        protect(now(cluster), is_stopped=False, timeout_s=0.0, say=str)
    assert watched["count"] == 12


@pytest.mark.usefixtures("world")
def test_by_command(cluster):
    before, out = password_of(cluster), io.StringIO()
    with pytest.raises(CommandError, match="no managed cluster: kc_none"):
        call_command("zookeeper", "rotate-cluster", cluster.id, "kc_none", stdout=out)
    assert password_of(cluster) == before
    call_command("zookeeper", "rotate-cluster", cluster.id, "--timeout-s", "0", stdout=out)
    assert password_of(cluster) != before
    assert "closed: broker 3 has its new login" in out.getvalue()
