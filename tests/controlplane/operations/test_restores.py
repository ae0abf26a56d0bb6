"""Nothing half done: each step of each kind fails, is cancelled, is killed; the world is then as
before, or the operation says what stays, and a plan takes that away.

Parametrised over the registry: a new kind is in by being registered.
"""

import dataclasses

import pytest

from controlplane.access.inputs import bindings_of
from controlplane.common.grants import EVERYTHING
from controlplane.common.problems import Conflict
from controlplane.gateway.types import TP
from controlplane.operations import operations
from controlplane.operations.details import detail_from
from controlplane.operations.locks import LOCKS
from controlplane.operations.operations import (
    Phase,
    StepFailedError,
    kind_names,
    kind_of,
    register,
    required_kind,
)
from controlplane.operations.restores import EXECUTE, gaps, remaining, restorers
from controlplane.operations.selectors import operation_get, undo_of
from controlplane.operations.services import operation_cancel, undo_plan_create
from controlplane.topics.operations import TopicCreate
from tests.controlplane.kind_plans import BINDING, ROLLS
from tests.controlplane.operations.trouble import (
    AFTER,
    BEFORE,
    FORWARD,
    ProcessKilled,
    act,
    expire,
    outlive,
    raising,
    runnable,
    seen,
    steps_of,
)
from tests.controlplane.restore_table import FILE, render
from tests.controlplane.support import ACTOR, drive

RULE = {
    **BINDING,
    "principal": "User:app",
    "operation": "READ",
    "resource_type": "TOPIC",
    "resource_name": "orders",
}
STEPS = steps_of(*FORWARD)
# What has been restarted was: `clusters/test_rolling` aborts it at every tick.
CANCELLABLE = [at for at in STEPS if required_kind(at[0]).cancellable and at[0] not in ROLLS]
RESTORING = [
    (at, (kind, step))
    for at in STEPS
    for kind, step in steps_of("restore", "always")
    if kind == at[0]
]
NO_WAY_BACK = {
    "broker.restart",
    "cluster.replace_broker",
    "cluster.change_addresses",
    "cluster.change_zookeeper",
    "cluster.finalize_version",
    "cluster.restart",
    "leaders.elect",
    "topic.partitions",
    "topic.delete",
    "topic.empty",
    "topic.retention_restore",
    "user.delete",
    "user.rotate",
    "user.retire",
    "cluster.credentials",
    "cluster.delete",
}
REFUSAL = StepFailedError("made-to-fail", "The test says so.")


def general_texts(kind):
    """What may stay, said where nothing can tell whether it does."""
    return {spec.stays for spec in required_kind(kind).steps if spec.stays}


def check_honest(world, operation, before):
    """The world is as before, or the operation says what is not."""
    after = seen(world)
    if after != before:
        assert operation.remains, {key: after[key] for key in after if after[key] != before[key]}
    else:
        assert set(operation.remains) <= general_texts(operation.kind)
    shown = operation_get(world.tenant, EVERYTHING, operation.id)
    assert shown["remains"] == operation.remains
    assert [detail_from(rows) for rows in shown["remains_parts"]] == operation.remains
    assert not operation.locks.exists()


def check_undone(world, operation, before):
    """From here a plan leads back, where there is a way."""
    if not operation.remains or operation.kind in NO_WAY_BACK:
        assert undo_of(operation) is None
        return
    if seen(world) == before:  # what may have stayed has not
        with pytest.raises(Conflict) as caught:
            undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
        assert caught.value.code == "nothing-to-do"
        return
    plan = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    ended = drive(world.start(plan))
    assert ended.state == "succeeded", ended.error
    assert seen(world) == before
    operation.refresh_from_db()
    assert (operation.remains, operation.remains_parts) == ([], [])
    assert operation_get(world.tenant, EVERYTHING, operation.id)["reverted_by"] == ended.id


# -- declarations


def test_the_document_shows_the_steps():
    assert FILE.read_text(encoding="utf-8") == render()


@pytest.mark.parametrize("name", kind_names())
def test_every_kind_says_what_restores_each_step_or_what_stays(name):
    kind = required_kind(name)
    assert gaps(kind.steps, cancellable=kind.cancellable) == []


