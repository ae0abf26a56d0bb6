"""The table of locks: each pair of kinds, refusals, how long locks are held, and who is quicker."""

import itertools
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from controlplane.access.inputs import bindings_of
from controlplane.clusters.models import Broker
from controlplane.common.problems import Conflict
from controlplane.gateway.errors import GatewayError
from controlplane.operations import services
from controlplane.operations.locks import LOCKS, Lock, Mode, Resource, are_compatible, in_the_way
from controlplane.operations.models import Operation, OperationLock
from controlplane.operations.operations import OperationKind, kind_names, register
from controlplane.operations.services import operation_cancel, undo_plan_create
from controlplane.operations.states import ACTIVE_STATES
from controlplane.topics.operations import TopicCreate
from tests.controlplane.kind_plans import BINDING, NEW, ROLLS, plan_of
from tests.controlplane.lock_table import FILE, render, together
from tests.controlplane.support import ACTOR, client_for, drive

WHOLE_TOPIC = {"topic.create", "topic.partitions", "topic.delete", "topic.empty"}
OFFSETS = {"offset.reset", "offset.restore"}
USERS = {"user.create", "user.rotate", "user.retire", "user.delete", "quota.set"}
ACLS = {"acl.create", "acl.delete"}
TOPIC_CONFIG = {"topic.update", "topic.retention_lease", "topic.retention_restore"}
PLACEMENT = {"reassignment", "broker.restart", "leaders.elect", "cluster.add_brokers", *ROLLS}
NEEDS_THE_TOPIC = {*TOPIC_CONFIG, "reassignment", "leaders.elect", *OFFSETS}

# Kind → what is refused while it is under way on the same things, beside what locks the cluster.
REFUSED: dict[str, set[str]] = {
    **dict.fromkeys(NEW, NEW),
    **dict.fromkeys(WHOLE_TOPIC, WHOLE_TOPIC | NEEDS_THE_TOPIC),
    **dict.fromkeys(TOPIC_CONFIG, WHOLE_TOPIC | TOPIC_CONFIG),
    "reassignment": WHOLE_TOPIC | PLACEMENT,
    "leaders.elect": WHOLE_TOPIC | PLACEMENT,
    "broker.restart": PLACEMENT,
    **dict.fromkeys(ROLLS, PLACEMENT),
    "cluster.add_brokers": PLACEMENT,
    **dict.fromkeys(OFFSETS, WHOLE_TOPIC | OFFSETS | {"group.delete"}),
    "group.delete": OFFSETS | {"group.delete"},
    **dict.fromkeys(USERS, USERS | ACLS),
    **dict.fromkeys(ACLS, USERS | ACLS),
}
WHOLE_CLUSTER = {"cluster.delete", "cluster.credentials", "cluster.remove_brokers"}
for _kind in WHOLE_CLUSTER:
    REFUSED[_kind] = {*REFUSED, *WHOLE_CLUSTER} - NEW
# On other topics, groups, users, names of the same cluster.
REFUSED_ELSEWHERE = {
    **{kind: set() if kind in NEW else WHOLE_CLUSTER for kind in REFUSED},
    **dict.fromkeys(PLACEMENT, PLACEMENT | WHOLE_CLUSTER),
    **{kind: REFUSED[kind] for kind in WHOLE_CLUSTER},
}
for _kind in REFUSED.keys() - NEW:
    REFUSED[_kind] = REFUSED[_kind] | WHOLE_CLUSTER
PAIRS = list(itertools.product(sorted(REFUSED), repeat=2))


@pytest.fixture
def world_stands_still(monkeypatch):
    """No plan is stale: one world cannot suit two kinds, one of which wants the topic to be there."""
    monkeypatch.setattr(services, "check_fresh", lambda *_: None)


# -- the table


def test_each_kind_has_its_row():
    assert LOCKS.keys() == set(kind_names()) == REFUSED.keys()


def test_a_kind_without_a_row_is_not_offered():
    class Forgotten(TopicCreate):
        name = "topic.forgotten"

    with pytest.raises(ValueError, match="no row in the table of locks"):
        register(Forgotten())


def test_only_shared_goes_with_shared():
    found = {(one, other): are_compatible(one, other) for one in Mode for other in Mode}
    assert [pair for pair, both in found.items() if both] == [(Mode.SHARED, Mode.SHARED)]


def test_only_the_same_thing_is_in_the_way():
    held = Lock("cl_1", Resource.TOPIC, "a", Mode.EXCLUSIVE)
    others = [
        held._replace(scope="cl_2"),
        held._replace(resource=Resource.TOPIC_CONFIG),
        held._replace(name="b"),
    ]
    assert in_the_way(others, [held]) is None
    assert in_the_way([*others, held._replace(mode=Mode.SHARED)], [held]) == held


def test_the_document_shows_the_table():
    assert FILE.read_text(encoding="utf-8") == render()


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_the_document_says_of_each_pair_what_is_wanted(one, other):
    assert together(one, other) is (other not in REFUSED[one])
    assert together(one, other) is together(other, one)


