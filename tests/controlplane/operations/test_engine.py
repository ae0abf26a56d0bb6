"""Leases, crashes, the outbox, cancelling: the engine under the ways processes die."""

import time
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from controlplane.common.grants import EVERYTHING
from controlplane.common.hashing import content_hash
from controlplane.common.problems import Conflict, Gone, Problem
from controlplane.gateway.errors import GatewayError, unreachable
from controlplane.operations import engine, outbox, tasks
from controlplane.operations.models import Operation, OutboxMessage, Plan
from controlplane.operations.operations import StepFailedError, required_kind
from controlplane.operations.queues import QUEUED_AT
from controlplane.operations.selectors import operation_get
from controlplane.operations.services import (
    operation_cancel,
    operation_start,
    undo_plan_create,
)
from controlplane.operations.states import TERMINAL_STATES
from controlplane.operations.tasks import LOST_AFTER, housekeeping, sweep
from tests.controlplane.operations.trouble import BEFORE, act
from tests.controlplane.support import ACTOR, drive, step

PHASES = ("execute", "verify", "restore")


class ProcessKilled(BaseException):
    """What a test raises where a process would be gone."""


@pytest.fixture
def operation(world):
    return world.start(world.plan("topic.create", name="orders", partitions=2))


def expire_lease(operation):
    past = timezone.now() - timedelta(seconds=60)
    Operation.objects.filter(pk=operation.pk).update(lease_expires_at=past, next_run_at=past)


def test_a_tick_leaves_an_operation_that_another_one_holds(operation):
    assert engine.claim(operation.id)
    assert engine.tick(operation.id) is False


def test_killed_before_the_outcome_is_stored_the_step_runs_again(world, operation):
    real = world.gateway.create_topic

    def create_and_die(topic, *, validate_only=False):
        world.gateway.create_topic = real
        real(topic, validate_only=validate_only)
        raise ProcessKilled

    world.gateway.create_topic = create_and_die
    with pytest.raises(ProcessKilled):
        engine.tick(operation.id)
    assert engine.tick(operation.id) is False, "the dead worker still holds the lease"
    expire_lease(operation)
    assert sweep() == 1
    assert drive(operation).state == "succeeded"


def test_an_outcome_after_the_lease_was_lost_does_not_count(world, operation):
    real = world.gateway.create_topic

    def slow(topic, *, validate_only=False):
        world.gateway.create_topic = real
        expire_lease(operation)
        assert engine.claim(operation.id)
        real(topic, validate_only=validate_only)

    world.gateway.create_topic = slow
    engine.tick(operation.id)
    assert step(operation, "create").state == "running"
    expire_lease(operation)
    assert drive(operation).state == "succeeded"


def test_every_tick_asks_for_the_next_one_after_its_commit(
    world, operation, django_capture_on_commit_callbacks
):
    """Its row says when that is due; a message of the outbox beside it would say it twice."""
    OutboxMessage.objects.all().delete()
    with django_capture_on_commit_callbacks(execute=True):
        engine.tick(operation.id)
        assert world.sent == []
    assert world.sent == [(outbox.TICK, [operation.id], 0.0)]
    assert not OutboxMessage.objects.exists()


def test_a_next_tick_that_is_lost_on_the_way_is_brought_by_the_sweep(
    world, operation, django_capture_on_commit_callbacks
):
    def refuse(*_):
        raise OSError("redis is away")

    outbox.drain()
    outbox.use_publisher(refuse)
    with django_capture_on_commit_callbacks(execute=True):
        assert engine.tick(operation.id)
    assert sweep() == 0, "it is due only now"
    Operation.objects.update(next_run_at=timezone.now() - LOST_AFTER - timedelta(seconds=1))
    outbox.use_publisher(lambda *message: world.sent.append(message))
    world.sent.clear()
    assert sweep() == 1
    outbox.drain()
    assert [message[:2] for message in world.sent] == [(outbox.TICK, [operation.id])]


@pytest.mark.parametrize("ends_as", ["succeeded", "failed", "cancelled", "reverted"])
def test_an_operation_has_its_end_time_in_the_states_that_are_ends(world, operation, ends_as):
    """Clients wait for `finished_at`: they keep no list of states."""

    def shown():
        operation.refresh_from_db()
        found = operation_get(world.tenant, EVERYTHING, operation.id)
        return found["state"] in TERMINAL_STATES, found["finished_at"] is not None

    if ends_as == "cancelled":
        operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    if ends_as == "failed":
        world.gateway.create_topic = lambda *_, **__: _refuse()
    seen = [shown()]
    while engine.tick(operation.id):
        seen.append(shown())
    if ends_as == "reverted":
        plan = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
        drive(world.start(plan))
        seen.append(shown())
    assert operation.state == ends_as
    assert seen[0] == (False, False)
    assert seen[-1] == (True, True)
    assert set(seen) == {(False, False), (True, True)}


