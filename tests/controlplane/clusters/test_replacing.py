"""cluster.replace_broker: the same broker on another host, and the way back until it is in sync."""

from dataclasses import replace

import pytest

from controlplane.clusters import losing, owed
from controlplane.clusters.models import Broker, Cluster, LostBroker, OwedDeletion
from controlplane.clusters.reports import Observed
from controlplane.common.problems import Conflict, NotFound
from controlplane.gateway.types import TP
from controlplane.operations.models import Operation
from controlplane.operations.operations import required_kind
from controlplane.operations.services import operation_cancel
from tests.controlplane.kind_plans import add_broker
from tests.controlplane.operations.trouble import (
    AFTER,
    BEFORE,
    ProcessKilled,
    act,
    outlive,
    raising,
)
from tests.controlplane.support import ACTOR, drive, step

KIND = "cluster.replace_broker"
MIN_ISR = "min.insync.replicas"


@pytest.fixture
def brokers(world):
    """Brokers 1 to 3 on hosts 1 to 3, a fourth host, a topic on all of them."""
    for number in (1, 2, 3):
        add_broker(world, number)
    Broker.objects.filter(cluster=world.cluster).update(rack="rack-x")
    world.gateway.brokers.pop(4)
    fourth = replace(world.hosts.known[0], host_id="host-4", rack="rack-4", address="127.0.0.4")
    world.hosts.known.append(replace(fourth, port_first=20_400, port_last=20_499))
    from controlplane.clusters.sealing import host_keys

    host_keys("host-4")
    Cluster.objects.filter(pk=world.cluster.pk).update(
        bootstrap_servers="127.0.0.1:15002,127.0.0.1:15004,127.0.0.1:15006"
    )
    world.gateway.add_topic("orders", partitions=3, rf=3)
    world.gateway.topics["orders"].configs[MIN_ISR] = "2"
    path = Cluster.objects.get(pk=world.cluster.pk).zookeeper_path
    world.hosts.directories[path, 2] = ["old-directory"]
    world.named["path"] = path
    return world


def dies(world, host_id, *, broker):
    world.hosts.known = [
        replace(host, alive=host.alive and host.host_id != host_id) for host in world.hosts.known
    ]
    world.gateway.brokers.pop(broker, None)


def row(world, broker=2):
    return Broker.objects.get(cluster=world.cluster, broker_id=broker)


def key(world, host_id, broker=2):
    return host_id, f"{world.cluster.id}-{broker}"


def run(world, broker=2):
    return drive(world.start(world.plan(KIND, broker=broker)))


# -- the way through
def test_it_goes_on_under_its_id_on_another_host(brokers):
    plan = brokers.plan(KIND, broker=2)
    assert (plan.diff["way"], plan.diff["replicas"]) == ("move", 3)
    assert "host" not in str(plan.diff), "hosts are the platform's"
    assert plan.preconditions["placement"][0]["host_id"] == "host-4"
    assert "rack-4" in plan.preconditions["explained"]["reasons"]["2"]
    operation = drive(brokers.start(plan))
    assert operation.state == "succeeded", operation.error
    moved = row(brokers)
    assert (moved.host_id, moved.desired_state, moved.address) == ("host-4", "running", "127.0.0.4")
    servers = Cluster.objects.get(pk=brokers.cluster.pk).bootstrap_servers.split(",")
    assert servers == ["127.0.0.1:15002", f"127.0.0.4:{moved.client_port}", "127.0.0.1:15006"]
    # What it left is fenced, deleted, and its ports stay taken until that is done.
    assert brokers.hosts.fenced[brokers.named["path"]] == {"old-directory"}
    assert brokers.hosts.desired[key(brokers, "host-2")]["state"] == "deleted"
    assert OwedDeletion.objects.get().host_id == "host-2"
    assert owed.settle() == [f"{brokers.cluster.id}-2"]
    assert not OwedDeletion.objects.exists()


def test_it_is_begun_only_once_no_broker_counts_it(brokers):
    """A broker that still names it in an ISR would have its empty log elected."""
    plan = brokers.plan(KIND, broker=2)
    operation = brokers.start(plan)
    for _ in range(50):
        drive(operation, ticks=1)
        if step(operation, "leave").state == "done":
            break
    from controlplane.gateway.types import BrokerNode

    live = dict(brokers.gateway.brokers)
    brokers.gateway.brokers[2] = BrokerNode(id=2, host="127.0.0.1", port=9002)
    brokers.gateway.hold_back(3)
    brokers.gateway.brokers.clear()
    brokers.gateway.brokers.update(live)
    drive(operation, ticks=6)
    waiting = step(operation, "uncounted")
    assert waiting.state == "running"
    assert "3 partitions still count it" in waiting.detail
    assert "as broker 3 says" in waiting.detail
    assert row(brokers).host_id == "host-2"
    brokers.gateway.catch_up(3)
    assert drive(operation).state == "succeeded"


