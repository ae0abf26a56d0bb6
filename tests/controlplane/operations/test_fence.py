"""A worker that lost its lease writes nothing more: to brokers, to ZooKeeper, to the database."""

import inspect
import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from controlplane.clusters.connections import gateway_for, use_gateways
from controlplane.clusters.hosts import READS as HOSTS_READS
from controlplane.clusters.hosts import Hosts, hosts
from controlplane.clusters.models import Cluster
from controlplane.common import lease_keeper
from controlplane.common.fence import fenced_by
from controlplane.common.lease_keeper import LeaseKeeper, LeaseLostError, use_keeper
from controlplane.common.problems import Problem
from controlplane.gateway.fake import FakeGateway
from controlplane.gateway.port import READS, VIEWS, BrokerView, ClusterGateway
from controlplane.operations import engine
from controlplane.operations.models import Operation
from tests.controlplane.support import drive, step

WRITES = {
    "alter_broker_configs",
    "alter_default_broker_configs",
    "alter_quotas",
    "alter_replica_log_dirs",
    "alter_topic_configs",
    "commit_group_offsets",
    "create_acls",
    "create_partitions",
    "create_topic",
    "delete_acls",
    "delete_group",
    "delete_group_offsets",
    "delete_records",
    "delete_topic",
    "delete_user",
    "elect_preferred_leaders",
    "reassign",
    "upsert_user",
}
HOSTS_WRITES = {
    "admit_host",
    "fence_directories",
    "forget_broker",
    "forget_host",
    "make_chroot",
    "prepare",
    "protect_chroot",
    "remove_chroot",
    "reseal",
    "write_desired",
}


def methods(protocol):
    return {name for name, _ in inspect.getmembers(protocol, inspect.isfunction) if name[0] != "_"}


def lost():
    raise LeaseLostError("it is another worker's")


def test_each_method_of_gateway_and_hosts_is_known_as_a_read_or_a_write():
    assert methods(ClusterGateway) == READS | WRITES | VIEWS
    assert methods(BrokerView) <= READS | WRITES
    assert methods(Hosts) == HOSTS_READS | HOSTS_WRITES
    assert not READS & WRITES
    assert not HOSTS_READS & HOSTS_WRITES


@pytest.mark.parametrize("name", sorted(WRITES))
def test_no_write_reaches_a_broker_without_the_lease(world, name):
    with fenced_by(lost):
        gateway = gateway_for(world.cluster)
    with pytest.raises(LeaseLostError):
        getattr(gateway, name)()
    assert world.gateway.calls == []


def test_no_write_reaches_one_broker_by_name_without_the_lease(world):
    with fenced_by(lost):
        broker = gateway_for(world.cluster).at(1)
        assert broker.list_users() == []
    with pytest.raises(LeaseLostError):
        broker.alter_broker_configs(1, {"leader.replication.throttled.rate": "1"})
    assert "alter_broker_configs" not in world.gateway.calls


def test_what_reads_goes_on(world):
    with fenced_by(lost):
        assert gateway_for(world.cluster).list_topics() == []
        assert hosts().hosts()
        assert Cluster.objects.get() == world.cluster


@pytest.mark.parametrize("name", sorted(HOSTS_WRITES))
def test_no_write_reaches_zookeeper_without_the_lease(world, name):
    with fenced_by(lost), pytest.raises(LeaseLostError):
        getattr(hosts(), name)()


def test_no_write_reaches_the_database_without_the_lease(world):
    rows = Cluster.objects.filter(pk=world.cluster.pk)
    writes = [
        lambda: rows.update(name="other"),
        rows.delete,
        lambda: Cluster.objects.create(tenant=world.tenant, name="new"),
        lambda: Cluster.objects.bulk_create([Cluster(tenant=world.tenant, name="new")]),
    ]
    for write in writes:
        with pytest.raises(LeaseLostError), transaction.atomic(), fenced_by(lost):
            write()
    assert list(Cluster.objects.values_list("name", flat=True)) == ["main"]


def test_outside_of_a_step_nothing_is_fenced(world):
    assert gateway_for(world.cluster) is world.gateway
    assert hosts() is world.hosts


def test_a_gateway_that_a_step_kept_stays_fenced_after_it(world):
    with fenced_by(lost):
        kept = gateway_for(world.cluster)
    with pytest.raises(LeaseLostError):
        kept.delete_topic("orders")


# -- a worker that stands still past its lease ---------------------------------------------------
SHORT_S = 0.6


class BlockingGateway(FakeGateway):
    """The first look for topics by the thread `slow` takes until it is told to go on."""

    def __init__(self):
        super().__init__(brokers=4)
        self.stands, self.go_on = threading.Event(), threading.Event()
        self.by: list[tuple[str, str]] = []

    def describe_topics(self, names):
        if threading.current_thread().name == "slow" and not self.stands.is_set():
            self.stands.set()
            assert self.go_on.wait(60)
        return super().describe_topics(names)

    def called(self, method):
        super().called(method)
        self.by.append((threading.current_thread().name, method))


@pytest.fixture
def two_workers(world, monkeypatch, settings):
    """Each thread is a worker: a lease keeper and a database connection of its own."""
    settings.OPERATION_LEASE_S = SHORT_S
    gateway = world.gateway = BlockingGateway()
    use_gateways(lambda _cluster: gateway)
    keepers = {"slow": LeaseKeeper(), "quick": LeaseKeeper()}
    monkeypatch.setattr(
        engine, "keeper", lambda: keepers.get(threading.current_thread().name, keepers["quick"])
    )
    yield world, keepers
    for keeper in keepers.values():
        keeper.stop()


