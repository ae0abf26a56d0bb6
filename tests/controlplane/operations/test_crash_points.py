"""A process dies at each write of a tick and of the outbox: nothing is lost, nothing done twice
that must be done once.
"""

import contextlib
import itertools
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from controlplane.operations import engine, outbox
from controlplane.operations.models import Operation, OutboxMessage, Plan, Step
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
BOUNDS = ("SAVEPOINT", "RELEASE", "ROLLBACK")


@contextlib.contextmanager
def at_statement(number, act, *, in_transactions=True):
    """Do `act` before the database statement of this number, from 0. Yields it, if it came to that.

    Without `in_transactions` only statements outside of any count: rows are locked inside.
    """
    depth, count, reached = len(connection.savepoint_ids), 0, []

    def watch(execute, sql, *rest):
        nonlocal count
        is_outside = len(connection.savepoint_ids) == depth
        if not reached and not sql.startswith(BOUNDS) and (in_transactions or is_outside):
            if count == number:
                reached.append(sql)
                act()
            count += 1
        return execute(sql, *rest)

    with connection.execute_wrapper(watch):
        yield reached


def cut_short(operation, number):
    """A tick whose process dies before this statement. Whether it had that many."""
    with at_statement(number, die) as reached, contextlib.suppress(ProcessKilled):
        engine.tick(operation.id)
    return bool(reached)


@pytest.mark.parametrize("tick", [1, 2, 3, 4])
def test_killed_before_any_statement_of_a_tick(world, tick):
    for number in itertools.count():
        before = world.gateway.calls.count("create_topic")
        operation = world.start(world.plan("topic.create", name=f"t-{number}", partitions=2))
        drive(operation, ticks=tick - 1)
        was_killed = cut_short(operation, number)
        if was_killed and number:
            assert engine.tick(operation.id) is False, "the dead hold the lease until it runs out"
        expire(operation)
        assert sweep() == (was_killed or tick < 4)
        assert drive(operation).state == "succeeded"
        assert world.gateway.calls.count("create_topic") - before == DRY_RUNS + 1
        if not was_killed:
            break
    assert number > 5


@pytest.mark.parametrize("tick", [1, 2, 3, 4])
def test_killed_while_cancelling(world, tick):
    for number in itertools.count():
        topic = f"big-{number}"
        world.gateway.add_topic(topic, partitions=2, records=50)
        before = [part.replicas for part in world.gateway.topics[topic].partitions]
        operation = world.start(
            world.plan("reassignment", topics=[topic], target_brokers=[2, 3, 4], batch_size=1)
        )
        drive(operation, ticks=4)
        operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
        drive(operation, ticks=tick - 1)
        was_killed = cut_short(operation, number)
        expire(operation)
        assert drive(operation).state == "cancelled"
        assert [part.replicas for part in world.gateway.topics[topic].partitions] == before
        if not was_killed:
            break
    assert number > 4


def test_the_outcome_and_the_next_tick_are_one_write(world, operation, monkeypatch):
    """The step's outcome fails to be written: the operation is not due for the next one either."""
    OutboxMessage.objects.all().delete()
    due_at = operation.next_run_at

    def refuse(*_, **__):
        raise DatabaseError("full")

    with monkeypatch.context() as patch:
        patch.setattr(Step, "save", refuse)
        with pytest.raises(DatabaseError):
            engine.tick(operation.id)
    assert step(operation, "create").state == "running"
    operation.refresh_from_db()
    assert operation.next_run_at == due_at
    assert operation.lease_token
    assert engine.tick(operation.id) is False
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


def rows_of(operation):
    return (
        Operation.objects.filter(pk=operation.pk).values().get(),
        list(operation.steps.order_by("pk").values()),
        list(OutboxMessage.objects.order_by("pk").values()),
    )


@pytest.mark.parametrize("tick", [1, 2, 3])
def test_who_lost_the_lease_writes_nothing_more(world, tick):
    for number in itertools.count(1):  # 0 is the claim itself
        operation = world.start(world.plan("topic.create", name=f"t-{number}", partitions=2))
        drive(operation, ticks=tick - 1)
        left = []

        def take_over(operation=operation, left=left):
            expire(operation)
            assert engine.claim(operation.id)
            left.append(rows_of(operation))

        with at_statement(number, take_over, in_transactions=False) as reached:
            engine.tick(operation.id)
        if not reached:
            break
        assert [rows_of(operation)] == left
        expire(operation)
        assert drive(operation).state == "succeeded"
    assert number >= 3  # it has read the operation and its steps