# -- what forbids it
def test_refused_when_a_partition_would_have_no_replica(brokers):
    brokers.gateway.add_topic("alone", partitions=1, rf=1)
    for part in brokers.gateway.topics["alone"].partitions:
        part.replicas = (2,)
    with pytest.raises(Conflict) as caught:
        brokers.plan(KIND, broker=2)
    assert caught.value.code == "would-be-offline"
    assert "alone-0" in caught.value.detail


def test_refused_when_a_partition_would_fall_below_its_minimum(brokers):
    brokers.gateway.topics["orders"].configs[MIN_ISR] = "3"
    with pytest.raises(Conflict) as caught:
        brokers.plan(KIND, broker=2)
    assert caught.value.code == "below-min-isr"


def test_refused_while_another_replica_is_behind_or_moves(brokers):
    (part, *_) = brokers.gateway.topics["orders"].partitions
    part.out_of_sync = frozenset({3})
    with pytest.raises(Conflict, match="out of sync"):
        brokers.plan(KIND, broker=2)
    part.out_of_sync = frozenset()
    brokers.gateway.polls_to_move = 10**6
    brokers.gateway.reassign({TP("orders", 0): [3, 2, 1]})
    with pytest.raises(Conflict, match="being reassigned"):
        brokers.plan(KIND, broker=2)


def test_refused_while_nobody_can_stop_it(brokers):
    dies(brokers, "host-2", broker=None)
    with pytest.raises(Conflict) as caught:
        brokers.plan(KIND, broker=2)
    assert caught.value.code == "agent-away"


def test_not_a_broker_of_another_number(brokers):
    with pytest.raises(NotFound):
        brokers.plan(KIND, broker=9)


def test_without_another_host_there_is_none(brokers):
    brokers.hosts.known = [host for host in brokers.hosts.known if host.host_id == "host-2"]
    with pytest.raises(Conflict) as caught:
        brokers.plan(KIND, broker=2)
    assert caught.value.code == "no-capacity"


def test_what_gets_worse_after_the_plan_is_waited_for(brokers):
    operation = brokers.start(brokers.plan(KIND, broker=2))
    (part, *_) = brokers.gateway.topics["orders"].partitions
    part.out_of_sync = frozenset({3})
    drive(operation, ticks=6)
    assert "out of sync" in step(operation, "leave").detail
    assert row(brokers).desired_state == "running"
    part.out_of_sync = frozenset()
    assert drive(operation).state == "succeeded"


# -- a host that is away, or was declared lost
def test_a_broker_of_a_dead_host_is_built_anew(brokers):
    dies(brokers, "host-2", broker=2)
    plan = brokers.plan(KIND, broker=2)
    assert plan.diff["way"] == "rebuild"
    # It has registered as soon as its new host has it.
    brokers.hosts.followers.append(registers(brokers))
    operation = drive(brokers.start(plan))
    assert operation.state == "succeeded", operation.error
    assert row(brokers).host_id == "host-4"
    assert not LostBroker.objects.exists()
    assert brokers.hosts.fenced[brokers.named["path"]] == {"old-directory"}
    assert brokers.hosts.desired[key(brokers, "host-2")]["state"] == "deleted"


def test_a_lost_broker_is_built_anew(brokers):
    dies(brokers, "host-2", broker=2)
    losing.lose("host-2", by="user:test")
    brokers.hosts.followers.append(registers(brokers))
    operation = run(brokers)
    assert operation.state == "succeeded", operation.error
    assert row(brokers).host_id == "host-4"
    assert not LostBroker.objects.exists()


def test_what_would_be_lost_is_named_and_refused(brokers):
    dies(brokers, "host-2", broker=2)
    brokers.gateway.add_topic("alone", partitions=1, rf=1)
    brokers.gateway.topics["alone"].partitions[0].replicas = (2,)
    with pytest.raises(Conflict) as caught:
        brokers.plan(KIND, broker=2)
    assert caught.value.code == "partitions-lost"
    assert caught.value.as_dict()["partitions"] == ["alone-0"]


