"""A process dies at each write of a tick and of the outbox: nothing is lost, nothing done twice
that must be done once.
"""

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from controlplane.operations import engine, outbox
from controlplane.operations.models import Operation, OutboxMessage, Plan
from controlplane.operations.services import operation_cancel
from controlplane.operations.tasks import drain_outbox, sweep
from tests.controlplane.support import ACTOR, drive, step


class ProcessKilled(BaseException):
    """What a test raises where a process would be gone."""


def die(*_, **__):
    raise ProcessKilled


@pytest.fixture
def operation(world):
    return world.start(world.plan("topic.create", name="orders", partitions=2))


def expire(operation):
    past = timezone.now() - timedelta(seconds=60)
    Operation.objects.filter(pk=operation.pk).update(lease_expires_at=past, next_run_at=past)


DRY_RUNS = 2  # at the plan, and when it is confirmed
POINTS = ["_enter", "_begin", "_context", "_run", "_settle"]


@pytest.mark.parametrize("tick", [1, 2])
@pytest.mark.parametrize("point", POINTS)
def test_killed_before_any_part_of_a_tick(world, operation, monkeypatch, point, tick):
    drive(operation, ticks=tick - 1)
    with monkeypatch.context() as patch:
        patch.setattr(engine, point, die)
        with pytest.raises(ProcessKilled):
            engine.tick(operation.id)
    assert engine.tick(operation.id) is False, "the dead hold the lease until it runs out"
    expire(operation)
    assert sweep() == 1
    assert drive(operation).state == "succeeded"
    assert world.gateway.calls.count("create_topic") == DRY_RUNS + 1


def test_killed_before_the_end_is_written(world, operation, monkeypatch):
    drive(operation, ticks=2)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "_finish", die)
        with pytest.raises(ProcessKilled):
            engine.tick(operation.id)
    operation.refresh_from_db()
    assert operation.state == "verifying"
    expire(operation)
    assert drive(operation).state == "succeeded"


@pytest.mark.parametrize("point", ["_roll_back", "_run", "_settle"])
def test_killed_while_cancelling(world, monkeypatch, point):
    world.gateway.add_topic("big", partitions=2, records=50)
    before = [part.replicas for part in world.gateway.topics["big"].partitions]
    operation = world.start(
        world.plan("reassignment", topics=["big"], target_brokers=[2, 3, 4], batch_size=1)
    )
    drive(operation, ticks=2)
    operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    with monkeypatch.context() as patch:
        patch.setattr(engine, point, die)
        with pytest.raises(ProcessKilled):
            engine.tick(operation.id)
    expire(operation)
    assert drive(operation).state == "cancelled"
    assert [part.replicas for part in world.gateway.topics["big"].partitions] == before


def test_the_outcome_and_the_next_tick_are_one_write(world, operation, monkeypatch):
    """The outbox row fails to be written: the outcome is not stored either."""
    OutboxMessage.objects.all().delete()

    def refuse(*_, **__):
        raise DatabaseError("full")

    with monkeypatch.context() as patch:
        patch.setattr(outbox, "enqueue", refuse)
        with pytest.raises(DatabaseError):
            engine.tick(operation.id)
    assert step(operation, "create").state == "running"
    assert not OutboxMessage.objects.exists()
    expire(operation)
    assert drive(operation).state == "succeeded"


def test_a_start_that_fails_half_way_leaves_the_plan_open(world, monkeypatch):
    plan = world.plan("topic.create", name="half")
    with monkeypatch.context() as patch:
        patch.setattr(outbox, "enqueue", die)
        with pytest.raises(ProcessKilled):
            world.start(plan)
    assert not Operation.objects.exists()
    assert Plan.objects.get(pk=plan.pk).state == "open"
    assert drive(world.start(plan)).state == "succeeded"


# -- the outbox --------------------------------------------------------------------------------
def test_killed_before_sending_the_row_stays_and_beat_sends_it(world, operation):
    outbox.use_publisher(die)
    with pytest.raises(ProcessKilled):
        outbox.drain()
    outbox.use_publisher(lambda *message: world.sent.append(message))
    assert drain_outbox() == 1
    assert [message[1] for message in world.sent] == [[operation.id]]


def test_killed_after_sending_it_is_sent_twice_and_that_does_no_harm(world, operation, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(OutboxMessage.objects, "filter", die)
        with pytest.raises(ProcessKilled):
            outbox.drain()
    assert drain_outbox() == 1
    assert [message[1] for message in world.sent] == [[operation.id]] * 2
    for _, (operation_id,), _ in world.sent:
        engine.tick(operation_id)
    assert drive(operation).state == "succeeded"
    assert world.gateway.calls.count("create_topic") == DRY_RUNS + 1


def test_a_queue_that_refuses_in_the_middle_keeps_order_and_rest(world, operation):
    OutboxMessage.objects.all().delete()
    with transaction.atomic():
        for number in range(4):
            outbox.enqueue("some.task", [number])
    sent = []

    def refuse_third(_task, args, _countdown):
        if len(sent) == 2:
            raise OSError("away")
        sent.append(args[0])

    outbox.use_publisher(refuse_third)
    assert outbox.drain() == 2
    assert [row.args for row in OutboxMessage.objects.order_by("pk")] == [[2], [3]]
    outbox.use_publisher(lambda _task, args, _countdown: sent.append(args[0]))
    assert outbox.drain() == 2
    assert sent == [0, 1, 2, 3]


# -- leases ------------------------------------------------------------------------------------
def test_a_lease_of_an_ended_operation_cannot_be_had(world, operation):
    drive(operation)
    assert engine.claim(operation.id) is None
    assert engine.claim("op_nothing") is None


def test_who_lost_the_lease_cannot_renew_begin_settle_or_finish(world, operation):
    old = engine.claim(operation.id)
    expire(operation)
    new = engine.claim(operation.id)
    assert new
    with pytest.raises(engine.LeaseLostError):
        engine._keep(operation.id, old)
    assert engine._mine(operation.id, old) is None
    engine._finish(operation, engine.required_kind(operation.kind), old, "succeeded")
    operation.refresh_from_db()
    assert operation.state == "pending"
    engine._keep(operation.id, new)


def test_a_heartbeat_that_finds_the_lease_gone_stops_the_step(world, operation):
    real = world.gateway.create_topic

    def slow(topic, *, validate_only=False):
        world.gateway.create_topic = real
        expire(operation)
        assert engine.claim(operation.id)
        with pytest.raises(engine.LeaseLostError):
            engine._keep(operation.id, "the old token")
        raise engine.LeaseLostError(operation.id)

    world.gateway.create_topic = slow
    assert engine.tick(operation.id) is False
    assert step(operation, "create").state == "running"
    expire(operation)
    assert drive(operation).state == "succeeded"
