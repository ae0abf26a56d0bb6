"""SQL statements of one tick, by kind and step: what the engine costs at thousands of operations."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.observed.changes import NAMED_MAX
from controlplane.observed.services import observe
from controlplane.operations import engine
from controlplane.operations.operations import StepFailedError, kind_names, required_kind
from controlplane.operations.selectors import undo_of
from controlplane.operations.services import operation_cancel, undo_plan_create
from controlplane.operations.states import ACTIVE_STATES
from controlplane.reassignments.changing import throttle_change
from controlplane.timeline.models import TimelineEvent
from tests.controlplane.operations.trouble import AFTER, act, raising, runnable, steps_of
from tests.controlplane.support import ACTOR, drive, observed

STATEMENTS_MAX = 8
END_STATEMENTS_MAX = 12
"""Once an operation: what it touched is read as it was, whose cluster it is, events are written, and
what pages of these sections go by."""
PLACES_STATEMENTS_MAX = 11
"""Once a creation or a move, before anything is written: all that speaks against a broker's place is
asked again — its row, decisions about hosts, their keys, the ports of everybody else."""
PLACING = {
    ("cluster.add_brokers", "check"),
    ("cluster.create", "check"),
    ("cluster.replace_broker", "check"),
    ("cluster.replace_broker", "move"),
}
BOUNDS = ("SAVEPOINT", "RELEASE", "ROLLBACK", "BEGIN", "COMMIT")


def statements_of(operation):
    """What one tick asks the database, but for where transactions begin and end."""
    with CaptureQueriesContext(connection) as captured:
        assert engine.tick(operation.id)
    return [row["sql"] for row in captured if not row["sql"].startswith(BOUNDS)]


def most_of(kind, step):
    if step == "end":
        return END_STATEMENTS_MAX
    return PLACES_STATEMENTS_MAX if (kind, step) in PLACING else STATEMENTS_MAX


def under_way(operation):
    """The step that the next tick takes; `end` after the last one."""
    rows = operation.steps.filter(state__in=("pending", "running"))
    if not operation.rolling_back:
        rows = rows.filter(phase__in=("execute", "verify", "always"))
    return getattr(rows.first(), "name", "end")


def walked(operation, state):
    """Tick it to its end, each tick in few statements; how many ticks that took."""
    ticks = 0
    while operation.state in ACTIVE_STATES:
        step, statements = under_way(operation), statements_of(operation)
        most = most_of(operation.kind, step)
        assert len(statements) <= most, (step, len(statements), statements)
        operation.refresh_from_db()
        ticks += 1
    assert operation.state == state, operation.error
    return ticks


@pytest.fixture
def world(world):
    """Observed before, so that operations have rows to bring up to date."""
    observed(world)
    return world


@pytest.mark.parametrize("kind", kind_names())
def test_every_tick_of_every_kind(world, kind):
    operation = world.start(runnable(world, kind))
    kind_steps = [name for of, name in steps_of("execute", "verify", "always") if of == kind]
    assert walked(operation, "succeeded") > len(kind_steps)


@pytest.mark.parametrize("kind", kind_names())
def test_every_tick_of_undoing(world, kind):
    operation = drive(world.start(runnable(world, kind)))
    assert operation.state == "succeeded"
    if undo_of(operation) is None:
        pytest.skip("there is no way back")
    undo = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    walked(world.start(undo), "succeeded")
    operation.refresh_from_db()
    assert operation.state == "reverted"


def test_every_tick_of_a_move_with_a_limit(world):
    world.gateway.add_topic("orders", partitions=2, rf=2, records=50)
    world.gateway.polls_to_move = 2
    moves = [{"topic": "orders", "partition": part, "replicas": [3, 4]} for part in (0, 1)]
    for part in world.gateway.topics["orders"].partitions:
        part.replicas = (1, 2)
    plan = world.plan("reassignment", moves=moves, throttle_bytes_per_s=5_000, batch_size=1)
    operation = world.start(plan)
    walked(operation, "succeeded")
    undo = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    back = drive(world.start(undo), ticks=7)
    throttle_change(
        tenant=world.tenant, actor=ACTOR, operation_id=back.id, bytes_per_s=None
    )  # lifted by the next tick
    walked(back, "succeeded")
    assert not any(world.gateway.broker_overrides.values())


def test_the_end_costs_the_same_of_many_topics_as_of_one(world):
    costs = []
    for topics in (["one"], [f"many-{n}" for n in range(40)]):
        for name in topics:
            world.gateway.add_topic(name, partitions=2, rf=1, records=5)
            for part in world.gateway.topics[name].partitions:
                part.replicas = (1,)
        observed(world)
        moves = [{"topic": topic, "partition": 0, "replicas": [4]} for topic in topics]
        operation = world.start(world.plan("reassignment", moves=moves))
        while under_way(operation) != "end":
            engine.tick(operation.id)
            operation.refresh_from_db()
        ends = []
        while operation.state in ACTIVE_STATES:
            ends.append(len(statements_of(operation)))
            operation.refresh_from_db()
        assert operation.state == "succeeded", operation.error
        costs.append(ends)
        events = TimelineEvent.objects.filter(kind="replicas-changed", name__in=topics)
        assert events.count() == min(len(topics), NAMED_MAX)  # one more stands for the rest
    one, many = costs
    assert one == many
    assert max(many) <= END_STATEMENTS_MAX


def test_every_tick_of_letting_go_of_a_registered_cluster(world):
    made = world.run("cluster.register", None, name="outside", bootstrap_servers="127.0.0.1:9092")
    assert made.state == "succeeded"
    observe(made.cluster_id)
    walked(world.start(world.plan("cluster.delete", made.cluster_id)), "succeeded")


@pytest.mark.parametrize("after", range(5))
@pytest.mark.parametrize("kind", [name for name in kind_names() if required_kind(name).cancellable])
def test_every_tick_of_cancelling(world, kind, after):
    world.gateway.polls_to_move = 3
    operation = drive(world.start(runnable(world, kind)), ticks=after)
    operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    operation.refresh_from_db()
    walked(operation, "cancelled")


@pytest.mark.parametrize("kind", kind_names())
def test_a_step_that_waits_costs_less(world, monkeypatch, kind):
    """It is marked as under way already: a poll each half second is the most of what a tick is."""
    at = next(at for at in steps_of("verify") if at[0] == kind)
    operation = world.start(runnable(world, kind))
    while under_way(operation) != at[1]:
        engine.tick(operation.id)
        operation.refresh_from_db()
    world.gateway.offline = world.hosts.is_away = True
    first, again = statements_of(operation), statements_of(operation)
    assert operation.steps.get(name=at[1]).attempts + 1 >= 1
    assert len(again) == len(first) - 1 <= STATEMENTS_MAX - 1


@pytest.mark.parametrize("kind", kind_names())
def test_turning_back_and_each_restoring_step(world, monkeypatch, kind):
    operation = world.start(runnable(world, kind))
    last = [name for of, name in steps_of("execute") if of == kind][-1]
    failed = act(
        monkeypatch, (kind, last), AFTER, raising(StepFailedError("made-to-fail", "By the test."))
    )
    while not failed:
        statements = statements_of(operation)
    assert len(statements) <= STATEMENTS_MAX, statements
    operation.refresh_from_db()
    walked(operation, "failed")