def registers(world):
    from controlplane.gateway.types import BrokerNode

    def follow(_, spec):
        if spec["state"] == "running":
            world.gateway.brokers[spec["broker_id"]] = BrokerNode(
                id=spec["broker_id"], host="127.0.0.4", port=1
            )

    return follow


# -- killed, failed, cancelled
STEPS = [spec.name for spec in required_kind(KIND).steps if spec.phase in {"execute", "verify"}]


@pytest.mark.parametrize("when", [BEFORE, AFTER])
@pytest.mark.parametrize("at", STEPS)
def test_killed_at_each_step(brokers, monkeypatch, at, when):
    act(monkeypatch, (KIND, at), when, raising(ProcessKilled()))
    operation = outlive(brokers.start(brokers.plan(KIND, broker=2)))
    assert operation.state == "succeeded", operation.error
    assert row(brokers).host_id == "host-4"
    assert brokers.hosts.fenced[brokers.named["path"]] == {"old-directory"}


@pytest.mark.parametrize("at", STEPS[: STEPS.index("wipe")])
def test_cancelled_at_each_step_it_is_where_it_was(brokers, monkeypatch, at):
    def cancel():
        found = Operation.objects.get()
        operation_cancel(tenant=brokers.tenant, actor=ACTOR, operation_id=found.id)

    act(monkeypatch, (KIND, at), AFTER, cancel)
    operation = outlive(brokers.start(brokers.plan(KIND, broker=2)))
    assert operation.state == "cancelled", operation.error
    back = row(brokers)
    assert (back.host_id, back.desired_state) == ("host-2", "running")
    assert 2 in brokers.gateway.brokers
    assert not OwedDeletion.objects.exists()
    assert key(brokers, "host-4") not in brokers.hosts.desired
    assert not brokers.hosts.fenced.get(brokers.named["path"])
    servers = Cluster.objects.get(pk=brokers.cluster.pk).bootstrap_servers
    assert servers == "127.0.0.1:15002,127.0.0.1:15004,127.0.0.1:15006"


def test_one_that_does_not_start_there_comes_back(brokers):
    plan = brokers.plan(KIND, broker=2)

    def fails(place, spec):
        if place[0] == "host-4":
            state = "failed" if spec["state"] == "running" else spec["state"]
            brokers.hosts.reports[place] = Observed(
                state=state, generation=spec["generation"], message="no such disk"
            )

    brokers.hosts.followers.append(fails)
    operation = drive(brokers.start(plan))
    assert (operation.state, operation.error["code"]) == ("failed", "broker-does-not-start")
    assert (row(brokers).host_id, row(brokers).desired_state) == ("host-2", "running")
    assert 2 in brokers.gateway.brokers


def test_it_does_not_come_back_while_it_alone_has_what_was_written(brokers):
    """Its old log is behind: the new one must not be thrown away for it."""
    operation = brokers.start(brokers.plan(KIND, broker=2))
    for _ in range(80):
        drive(operation, ticks=1)
        if step(operation, "sync").state == "done":
            break
    (part, *_) = brokers.gateway.topics["orders"].partitions
    part.out_of_sync = frozenset({1, 3})
    operation_cancel(tenant=brokers.tenant, actor=ACTOR, operation_id=operation.id)
    drive(operation, ticks=10)
    assert "it alone has 1 partition in sync" in step(operation, "return").detail
    assert row(brokers).host_id == "host-4"
    part.out_of_sync = frozenset()
    assert drive(operation).state == "cancelled"
    assert row(brokers).host_id == "host-2"


def test_the_new_host_dies_on_the_way_back(brokers):
    operation = brokers.start(brokers.plan(KIND, broker=2))
    for _ in range(80):
        drive(operation, ticks=1)
        if step(operation, "registration").state == "done":
            break
    brokers.hosts.directories[brokers.named["path"], 2] = ["new-directory"]
    place = key(brokers, "host-4")
    brokers.hosts.reports[place] = Observed(state="running", generation=row(brokers).generation)
    dies(brokers, "host-4", broker=2)
    operation_cancel(tenant=brokers.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(operation).state == "cancelled", operation.error
    assert row(brokers).host_id == "host-2"
    assert brokers.hosts.fenced[brokers.named["path"]] == {"new-directory"}
    assert OwedDeletion.objects.get().host_id == "host-4"


def test_two_at_once_are_refused(brokers):
    first, second = brokers.plan(KIND, broker=2), brokers.plan(KIND, broker=3)
    brokers.start(first)
    with pytest.raises(Conflict) as caught:
        brokers.start(second)
    assert caught.value.code == "operation-in-progress"
