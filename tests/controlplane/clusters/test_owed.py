"""Hosts that are away while a cluster on them is deleted, or made."""

from collections import Counter
from dataclasses import replace

import pytest

from controlplane.clusters import owed, services
from controlplane.clusters.candidates import ports_taken
from controlplane.clusters.models import Broker, Cluster, OwedDeletion
from controlplane.clusters.reports import Observed
from controlplane.clusters.sealing import open_for_host
from tests.controlplane.support import drive, step


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(services, "AWAY_GRACE_S", 0.0)


def set_alive(world, host_id, *, alive):
    world.hosts.known = [
        replace(host, alive=alive) if host.host_id == host_id else host
        for host in world.hosts.known
    ]


def goes_away(world, host_id):
    """Its agent reports no more: the last words are of what was."""
    set_alive(world, host_id, alive=False)
    for key, spec in world.hosts.desired.items():
        if key[0] == host_id:
            world.hosts.reports[key] = Observed(state="running", generation=spec["generation"])


def comes_back(world, host_id):
    """And does at once what is desired of it."""
    set_alive(world, host_id, alive=True)
    for key in [key for key in world.hosts.reports if key[0] == host_id]:
        del world.hosts.reports[key]


@pytest.fixture
def deleted(world):
    """A cluster of three that was deleted while host-2 was away."""
    made = world.run("cluster.create", None, name="demo", broker_count=3)
    goes_away(world, "host-2")
    ended = world.run("cluster.delete", made.cluster_id)
    return Cluster.objects.get(pk=made.cluster_id), ended


def test_a_host_that_is_away_does_not_block_a_deletion(world, deleted):
    cluster, ended = deleted
    assert ended.state == "succeeded"
    assert step(ended, "removed").detail == (
        "1 host is away: what it has of the cluster is deleted when it is back"
    )
    assert cluster.phase == "DELETED"
    assert not Broker.objects.filter(cluster=cluster).exists()
    ((host_id, _),) = world.hosts.desired
    assert host_id == "host-2", "what the others had is gone"


def test_two_brokers_of_one_host_are_one_host_that_is_away(world):
    made = world.run("cluster.create", None, name="demo", broker_count=4)
    ((shared, count),) = Counter(host for host, _ in world.hosts.desired).most_common(1)
    assert count == 2
    goes_away(world, shared)
    ended = world.run("cluster.delete", made.cluster_id)
    assert step(ended, "removed").detail.startswith("1 host is away: what it has")
    assert step(ended, "purge").detail == (
        "in ZooKeeper stands only that 2 brokers shall be deleted"
    )
    assert OwedDeletion.objects.count() == len(world.hosts.desired) == 2


def test_its_ports_stay_taken_until_it_has_deleted_what_it_has(world, deleted):
    (row,) = OwedDeletion.objects.all()
    assert {row.client_port, row.internal_port} <= ports_taken()["host-2"]
    assert owed.settle() == []
    comes_back(world, "host-2")
    assert owed.settle() == [row.key]
    assert not world.hosts.desired
    assert "host-2" not in ports_taken()
    assert owed.settle() == []


def test_a_report_of_the_running_broker_is_no_deletion(world, deleted):
    set_alive(world, "host-2", alive=True)
    assert owed.settle() == []
    assert OwedDeletion.objects.count() == 1
    ((_, spec),) = world.hosts.desired.items()
    assert spec["state"] == "deleted"


def test_a_host_that_was_forgotten_is_told_once_more(world, deleted):
    cluster, _ = deleted
    world.hosts.desired.clear()
    world.hosts.reports.clear()
    assert owed.settle() == [], "it is not back yet"
    assert not world.hosts.desired
    set_alive(world, "host-2", alive=True)
    owed.settle()
    ((place, spec),) = world.hosts.desired.items()
    assert place[0] == "host-2"
    assert (spec["state"], spec["cluster_id"]) == ("deleted", cluster.id)
    assert spec["config"]["zookeeper.connect"].endswith(cluster.zookeeper_path)
    assert open_for_host("host-2", spec["secret"]) == {}
    assert owed.settle() == [place[1]]


def test_an_agent_that_is_restarted_is_waited_for(world, monkeypatch):
    monkeypatch.setattr(services, "AWAY_GRACE_S", 3600.0)
    made = world.run("cluster.create", None, name="demo", broker_count=3)
    goes_away(world, "host-2")
    operation = world.start(world.plan("cluster.delete", made.cluster_id))
    drive(operation, ticks=8)
    assert operation.state == "running"
    key = next(key for host, key in world.hosts.desired if host == "host-2")
    number = key.rpartition("-")[2]
    assert f"The host of broker {number} is away." in step(operation, "removed").detail
    comes_back(world, "host-2")
    assert drive(operation).state == "succeeded"
    assert not OwedDeletion.objects.exists()


def test_a_host_that_is_there_and_slow_is_waited_for(world):
    """Only those that are away owe; the others say when they are done."""
    made = world.run("cluster.create", None, name="demo", broker_count=3)
    goes_away(world, "host-2")
    for key, spec in world.hosts.desired.items():
        if key[0] == "host-1":
            world.hosts.reports[key] = Observed(state="running", generation=spec["generation"])
    operation = world.start(world.plan("cluster.delete", made.cluster_id))
    drive(operation, ticks=8)
    assert operation.state == "running"
    comes_back(world, "host-1")
    assert drive(operation).state == "succeeded"


def test_a_creation_onto_a_host_that_has_just_died_leaves_nothing_to_start(world):
    operation = world.start(world.plan("cluster.create", None, name="demo", broker_count=3))
    drive(operation, ticks=3)
    for key, spec in world.hosts.desired.items():
        if key[0] == "host-2":
            world.hosts.reports[key] = Observed(state="failed", generation=spec["generation"])
    set_alive(world, "host-2", alive=False)
    assert drive(operation).state == "failed"
    cluster = Cluster.objects.get(pk=operation.cluster_id)
    assert cluster.phase == "DELETED"
    ((place, spec),) = world.hosts.desired.items()
    assert (place[0], spec["state"]) == ("host-2", "deleted"), "it starts no broker when it returns"
    comes_back(world, "host-2")
    assert owed.settle() == [place[1]]