def _refuse():
    raise GatewayError("CLUSTER_AUTHORIZATION_FAILED", "not you")


def test_outbox_keeps_rows_while_the_queue_is_away(world, operation):
    def refuse(*_):
        raise OSError("redis is away")

    outbox.use_publisher(refuse)
    assert outbox.drain() == 0
    assert OutboxMessage.objects.exists()
    outbox.use_publisher(lambda *message: world.sent.append(message))
    assert outbox.drain() >= 1
    assert not OutboxMessage.objects.exists()
    assert world.sent[0][:2] == (outbox.TICK, [operation.id])


@pytest.mark.django_db(transaction=True)
def test_outbox_is_sent_after_commit_and_never_from_inside(world):
    with transaction.atomic():
        outbox.enqueue("some.task", [1])
        assert world.sent == []
    assert world.sent == [("some.task", [1], 0.0)]
    with pytest.raises(RuntimeError, match="inside a transaction"):
        outbox.enqueue("some.task", [2])


def test_sweep_leaves_fresh_and_held_operations_alone(world, operation):
    assert sweep() == 0
    expire_lease(operation)
    engine.claim(operation.id)
    assert sweep() == 0


@pytest.mark.redis
def test_a_sweep_sends_no_second_copy_of_a_tick_that_is_on_its_way(
    world, operation, redis_server, monkeypatch
):
    """After an outage many operations are due at once, and copies make the queue longer still."""
    monkeypatch.setattr(tasks, "LOST_AFTER", timedelta(seconds=0.5))
    expire_lease(operation)
    assert sweep() == 1
    assert [sweep() for _ in range(5)] == [0] * 5
    time.sleep(0.6)
    assert sweep() == 1, "it was lost as well"


def test_what_waits_in_a_long_queue_is_not_lost(world, operation):
    """The sweep that stood in the same queue for ten seconds has overtaken nothing."""
    expire_lease(operation)
    Operation.objects.update(next_run_at=timezone.now() - timedelta(seconds=8))
    assert swept_after(10) == 0
    assert swept_after(5) == 1


def swept_after(seconds):
    """What a sweep sends that waited in its queue for so long."""
    sweep.push_request(**{QUEUED_AT: time.time() - seconds})
    try:
        return sweep.run()
    finally:
        sweep.pop_request()


def test_a_sweep_with_the_queue_away_asks_it_once(world, operation):
    other = world.start(world.plan("topic.create", name="other"))
    asked = []

    def refuse(*message):
        asked.append(message)
        raise OSError("redis is away")

    for each in (operation, other):
        expire_lease(each)
    outbox.use_publisher(refuse)
    OutboxMessage.objects.all().delete()
    assert sweep() == 0
    assert len(asked) == 1
    assert not OutboxMessage.objects.exists(), "the next sweep finds them by themselves"


def test_pending_is_cancelled_without_doing_anything(world, operation):
    operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(operation).state == "cancelled"
    assert "orders" not in world.gateway.topics
    assert {row.state for row in operation.steps.all()} == {"skipped"}


def test_what_had_no_turn_is_skipped_when_the_operation_has_ended(world, operation):
    assert drive(operation).state == "succeeded"
    shown = operation_get(world.tenant, EVERYTHING, operation.id)["steps"]
    by_phase = {phase: {row["state"] for row in shown if row["phase"] == phase} for phase in PHASES}
    assert by_phase == {
        "execute": {"done"}, "verify": {"done"}, "restore": {"skipped"}
    }  # fmt: skip


def test_a_step_that_fails_as_its_operation_is_cancelled_says_why(world, monkeypatch):
    """The operation ends as cancelled; what the step met is not lost with that."""
    operation = world.start(world.plan("cluster.create", None, name="fresh", broker_count=2))
    name = operation.steps.exclude(phase="verify").first().name

    def cancelled_and_failed(*_):
        operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
        raise StepFailedError("made-to-fail", "The disk is on fire.")

    act(monkeypatch, ("cluster.create", name), BEFORE, cancelled_and_failed)
    assert drive(operation).state == "cancelled"
    row = step(operation, name)
    assert (row.state, row.detail) == ("failed", "The disk is on fire.")
    assert row.was_begun
    assert row.finished_at is not None


