"""The cluster, ZooKeeper, the database or Redis is away at each step of each kind, and comes back
after longer than every lease: the operation ends right, nothing is lost, nothing done twice.

Over the fakes, parametrised over the registry; `tests/controlplane/live` has real ones.
"""

import contextlib
from collections import Counter

import pytest
from django.db import InterfaceError, OperationalError, connection

from controlplane.clusters.hosts import HostsUnavailableError
from controlplane.gateway.errors import timed_out
from controlplane.gateway.port import READS
from controlplane.operations import engine, outbox
from controlplane.operations.models import OutboxMessage
from controlplane.operations.operations import StepFailedError, required_kind
from controlplane.operations.rules import RunStep, next_action
from controlplane.operations.services import operation_cancel
from controlplane.operations.states import ACTIVE_STATES
from controlplane.operations.tasks import drain_outbox, sweep
from tests.controlplane.kind_plans import ADDRESSES, ROLLS, ZOOKEEPER
from tests.controlplane.operations.trouble import (
    AFTER,
    BEFORE,
    FORWARD,
    act,
    expire,
    raising,
    runnable,
    seen,
    steps_of,
)
from tests.controlplane.support import ACTOR, drive

STEPS = steps_of(*FORWARD)
# What does not work now, or cannot be measured as the plan was, is refused: nothing was changed.
TRIALS = {("cluster.credentials", "connect"), ("cluster.delete", "check")}
# It asks nobody when no broker is under way; else `clusters/test_rolling`.
ASKS_NOBODY = {(ADDRESSES, "back"), (ZOOKEEPER, "back"), *((kind, "settle") for kind in ROLLS)}
RESTORING = [at for at in steps_of("restore") if at not in ASKS_NOBODY]
TURNING_BACK = [
    at
    for at in steps_of("restore", "teardown", "always")
    if required_kind(at[0]).cancellable and at not in ASKS_NOBODY
]
# Where the way back is longest, if that is not the last step: what a broker has left is deleted in
# that, after which it stays where it is and asks nobody (`test_restores`); by then its limit is off.
FARTHEST = {("cluster.replace_broker", name): "sync" for name in ("return", "unlimit")}
# Once replicas have arrived they stay; while they are under way their moves can be ended.
FARTHEST |= {("cluster.empty_log_directory", name): "move" for name in ("hold", "lift")}
# A limit is set on whatever holds what is read: another broker's is on others.
LIMITING = {"cluster.replace_broker": ("alter_broker_configs", "alter_topic_configs")}
BOUNDS = ("SAVEPOINT", "RELEASE", "ROLLBACK")
REFUSAL = StepFailedError("made-to-fail", "The test says so.")


def writes(world):
    """How often each write was asked of the brokers."""
    return Counter(name for name in world.gateway.calls if name not in READS)


def undisturbed(world, kind):
    """The writes of a run that nothing disturbs, on other things than the one that is."""
    operation = world.start(runnable(world, kind, 2))
    world.gateway.calls.clear()
    assert drive(operation).state == "succeeded", operation.error
    return writes(world)


def reaches(operation, at, ticks=200):
    """Tick until the step is the next to be taken."""
    for _ in range(ticks):
        rows = {row.name: row.state for row in operation.steps.all()}
        before = [spec.name for spec in required_kind(at[0]).steps if spec.phase in FORWARD]
        before = before[: before.index(at[1])]
        if all(rows[name] == "done" for name in before):
            return
        engine.tick(operation.id)
    raise AssertionError(f"{at} is not reached")


def farthest(at):
    """The last step of its kind from which this one restores anything."""
    return FARTHEST.get(at) or [name for kind, name in steps_of("execute") if kind == at[0]][-1]


def away_for_long(world, operation, *, ticks=4):
    """Several tries fall into the outage, and every lease runs out in it."""
    for _ in range(ticks):
        with contextlib.suppress(OperationalError):
            engine.tick(operation.id)
        operation.refresh_from_db()
        assert operation.state in ACTIVE_STATES
        expire(operation)