def in_worker(name, operation, results):
    def run():
        try:
            results[name] = engine.tick(operation.id)
        finally:
            connection.close()

    thread = threading.Thread(target=run, name=name)
    thread.start()
    return thread


def await_free(operation):
    while Operation.objects.get(pk=operation.pk).lease_expires_at > timezone.now():
        threading.Event().wait(0.02)


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_stood_still_past_its_lease_writes_nothing_more(two_workers, monkeypatch):
    """As SIGSTOP does it: the step and the renewing thread stand still, and go on afterwards."""
    world, keepers = two_workers
    operation = world.start(world.plan("topic.create", name="orders", partitions=2))
    world.gateway.by.clear()
    stopped = threading.Event()
    renew = keepers["slow"].renew
    monkeypatch.setattr(keepers["slow"], "renew", lambda due: stopped.is_set() or renew(due))
    results = {}
    slow = in_worker("slow", operation, results)
    assert world.gateway.stands.wait(60)
    stopped.set()
    await_free(operation)
    assert drive(operation).state == "succeeded"
    finished = Operation.objects.filter(pk=operation.pk).values().get()
    steps = list(operation.steps.values())
    stopped.clear()
    world.gateway.go_on.set()
    slow.join(60)
    assert results == {"slow": False}
    assert {name for name, method in world.gateway.by if method in WRITES} == {"MainThread"}
    assert [method for _, method in world.gateway.by].count("create_topic") == 1
    assert Operation.objects.filter(pk=operation.pk).values().get() == finished
    assert list(operation.steps.values()) == steps


@pytest.mark.django_db(transaction=True)
def test_a_slow_step_keeps_its_lease(two_workers):
    """It takes several times as long as a lease lasts, and nobody else gets at it."""
    world, _ = two_workers
    operation = world.start(world.plan("topic.create", name="orders", partitions=2))
    results = {}
    slow = in_worker("slow", operation, results)
    assert world.gateway.stands.wait(60)
    first = Operation.objects.get(pk=operation.pk).lease_expires_at
    while Operation.objects.get(pk=operation.pk).lease_expires_at < first + timedelta(
        seconds=3 * SHORT_S
    ):
        assert engine.tick(operation.id) is False
        threading.Event().wait(0.02)
    world.gateway.go_on.set()
    slow.join(60)
    assert results == {"slow": True}
    assert step(operation, "create").state == "done"


def test_a_step_whose_lease_is_in_doubt_ends_without_a_word(world, monkeypatch):
    """The database cannot be asked: what the step would have written is not begun."""
    operation = world.start(world.plan("topic.create", name="orders", partitions=2))
    world.gateway.calls.clear()
    real = world.gateway.describe_topics

    def slow(names):
        monkeypatch.setattr(LeaseKeeper, "renew", lambda *_: False)
        now_s = lease_keeper.elapsed_s()
        monkeypatch.setattr(lease_keeper, "elapsed_s", lambda: now_s + 60)
        return real(names)

    with monkeypatch.context() as patch:
        patch.setattr(world.gateway, "describe_topics", slow)
        assert engine.tick(operation.id) is False
    assert "create_topic" not in world.gateway.calls
    assert step(operation, "create").state == "running"
    monkeypatch.undo()
    use_keeper(LeaseKeeper(in_background=False))
    Operation.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert drive(operation).state == "succeeded"


GONE = Problem("Restored from a backup.", code="interrupted", status=409)


@pytest.mark.parametrize("end", [drive, lambda row: engine.interrupt(row.id, GONE)])
def test_who_is_done_with_an_operation_holds_its_lease_no_more(world, end):
    """Else a process would hold more and more, and in the end take none."""
    use_keeper(LeaseKeeper(held_max=1, in_background=False))
    for number in range(3):
        operation = world.start(world.plan("topic.create", name=f"t-{number}"))
        end(operation)
        operation.refresh_from_db()
        assert operation.state in {"succeeded", "failed"}


def test_what_another_worker_is_at_is_not_broken_off(world):
    operation = world.start(world.plan("topic.create", name="orders"))
    assert engine.claim(operation.id)
    assert engine.interrupt(operation.id, GONE) is False


def test_what_was_broken_off_says_that_nothing_was_brought_back(world):
    operation = world.start(world.plan("topic.create", name="orders"))
    drive(operation, ticks=1)
    assert engine.interrupt(operation.id, GONE)
    operation.refresh_from_db()
    assert operation.remains == [
        "What “Create the topic” did may stay: “Remove the topic while it is empty” was not run."
    ]


def test_a_step_that_lost_its_operation_before_it_began_is_not_run(world, monkeypatch):
    """Between reading the rows and marking the step, another worker took over."""
    operation = world.start(world.plan("topic.create", name="orders", partitions=2))
    real = engine.next_action

    def taken(**given):
        Operation.objects.filter(pk=operation.pk).update(lease_token="another's")
        return real(**given)

    with monkeypatch.context() as patch:
        patch.setattr(engine, "next_action", taken)
        world.gateway.calls.clear()
        assert engine.tick(operation.id) is False
    assert world.gateway.calls == []
    assert step(operation, "create").state == "pending"