# -- each pair, for real


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_each_pair_on_the_same_things(world, world_stands_still, one, other):
    first, second = plan_of(world, one), plan_of(world, other)
    holder = world.start(first)
    if other not in REFUSED[one]:
        assert world.start(second).state == "pending"
        return
    with pytest.raises(Conflict) as caught:
        world.start(second)
    assert caught.value.code == "operation-in-progress"
    assert caught.value.extra["operation_id"] == holder.id
    second.refresh_from_db()
    assert second.state == "open"
    assert list(Operation.objects.filter(state__in=ACTIVE_STATES)) == [holder]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_each_pair_on_different_things(world, world_stands_still, one, other):
    first, second = plan_of(world, one, 1), plan_of(world, other, 2)
    world.start(first)
    if other in REFUSED_ELSEWHERE[one]:
        with pytest.raises(Conflict, match="under way"):
            world.start(second)
    else:
        assert world.start(second).state == "pending"


def rule_plan(world, kind, rows):
    bindings = bindings_of(rows)
    world.gateway.delete_acls(bindings)
    if kind == "acl.delete":
        world.gateway.create_acls(bindings)
    return world.plan(kind, bindings=rows)


def rule_row(**fields):
    common = {"principal": "User:app", "operation": "READ", "resource_type": "TOPIC"}
    return {**BINDING, **common, "resource_name": "orders", **fields}


@pytest.mark.parametrize(
    "other",
    [
        {"operation": "WRITE"},
        {"permission": "DENY"},
        {"host": "10.0.0.1"},
        {"pattern_type": "PREFIXED"},
        {"resource_name": "payments"},
        {"resource_type": "GROUP"},
    ],
)
def test_rules_that_differ_at_all_are_changed_side_by_side(world, world_stands_still, other):
    world.start(rule_plan(world, "acl.create", [rule_row()]))
    second = world.start(rule_plan(world, "acl.delete", [rule_row(**other)]))
    assert second.state == "pending"


def test_one_rule_in_common_is_enough(world, world_stands_still):
    """A rule that is there already is named by the plan, if not added: nobody takes it away."""
    rows = [rule_row(operation=name) for name in ("READ", "WRITE", "DESCRIBE")]
    holder = world.start(rule_plan(world, "acl.create", rows[:2]))
    with pytest.raises(Conflict) as caught:
        world.start(rule_plan(world, "acl.delete", rows[1:]))
    assert caught.value.extra["operation_id"] == holder.id
    assert caught.value.extra["lock"] == {
        "resource": "acl",
        "name": "User:app ALLOW WRITE on TOPIC orders",
        "mode": "exclusive",
    }


def test_long_rules_are_told_apart(world, world_stands_still):
    longest = {"principal": f"User:{'u' * 200}", "host": "h" * 200}
    one = rule_row(**longest, resource_name="t" * 248 + "a")
    other = rule_row(**longest, resource_name="t" * 248 + "b")
    world.start(rule_plan(world, "acl.create", [one]))
    assert world.start(rule_plan(world, "acl.create", [other])).state == "pending"
    with pytest.raises(Conflict, match="under way"):
        world.start(rule_plan(world, "acl.delete", [one]))


# -- how long


def test_a_topic_is_not_deleted_while_its_partitions_move(world):
    move, delete = plan_of(world, "reassignment"), plan_of(world, "topic.delete")
    moving = world.start(move)
    with pytest.raises(Conflict) as caught:
        world.start(delete)
    assert caught.value.extra["lock"] == {
        "resource": "topic",
        "name": "orders-1",
        "mode": "shared",
    }
    assert f"reassignment {moving.id}" in caught.value.detail
    assert "it holds the topic orders-1 (shared)" in caught.value.detail
    assert drive(moving).state == "succeeded"
    assert drive(world.start(delete)).state == "succeeded", "the same plan, once nothing moves"
    assert not OperationLock.objects.exists()


def test_locks_outlast_the_failure_until_everything_is_rolled_back(world):
    operation = world.start(plan_of(world, "reassignment"))
    delete = plan_of(world, "topic.delete")
    world.gateway.fail_next("reassign", GatewayError("POLICY_VIOLATION", "not here"))
    for _ in range(50):
        drive(operation, ticks=1)
        if operation.rolling_back:
            break
    assert operation.state == "running"
    with pytest.raises(Conflict, match="under way"):
        world.start(delete)
    assert drive(operation).state == "failed"
    assert not operation.locks.exists()
    assert world.start(delete).locks.count() == 2


def test_locks_outlast_the_cancellation_until_everything_is_rolled_back(world):
    operation = drive(world.start(plan_of(world, "reassignment")), ticks=2)
    operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    delete = plan_of(world, "topic.delete")
    with pytest.raises(Conflict, match="under way"):
        world.start(delete)
    assert drive(operation).state == "cancelled"
    assert drive(world.start(delete)).state == "succeeded"


def test_what_undoes_an_operation_takes_locks_of_its_own(world):
    updated = drive(world.start(plan_of(world, "topic.update")))
    undo = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=updated.id)
    delete = plan_of(world, "topic.delete")
    undoing = world.start(undo)
    with pytest.raises(Conflict, match=undoing.id):
        world.start(delete)
    assert drive(undoing).state == "succeeded"
    assert not OperationLock.objects.exists()