@pytest.mark.parametrize("at", sorted(TRIALS), ids=str)
def test_a_trial_of_a_cluster_that_is_away_has_failed(world, at):
    plan = runnable(world, at[0])
    before = seen(world)
    operation = world.start(plan)
    world.gateway.offline = True
    assert drive(operation).state == "failed"
    assert (operation.error["step"], operation.remains) == (at[1], [])
    assert seen(world) == before


@pytest.mark.parametrize("at", [at for at in STEPS if at not in TRIALS], ids=str)
def test_the_cluster_is_away_at_each_step(world, at):
    wanted = undisturbed(world, at[0])
    operation = world.start(runnable(world, at[0]))
    world.gateway.calls.clear()
    reaches(operation, at)
    done = writes(world)
    world.gateway.offline = world.hosts.is_away = True
    away_for_long(world, operation)
    world.gateway.offline = world.hosts.is_away = False
    tried = writes(world) - done
    assert drive(operation).state == "succeeded", operation.error
    assert operation.remains == []
    # What was asked of a cluster that is away did nothing there: without it, each write is once.
    found = writes(world) - tried
    for name in LIMITING.get(at[0], ()):
        assert found.pop(name), "as many as the other broker has topics"
        wanted.pop(name)
    assert found == wanted


@pytest.mark.parametrize("at", RESTORING, ids=str)
def test_the_cluster_is_away_while_it_is_restored(world, monkeypatch, at):
    plan = runnable(world, at[0])
    before = seen(world)
    operation = world.start(plan)
    failed = act(monkeypatch, (at[0], farthest(at)), AFTER, raising(REFUSAL))
    while not failed:
        engine.tick(operation.id)
    world.gateway.offline = world.hosts.is_away = True
    away_for_long(world, operation)
    world.gateway.offline = world.hosts.is_away = False
    assert drive(operation).state == "failed"
    assert operation.error["code"] == "made-to-fail"
    assert "rollback_incomplete" not in operation.error
    assert seen(world) == before or operation.remains


@pytest.mark.parametrize("at", TURNING_BACK, ids=str)
def test_the_cluster_is_away_while_a_cancelled_one_turns_back(world, monkeypatch, at):
    plan = runnable(world, at[0])
    if at[0] == "reassignment":  # so that there is a limit to lift
        plan = world.plan(at[0], **plan.inputs | {"throttle_bytes_per_s": 1_000_000})
    before = seen(world)
    operation = world.start(plan)

    def cancel():
        operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)

    act(monkeypatch, (at[0], farthest(at)), BEFORE, cancel)
    for _ in range(100):
        if next_step(operation) == at[1] and operation.rolling_back:
            break
        engine.tick(operation.id)
    assert next_step(operation) == at[1]
    world.gateway.offline = world.hosts.is_away = True
    away_for_long(world, operation)
    world.gateway.offline = world.hosts.is_away = False
    assert drive(operation).state == "cancelled", operation.error
    assert operation.remains == []
    assert seen(world) == before


def next_step(operation):
    operation.refresh_from_db()
    steps = list(operation.steps.all())
    action = next_action(
        state=operation.state, rolling_back=operation.rolling_back, failed=False, steps=steps
    )
    return steps[action.index].name if isinstance(action, RunStep) else None


@pytest.mark.parametrize(
    "method", ["make_chroot", "write_desired", "forget_broker", "remove_chroot"]
)
@pytest.mark.parametrize("kind", ["cluster.create", "cluster.delete"])
def test_whether_zookeeper_did_it_is_not_known(world, monkeypatch, kind, method):
    """It did, and its answer was lost, time after time: done again it comes to the same."""
    operation = world.start(runnable(world, kind))
    write, lost = getattr(world.hosts, method), []

    def unanswered(*arguments):
        found = write(*arguments)
        if len(lost) < 3:
            lost.append(arguments)
            raise HostsUnavailableError("no answer")
        return found

    monkeypatch.setattr(world.hosts, method, unanswered)
    assert drive(operation).state == "succeeded", operation.error
    is_of_kind = kind == "cluster.delete" or method in {"make_chroot", "write_desired"}
    assert len(lost) == 3 * is_of_kind
    mine = [
        spec["generation"]
        for (_, broker), spec in world.hosts.desired.items()
        if broker.startswith(operation.cluster_id)
    ]
    path = f"/penstock/clusters/{operation.cluster_id}"
    is_there = kind == "cluster.create"
    assert mine == [1] * is_there, "what is asked again is of the same generation"
    assert (path in world.hosts.chroots) == is_there