def variant(spec, **changes):
    return dataclasses.replace(spec, **changes)


CREATE, VERIFY, REMOVE = TopicCreate.steps


@pytest.mark.parametrize(
    ("steps", "cancellable", "said"),
    [
        ((variant(CREATE, restored_by=()), VERIFY), False, "neither what restores it nor what"),
        ((CREATE, VERIFY), False, "restored by what does not restore: remove"),
        ((variant(CREATE, restored_by=("verify",)), VERIFY), False, "what does not restore"),
        (
            (CREATE, variant(REMOVE, phase=Phase.TEARDOWN)),
            True,
            "create says neither",
        ),
        ((variant(CREATE, writes=False), REMOVE), False, "create writes nothing"),
        (
            (variant(CREATE, restored_by=(), stays="It stays."), REMOVE),
            False,
            "remove restores nothing that a step names",
        ),
    ],
)
def test_a_kind_that_leaves_it_open_is_not_offered(monkeypatch, steps, cancellable, said):
    class Careless(TopicCreate):
        name = "topic.careless"

    Careless.steps, Careless.cancellable = steps, cancellable
    monkeypatch.setattr(operations, "LOCKS", {**LOCKS, Careless.name: LOCKS["topic.create"]})
    with pytest.raises(ValueError, match=said):
        register(Careless())
    assert kind_of("topic.careless") is None


def test_what_is_written_on_one_way_out_alone_counts_there_alone():
    steps = (
        variant(CREATE, stays="It stays.", restored_by=("remove",)),
        variant(REMOVE, phase=Phase.TEARDOWN),
    )
    assert restorers(steps[0], steps, cancelled=True) == [steps[1]]
    assert restorers(steps[0], steps, cancelled=False) == []


NOT_REMOVED = (
    "What “Create the topic” did may stay: “Remove the topic while it is empty” failed (no answer)."
)


@dataclasses.dataclass
class Ran:
    name: str
    state: str = "done"
    detail: str = ""
    was_begun: bool = True


@pytest.mark.parametrize(
    ("create", "remove", "said"),
    [
        (Ran("create"), Ran("remove"), []),
        (Ran("create", was_begun=False, state="skipped"), Ran("remove", "skipped"), []),
        (
            Ran("create"),
            Ran("remove", "failed", "no answer"),
            [NOT_REMOVED, "It stays."],
        ),
    ],
)
def test_a_restoring_step_that_failed_leaves_what_it_should_have_taken(create, remove, said):
    steps = (variant(CREATE, stays="It stays."), VERIFY, REMOVE)
    assert remaining("topic.create", steps, [create, remove], cancelled=False) == said


READS_ONLY = [
    (name, spec.name)
    for name in kind_names()
    for spec in required_kind(name).steps
    if spec.phase == "verify" or (spec.phase == EXECUTE and not spec.writes)
]


@pytest.mark.parametrize("at", READS_ONLY, ids=str)
def test_a_step_that_says_it_only_reads_does(world, monkeypatch, at):
    operation = world.start(runnable(world, at[0]))
    views = []
    act(monkeypatch, at, BEFORE, lambda: views.append(seen(world)))
    act(monkeypatch, at, AFTER, lambda: views.append(seen(world)))
    assert drive(operation).state == "succeeded"
    assert len(views) == 2
    # A move goes on by itself while it is looked at.
    assert views[0] == views[1]


# -- each step of each kind


@pytest.mark.parametrize("when", [BEFORE, AFTER])
@pytest.mark.parametrize("at", STEPS, ids=str)
def test_failed_there(world, monkeypatch, at, when):
    plan = runnable(world, at[0])
    before = seen(world)
    operation = world.start(plan)
    assert act(monkeypatch, at, when, raising(REFUSAL)) == []
    assert drive(operation).state == "failed"
    assert operation.error["step"] == at[1]
    assert "rollback_incomplete" not in operation.error
    check_honest(world, operation, before)
    monkeypatch.undo()
    check_undone(world, operation, before)


@pytest.mark.parametrize("when", [BEFORE, AFTER])
@pytest.mark.parametrize("at", CANCELLABLE, ids=str)
def test_cancelled_there(world, monkeypatch, at, when):
    plan = runnable(world, at[0])
    before = seen(world)
    operation = world.start(plan)

    def cancel():
        operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)

    act(monkeypatch, at, when, cancel)
    assert drive(operation).state == "cancelled"
    assert operation.remains == []
    assert seen(world) == before