def test_a_cluster_cancelled_before_it_began_is_not_removed_from_hosts_that_never_had_it(world):
    plan = world.plan("cluster.create", None, name="fresh", broker_count=2)
    operation = world.start(plan)
    operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(operation).state == "cancelled"
    assert {row.state for row in operation.steps.all()} == {"skipped"}
    assert (world.hosts.desired, world.hosts.chroots) == ({}, {})


def test_what_cannot_be_cancelled_says_so(world, operation):
    drive(operation, ticks=1)
    with pytest.raises(Conflict, match="cannot be cancelled"):
        operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)


def test_a_refusal_ends_the_operation_with_kafkas_name(world, operation):
    world.gateway.fail_next("create_topic", GatewayError("POLICY_VIOLATION", "not here"))
    assert drive(operation).state == "failed"
    assert operation.error["kafka_error"] == "POLICY_VIOLATION"
    assert operation.error["step"] == "create"
    assert not operation.locks.exists()


def test_a_step_that_never_ends_fails_at_its_deadline(world, operation):
    drive(operation, ticks=1)
    step_row = step(operation, "create")
    step_row.started_at = timezone.now() - timedelta(hours=1)
    step_row.state = "running"
    step_row.save()
    world.gateway.fail_next("describe_topics", unreachable("gone"))
    assert drive(operation).state == "failed"
    assert operation.error["code"] == "step-timeout"
    assert "gone" in operation.error["detail"]


def test_a_bug_in_a_step_ends_as_internal_not_as_a_loop(world, operation):
    world.gateway.fail_next("describe_topics", ZeroDivisionError("bug"))
    assert drive(operation).state == "failed"
    assert operation.error["code"] == "internal"


def test_plans_are_confirmed_once_by_their_hash_before_they_expire(world):
    def start(plan, **changes):
        given = {"plan_id": plan.id, "plan_hash": plan.plan_hash, **changes}
        return operation_start(tenant=world.tenant, actor=ACTOR, **given)

    plan = world.plan("topic.create", name="a")
    with pytest.raises(Conflict, match="hash"):
        start(plan, plan_hash="0" * 64)
    start(plan)
    with pytest.raises(Conflict) as caught:
        start(plan)
    assert caught.value.code == "plan-used"
    assert caught.value.extra["operation_id"]
    late = world.plan("topic.create", name="b")
    late.expires_at = timezone.now()
    late.save()
    with pytest.raises(Gone):
        start(late)
    housekeeping()
    late.refresh_from_db()
    assert late.state == "expired"


def test_hashes_differ_with_what_is_decided(world):
    first = world.plan("topic.create", name="a", partitions=1)
    second = world.plan("topic.create", name="a", partitions=2)
    again = world.plan("topic.create", name="a", partitions=1)
    assert first.plan_hash == again.plan_hash != second.plan_hash


def test_a_hash_cannot_be_made_without_the_service_s_key(world, settings):
    """Of a plain one, guesses at what a plan's preconditions hold could be tried by anybody."""
    plan = world.plan("topic.create", name="a", partitions=1)
    about = [plan.kind, plan.cluster_id, plan.resource, plan.inputs]
    content = [*about, plan.diff, plan.preconditions, plan.impact["blast_radius"]]
    assert len(plan.plan_hash) == len(content_hash(content))
    assert plan.plan_hash != content_hash(content)
    settings.SECRET_KEY = "another"
    assert world.plan("topic.create", name="a", partitions=1).plan_hash != plan.plan_hash


def test_a_plan_is_confirmed_by_the_hash_that_is_stored_with_it(world, settings):
    """Plans that were open while the key or the formula changed stay so."""
    plan = world.plan("topic.create", name="a")
    Plan.objects.filter(pk=plan.pk).update(plan_hash=content_hash(["of", "before"]))
    plan.refresh_from_db()
    settings.SECRET_KEY = "another"
    assert world.start(plan).state == "pending"


def test_an_unknown_kind_is_named(world):
    with pytest.raises(Problem) as caught:
        required_kind("topic.explode")
    assert caught.value.errors[0]["pointer"] == "/kind"


def test_actions_are_in_the_audit_log(world, operation):
    from controlplane.audit.models import AuditEvent

    drive(operation)
    actions = list(
        AuditEvent.objects.filter(tenant_id=world.tenant.id)
        .order_by("pk")
        .values_list("action", flat=True)
    )
    assert set(actions) == {"topic.create.plan", "topic.create.start", "topic.create.succeeded"}