def test_a_cluster_that_is_being_made_is_not_deleted(world):
    making = world.start(plan_of(world, "cluster.create"))
    delete = world.plan("cluster.delete", cluster_id=making.cluster_id)
    with pytest.raises(Conflict) as caught:
        world.start(delete)
    assert caught.value.extra["operation_id"] == making.id
    assert "it holds the cluster (exclusive)" in caught.value.detail


def test_an_operation_shows_what_it_holds(world):
    client = client_for(world.tenant)
    operation = world.start(plan_of(world, "reassignment"))
    path = f"/api/v1/operations/{operation.id}"
    assert client.get(path).json()["locks"] == [
        {"resource": "cluster", "name": "", "mode": "shared"},
        {"resource": "placement", "name": "", "mode": "exclusive"},
        {"resource": "topic", "name": "orders-1", "mode": "shared"},
    ]
    drive(operation)
    assert client.get(path).json()["locks"] == []


# -- who is quicker


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """What each call answered or raised, all begun together, each in a thread and connection."""
    barrier, results = threading.Barrier(len(calls)), [None] * len(calls)

    def run(index: int) -> None:
        try:
            barrier.wait(30)
            results[index] = calls[index]()
        except Exception as error:
            results[index] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


def started(results: list[Any]) -> list[Operation]:
    for result in results:
        if not isinstance(result, Operation):
            assert isinstance(result, Conflict), result
            assert result.code == "operation-in-progress", result
    return [result for result in results if isinstance(result, Operation)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("kinds", "winners"),
    [
        (("topic.partitions",) * 6, {1}),
        (("acl.create", "acl.delete") * 3, {1}),
        (("acl.create", "topic.update", "reassignment"), {3}),
        (("topic.delete", "offset.reset"), {1}),
        (("topic.delete", "topic.update", "reassignment"), {1, 2}),
        (("cluster.delete", "acl.create", "topic.create", "group.delete"), {1, 3}),
        (("cluster.register", "cluster.register"), {1}),
    ],
)
def test_confirmed_at_once_they_exclude_each_other_as_one_by_one(
    world, world_stands_still, kinds, winners
):
    """An exclusive one alone, or all the shared ones: never both."""
    for number in range(4):
        plans = [plan_of(world, kind, number) for kind in kinds]
        found = started(at_once(*(lambda plan=plan: world.start(plan) for plan in plans)))
        assert len(found) in winners, [row.kind for row in found]
        for one, other in itertools.combinations(found, 2):
            assert other.kind not in REFUSED[one.kind]
        for row in found:
            Operation.objects.filter(pk=row.pk).delete()
        type(world.cluster).objects.filter(pk=world.cluster.pk).update(phase="RUNNING")


# -- two creations over the same ports


def swapped(plan):
    """The plan with its client port as the internal one and the other way round."""
    for row in plan.preconditions["placement"]:
        row["client_port"], row["internal_port"] = row["internal_port"], row["client_port"]
    plan.save()
    return plan


def ports_of(rows):
    return [port for row in rows for port in (row.client_port, row.internal_port)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_swapped", [False, True])
def test_creations_confirmed_at_once_never_share_a_port(world, is_swapped):
    """The other is refused by the rows' own constraints. These do not compare a client port with an
    internal one: there the check fails the second creation, or both."""
    for number in range(4):
        plans = [
            world.plan("cluster.create", None, name=f"{name}-{number}", broker_count=1)
            for name in ("one", "other")
        ]
        assert len({str(plan.preconditions["placement"]) for plan in plans}) == 1
        if is_swapped:
            swapped(plans[1])
        found = at_once(*(lambda plan=plan: drive(world.start(plan)) for plan in plans))
        ended = []
        for result in found:
            if isinstance(result, Operation):
                ended.append(result.state)
                assert result.state == "succeeded" or result.error["code"] == "place-gone"
            else:
                assert isinstance(result, Conflict), result
                assert result.code in {"plan-stale", "operation-in-progress"}, result
        assert ended.count("succeeded") <= 1
        assert is_swapped or ended.count("succeeded") == 1
        taken = ports_of(Broker.objects.all())
        assert len(taken) == len(set(taken)) == 2 * ended.count("succeeded")
        assert len(world.hosts.desired) == ended.count("succeeded")
        for cluster_id in set(Broker.objects.values_list("cluster_id", flat=True)):
            assert world.run("cluster.delete", cluster_id).state == "succeeded"


def test_every_kind_names_what_the_table_has_it_lock(world):
    """`lock_names` of each kind knows every resource of its row, and no empty name but the two."""
    for kind in kind_names():
        plan = plan_of(world, kind)
        behaviour: OperationKind = services.required_kind(kind)
        locks = behaviour.locks(plan, "cl_x")
        assert {lock.resource for lock in locks} == LOCKS[kind].keys()
        unnamed = {lock.resource for lock in locks if not lock.name}
        assert unnamed <= {Resource.CLUSTER, Resource.PLACEMENT}