@pytest.mark.parametrize("kind", kind_names())
def test_cancelled_before_it_began(world, kind):
    plan = runnable(world, kind)
    before = seen(world)
    operation = world.start(plan)
    operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(operation).state == "cancelled"
    assert operation.remains == []
    after = seen(world)
    if kind == "cluster.delete":  # its row says that a deletion was begun: it can be deleted again
        assert drive(world.start(world.plan(kind, plan.cluster_id))).state == "succeeded"
    else:
        assert after == before


@pytest.mark.parametrize(
    "at", [at for at in STEPS if not required_kind(at[0]).cancellable], ids=str
)
def test_what_cannot_be_cancelled_is_not_cancelled_half_way(world, monkeypatch, at):
    operation = world.start(runnable(world, at[0]))
    refusals = []

    def cancel():
        with pytest.raises(Conflict) as caught:
            operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
        refusals.append(caught.value.code)

    act(monkeypatch, at, BEFORE, cancel)
    assert drive(operation).state == "succeeded"
    assert refusals == ["not-cancellable"]


@pytest.mark.parametrize("when", [BEFORE, AFTER])
@pytest.mark.parametrize("at", STEPS, ids=str)
def test_killed_there(world, monkeypatch, at, when):
    operation = world.start(runnable(world, at[0]))
    killed = act(monkeypatch, at, when, raising(ProcessKilled()))
    assert outlive(operation).state == "succeeded"
    assert killed == [when]
    assert operation.remains == []


@pytest.mark.parametrize("when", [BEFORE, AFTER])
@pytest.mark.parametrize(("at", "restoring"), RESTORING, ids=str)
def test_killed_while_it_is_restored(world, monkeypatch, at, restoring, when):
    plan = runnable(world, at[0])
    before = seen(world)
    operation = world.start(plan)
    act(monkeypatch, at, AFTER, raising(REFUSAL))
    killed = act(monkeypatch, restoring, when, raising(ProcessKilled()))
    assert outlive(operation).state == "failed"
    assert killed == [when]
    check_honest(world, operation, before)
    monkeypatch.undo()
    check_undone(world, operation, before)


# -- what others did meanwhile is theirs


def failed_after(world, monkeypatch, at, plan, meanwhile):
    def fail():
        meanwhile()
        raise REFUSAL

    operation = world.start(plan)
    act(monkeypatch, at, AFTER, fail)
    assert drive(operation).state == "failed"
    monkeypatch.undo()
    return operation


def test_a_topic_whose_maker_is_not_known_is_not_removed(world, monkeypatch):
    """The worker died before it could note that it made the topic, and its successor fails."""
    operation = world.start(world.plan("topic.create", name="new", partitions=2))
    at = ("topic.create", "create")
    act(monkeypatch, at, AFTER, raising(ProcessKilled()))
    with pytest.raises(ProcessKilled):
        drive(operation, ticks=1)
    expire(operation)
    monkeypatch.undo()
    act(monkeypatch, at, BEFORE, raising(REFUSAL))
    assert drive(operation).state == "failed"
    assert operation.remains == [
        "There is a topic new, which this operation or somebody else made."
    ]
    assert "new" in world.gateway.topics
    undo = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    assert undo.kind == "topic.delete"
    assert undo.confirm_phrase == "new"
    assert undo.impact["warnings"][0]["text"].endswith(operation.remains[0])


@pytest.mark.parametrize("step", ["create", "verify"])
def test_a_topic_that_holds_records_is_not_removed(world, monkeypatch, step):
    plan = world.plan("topic.create", name="new", partitions=2)

    def write():
        world.gateway.topics["new"].partitions[1].log_end = 7

    operation = failed_after(world, monkeypatch, ("topic.create", step), plan, write)
    assert operation.remains == [
        "The topic new stays: it was made, and records have been written to it."
    ]
    assert "new" in world.gateway.topics