@pytest.mark.parametrize("at", STEPS, ids=str)
def test_whether_it_was_done_is_not_known(world, monkeypatch, at):
    """The request went out and no answer came: the step looks again, and does it once."""
    operation = world.start(runnable(world, at[0]))
    act(monkeypatch, at, AFTER, raising(timed_out("no answer", write=True)), times=3)
    assert drive(operation).state == "succeeded", operation.error
    assert operation.steps.get(name=at[1]).attempts == 3


@pytest.mark.parametrize("when", [BEFORE, AFTER])
@pytest.mark.parametrize("at", STEPS, ids=str)
def test_the_database_is_away_from_the_middle_of_each_step(world, monkeypatch, at, when):
    """What the step found out cannot be stored; the next worker takes it again."""
    operation = world.start(runnable(world, at[0]))
    away = []

    def refuse(execute, sql, *rest):
        connection.needs_rollback = False  # nothing of what was refused had reached the database
        if away and not sql.startswith(BOUNDS):  # those are of this test's own transaction
            raise OperationalError("server closed the connection unexpectedly")
        return execute(sql, *rest)

    began = act(monkeypatch, at, when, lambda: away.append(True))
    with connection.execute_wrapper(refuse):
        for _ in range(300):
            operation.refresh_from_db()
            if operation.state not in ACTIVE_STATES:
                break
            with contextlib.suppress(OperationalError):
                engine.tick(operation.id)
            for _ in range(2 * len(away)):  # nothing can be had meanwhile
                with pytest.raises(OperationalError):
                    engine.tick(operation.id)
            if away:
                away.clear()
                assert engine.tick(operation.id) is False, "the lease still runs"
                expire(operation)
    assert began == [when]
    assert operation.state == "succeeded", operation.error
    assert operation.remains == []


@pytest.mark.parametrize("error", [OperationalError("closed"), InterfaceError("closed")])
@pytest.mark.parametrize("at", STEPS, ids=str)
def test_the_database_is_away_for_a_moment_within_each_step(world, monkeypatch, at, error):
    """That is no fault of the step's, which would end the operation."""
    operation = world.start(runnable(world, at[0]))
    act(monkeypatch, at, BEFORE, raising(error), times=2)
    assert drive(operation).state == "succeeded", operation.error
    assert operation.steps.get(name=at[1]).attempts == 2


@pytest.mark.parametrize("at", STEPS, ids=str)
def test_redis_is_away_and_loses_what_was_queued(world, at):
    """Rows wait in the outbox; what Redis had is brought again by the sweep."""
    operation = world.start(runnable(world, at[0]))
    reaches(operation, at)

    def refuse(*_):
        raise OSError("redis is away")

    outbox.use_publisher(refuse)
    drain_outbox()
    for _ in range(2):
        assert drain_outbox() == 0
    waiting = OutboxMessage.objects.count()
    queued = []
    outbox.use_publisher(lambda _task, args, _countdown: queued.append(args[0]))
    assert drain_outbox() == waiting
    queued.clear()  # Redis came back empty
    for _ in range(300):
        operation.refresh_from_db()
        if operation.state not in ACTIVE_STATES:
            break
        if not queued:
            expire(operation)
            assert sweep() == 1
            drain_outbox()
        assert set(queued) == {operation.id}
        queued.pop()
        engine.tick(operation.id)
        drain_outbox()
    assert operation.state == "succeeded", operation.error