def test_a_topic_that_somebody_else_made_since_is_theirs(world, monkeypatch):
    plan = world.plan("topic.create", name="new", partitions=2)

    def replace():
        world.gateway.delete_topic("new")
        world.gateway.add_topic("new", partitions=2)

    operation = failed_after(world, monkeypatch, ("topic.create", "verify"), plan, replace)
    assert operation.remains == []
    assert "new" in world.gateway.topics


def test_a_setting_that_somebody_changed_since_is_theirs(world, monkeypatch):
    world.gateway.add_topic("orders")
    plan = world.plan(
        "topic.update", name="orders", configs={"retention.ms": "1000", "segment.bytes": "2048"}
    )

    def change():
        world.gateway.alter_topic_configs("orders", {"retention.ms": "5000"})

    failed_after(world, monkeypatch, ("topic.update", "verify"), plan, change)
    assert world.gateway.topics["orders"].configs == {"retention.ms": "5000"}


def test_a_rule_that_was_there_before_its_user_stays(world, monkeypatch):
    other = {**RULE, "operation": "WRITE"}
    (there,) = bindings_of([RULE])
    world.gateway.create_acls([there])
    plan = world.plan("user.create", username="app", acls=[RULE, other])
    operation = failed_after(world, monkeypatch, ("user.create", "verify"), plan, lambda: None)
    assert operation.remains == []
    assert world.gateway.acls == {there}
    assert world.gateway.users == {}


def test_rules_that_a_user_left_behind_can_be_deleted_with_its_name(world):
    world.gateway.create_acls(bindings_of([RULE]))
    assert world.run("user.delete", username="app").state == "succeeded"
    assert world.gateway.acls == set()


def test_offsets_of_a_group_that_reads_again_are_its_own(world, monkeypatch):
    world.gateway.add_topic("orders", partitions=2, records=50)
    world.gateway.add_group("readers", {TP("orders", 0): 10, TP("orders", 1): 20})
    plan = world.plan("offset.reset", group="readers", strategy="earliest")
    operation = failed_after(
        world,
        monkeypatch,
        ("offset.reset", "verify"),
        plan,
        lambda: world.gateway.set_members("readers", 1),
    )
    (said,) = operation.remains
    assert said == (
        "The offsets of readers in 2 partitions stay where this operation took them: the group has"
        " members again."
    )


def test_a_restoring_step_that_cannot_says_what_it_leaves(world, monkeypatch):
    """Until its deadline it is tried again; then the operation ends, and says what may be there."""
    world.gateway.add_topic("orders")
    plan = world.plan("topic.update", name="orders", configs={"retention.ms": "1000"})
    operation = world.start(plan)
    act(monkeypatch, ("topic.update", "alter"), AFTER, raising(REFUSAL))
    drive(operation, ticks=1)
    act(monkeypatch, ("topic.update", "put-back"), BEFORE, raising(REFUSAL), times=1000)
    drive(operation, ticks=2)
    assert operation.state == "running"
    long_ago = operation.steps.get(name="put-back").started_at - __import__("datetime").timedelta(
        hours=1
    )
    operation.steps.filter(name="put-back").update(started_at=long_ago)
    assert drive(operation).state == "failed"
    assert operation.error["rollback_incomplete"] == "put-back"
    (said,) = operation.remains
    assert said.startswith("What “Change the configuration” did may stay: “Put the settings back”")
    ((part,),) = operation.remains_parts
    assert part["code"] == "remains/may-stay/failed"
    titles = required_kind("topic.update").titles()
    assert titles[part["params"]["did_step"]] == "Change the configuration"
    assert titles[part["params"]["back_step"]] == "Put the settings back"
    undo = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    monkeypatch.undo()
    assert drive(world.start(undo)).state == "succeeded"
    assert world.gateway.topics["orders"].configs == {}


def test_what_an_earlier_version_left_has_no_parts(world):
    operation = world.start(world.plan("topic.create", name="new", partitions=2))
    drive(operation)
    rows = type(operation).objects.filter(pk=operation.pk)
    rows.update(state="failed", remains=["It may stay."], remains_parts=[])
    shown = operation_get(world.tenant, EVERYTHING, operation.id)
    assert (shown["remains"], shown["remains_parts"]) == (["It may stay."], [[]])
    rows.update(remains=None)
    assert operation_get(world.tenant, EVERYTHING, operation.id)["remains_parts"] is None
