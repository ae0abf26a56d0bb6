"""A longer retention for a set time: its plan, how it ends by itself, early, and what comes between."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.audit.models import AuditEvent
from controlplane.common.problems import Conflict, NotFound, Problem
from controlplane.common.transitions import IllegalTransitionError
from controlplane.gateway.errors import unreachable
from controlplane.operations.models import Operation, OperationLock
from controlplane.operations.operations import StepFailedError
from controlplane.operations.services import undo_plan_create
from controlplane.topics.models import (
    ACTIVE,
    FAILED,
    LEASE_MOVES,
    RESTORED,
    RESTORING,
    SUPERSEDED,
    RetentionLease,
)
from controlplane.topics.retention import restore_due
from tests.controlplane.operations.trouble import (
    AFTER,
    BEFORE,
    ProcessKilled,
    act,
    outlive,
    raising,
)
from tests.controlplane.support import ACTOR, client_for, cluster_make, drive, observed, tenant_make

WEEK, TWO_WEEKS, MONTH = 604_800_000, 1_209_600_000, 2_592_000_000
HOUR = 3600
BEGIN, RESTORE = "topic.retention_lease", "topic.retention_restore"


@pytest.fixture
def orders(world):
    world.gateway.add_topic("orders", partitions=2, records=10)
    return world


def leased(world, **inputs):
    wanted = {"name": "orders", "retention_ms": TWO_WEEKS, "for_s": HOUR, **inputs}
    operation = world.run(BEGIN, **wanted)
    assert operation.state == "succeeded", operation.error
    return operation


def lease():
    return RetentionLease.objects.get()


def own(world, name="orders"):
    return world.gateway.topics[name].configs.get("retention.ms")


def let_end():
    past = timezone.now() - timedelta(seconds=1)
    RetentionLease.objects.update(ends_at=past, next_try_at=past)


def restoring():
    return Operation.objects.filter(kind=RESTORE).order_by("-created_at")[0]


def swept():
    """The operation that a sweep has started, at its end."""
    assert restore_due() == 1
    return drive(restoring())


def refused(world, code, **inputs):
    wanted = {"name": "orders", "retention_ms": TWO_WEEKS, "for_s": HOUR, **inputs}
    with pytest.raises(Problem) as caught:
        world.plan(BEGIN, **wanted)
    assert caught.value.code == code, caught.value.detail
    return caught.value


def codes(plan):
    return {row["code"] for row in plan.impact["warnings"]}


# -- the plan


def test_the_plan_says_what_holds_until_when_and_what_disk_it_takes(orders):
    plan = orders.plan(BEGIN, name="orders", retention_ms=TWO_WEEKS, for_s=HOUR)
    assert plan.impact["summary"] == "Keep the records of orders for 14 days, for the next 1 hour."
    assert plan.diff["effective_before"] == {"retention.ms": str(WEEK)}
    assert plan.diff["after"]["configs"] == {"retention.ms": str(TWO_WEEKS)}
    assert [row["broker"] for row in plan.diff["disk"]] == [1, 2, 3, 4]
    assert all(row["fits"] for row in plan.diff["disk"])
    assert "restores-itself" in codes(plan)
    assert plan.confirm_phrase is None
    assert own(orders) is None


def written(world, per_s, for_s=HOUR, name="orders"):
    """So many records a second up to now, of 100 bytes each."""
    now_ms = int(time.time() * 1000)
    for part in world.gateway.topics[name].partitions:
        part.log_end = per_s * for_s
        part.timestamps_ms = [
            now_ms - for_s * 1000 + i * 1000 // per_s for i in range(part.log_end)
        ]


def test_it_is_refused_where_a_disk_would_be_nearly_full(orders):
    written(orders, per_s=1)
    day_bytes = 2 * 100 * 86_400  # two partitions
    total = 100 * day_bytes
    orders.gateway.disks[2] = (total, total // 10 + day_bytes // 2)
    found = refused(orders, "disk-bound", for_s=86_400)
    assert found.extra["brokers"] == [2]
    assert "broker 2" in found.detail
    orders.gateway.disks[2] = (total, total // 10 + 2 * day_bytes)
    assert leased(orders, for_s=86_400)


def test_it_is_refused_beyond_the_bound_that_the_user_gives(orders):
    written(orders, per_s=1)
    found = refused(orders, "disk-bound", for_s=86_400, disk_bound_bytes=1_000_000)
    assert "may hold 1000000" in found.detail
    assert leased(orders, for_s=86_400, disk_bound_bytes=100_000_000)


@pytest.mark.parametrize("how", ["no-capacity", "no-answer", "broker-gone"])
def test_a_disk_that_nobody_knows_asks_for_the_name(orders, how):
    if how == "no-capacity":
        orders.gateway.disks[1] = None
    elif how == "no-answer":
        orders.gateway.fail_next("log_dir_space", unreachable("away"))
    else:
        orders.gateway.remove_broker(3)
    plan = orders.plan(BEGIN, name="orders", retention_ms=TWO_WEEKS, for_s=HOUR)
    assert "disk-unknown" in codes(plan)
    assert (plan.impact["risks"], plan.confirm_phrase) == (["fills-disk"], "orders")


def test_records_that_go_by_size_are_said(orders):
    written(orders, per_s=1)
    orders.gateway.topics["orders"].configs["retention.bytes"] = "1000"
    plan = orders.plan(BEGIN, name="orders", retention_ms=TWO_WEEKS, for_s=HOUR)
    assert "cut-by-size" in codes(plan)


@pytest.mark.parametrize(
    ("configs", "inputs", "code"),
    [
        ({}, {"retention_ms": WEEK}, "invalid"),
        ({}, {"retention_ms": 1}, "invalid"),
        ({"retention.ms": "-1"}, {}, "invalid"),
        ({"cleanup.policy": "compact"}, {}, "not-deleted-by-age"),
        ({}, {"name": "nobody"}, "not-found"),
        ({}, {"for_s": 9}, "invalid"),
        ({}, {"for_s": 91 * 86_400}, "invalid"),
        ({}, {"retention_ms": -1}, "invalid"),
        ({}, {"retention_ms": 10**15}, "invalid"),
        ({}, {"disk_bound_bytes": 0}, "invalid"),
        ({}, {"reason": "x" * 301}, "invalid"),
        ({}, {"name": "../etc"}, "invalid"),
        ({}, {"until": "tomorrow"}, "invalid"),
    ],
)
def test_bad_inputs_are_refused(orders, configs, inputs, code):
    orders.gateway.topics["orders"].configs.update(configs)
    refused(orders, code, **inputs)
    assert not RetentionLease.objects.exists()


# -- while it holds


def test_it_holds_without_a_lock_and_is_seen_on_the_topic_and_in_the_list(orders):
    operation = leased(orders, reason="billing is behind")
    assert own(orders) == str(TWO_WEEKS)
    assert not OperationLock.objects.exists()
    assert restore_due() == 0
    observed(orders)
    client, base = client_for(orders.tenant), f"/api/v1/clusters/{orders.cluster.id}"
    shown = client.get(f"{base}/topics/orders").json()["lease"]
    assert (shown["from_ms"], shown["to_ms"]) == (WEEK, TWO_WEEKS)
    assert (shown["operation_id"], shown["state"]) == (operation.id, ACTIVE)
    (row,) = client.get(f"{base}/retention-leases").json()["data"]
    assert (row["topic"], row["reason"], row["ends_at"]) == (
        "orders",
        "billing is behind",
        shown["until"],
    )
    events = AuditEvent.objects.filter(resource="topic/orders").values_list("action", flat=True)
    assert {f"{BEGIN}.plan", f"{BEGIN}.start", f"{BEGIN}.succeeded"} <= set(events)


def test_another_tenant_does_not_see_it(orders):
    leased(orders)
    other = tenant_make("other")
    address = f"/api/v1/clusters/{orders.cluster.id}/retention-leases"
    assert client_for(other).get(address).status_code == 404
    theirs = cluster_make(other, "theirs")
    listed = client_for(other).get(f"/api/v1/clusters/{theirs.id}/retention-leases").json()
    assert listed == {"data": []}


def test_a_leased_topic_does_not_drift_by_its_lease(orders):
    orders.run("topic.update", name="orders", configs={"retention.ms": str(WEEK)})
    leased(orders)
    observed(orders)
    base = f"/api/v1/clusters/{orders.cluster.id}/topics"
    client = client_for(orders.tenant)
    assert client.get(f"{base}/orders").json()["drift"] == []
    orders.gateway.topics["orders"].configs["retention.ms"] = "5"
    observed(orders)
    (drift,) = client.get(f"{base}/orders").json()["drift"]
    assert (drift["field"], drift["observed"]) == ("retention.ms", "5")


def test_it_can_be_extended_but_not_begun_twice(orders):
    first = leased(orders)
    refused(orders, "lease-stands", for_s=60)
    refused(orders, "lease-stands", retention_ms=WEEK, for_s=2 * HOUR)
    second = leased(orders, retention_ms=MONTH, for_s=2 * HOUR)
    row = lease()
    assert (row.before_ms, row.own_before, row.held_ms) == (WEEK, None, MONTH)
    assert (row.operation_id, first.id != second.id) == (second.id, True)
    assert row.ends_at > timezone.now() + timedelta(seconds=HOUR)
    with pytest.raises(Conflict) as caught:
        undo_plan_create(tenant=orders.tenant, actor=ACTOR, operation_id=first.id)
    assert caught.value.code == "lease-ended"
    let_end()
    assert swept().state == "succeeded"
    assert own(orders) is None


def test_extended_without_another_retention(orders):
    leased(orders)
    leased(orders, for_s=2 * HOUR)
    assert RetentionLease.objects.count() == 1
    assert lease().held_ms == TWO_WEEKS


def test_an_extension_that_fails_leaves_the_lease_as_it_was(orders, monkeypatch):
    leased(orders)
    before = lease()
    plan = orders.plan(BEGIN, name="orders", retention_ms=MONTH, for_s=2 * HOUR)
    act(monkeypatch, (BEGIN, "verify"), BEFORE, raising(StepFailedError("x", "no")))
    assert drive(orders.start(plan)).state == "failed"
    after = lease()
    assert (after.ends_at, after.held_ms) == (before.ends_at, TWO_WEEKS)
    assert own(orders) == str(TWO_WEEKS)


# -- its end


@pytest.mark.parametrize("before", [None, str(WEEK), "86400000"])
def test_it_ends_by_itself_and_everything_is_as_before(orders, before):
    if before:
        orders.gateway.topics["orders"].configs["retention.ms"] = before
    operation = leased(orders)
    let_end()
    ended = swept()
    assert (ended.state, ended.actor, operation.id in ended.reason) == ("succeeded", "system", True)
    assert own(orders) == before
    row = lease()
    assert (row.state, ended.id in row.how_ended, row.ended_at is not None) == (
        RESTORED,
        True,
        True,
    )
    assert restore_due() == 0


def test_it_can_be_ended_early_and_the_plan_says_what_is_deleted(orders):
    leased(orders)
    plan = orders.plan(RESTORE, name="orders")
    assert "retention-cut" in codes(plan)
    assert (plan.impact["risks"], plan.confirm_phrase) == (["loses-data"], "orders")
    assert drive(orders.start(plan)).state == "succeeded"
    assert (own(orders), lease().state) == (None, RESTORED)
    with pytest.raises(Conflict) as caught:
        orders.plan(RESTORE, name="orders")
    assert caught.value.code == "no-lease"


def test_its_undo_is_its_end_now(orders):
    operation = leased(orders)
    undo = undo_plan_create(tenant=orders.tenant, actor=ACTOR, operation_id=operation.id)
    assert (undo.kind, undo.inputs["lease"]) == (RESTORE, operation.id)
    assert drive(orders.start(undo)).state == "succeeded"
    operation.refresh_from_db()
    assert (operation.state, lease().state, own(orders)) == ("reverted", RESTORED, None)


def test_a_retention_that_somebody_else_has_set_stays(orders):
    leased(orders)
    plan = orders.plan("topic.update", name="orders", configs={"retention.ms": str(MONTH)})
    assert "ends-lease" in codes(plan)
    assert drive(orders.start(plan)).state == "succeeded"
    let_end()
    assert swept().state == "succeeded"
    row = lease()
    assert (row.state, str(MONTH) in row.how_ended) == (SUPERSEDED, True)
    assert own(orders) == str(MONTH)


def test_a_topic_that_is_deleted_ends_its_lease(orders):
    leased(orders)
    assert orders.run("topic.delete", name="orders").state == "succeeded"
    assert (lease().state, lease().how_ended) == (SUPERSEDED, "the topic was deleted")
    assert restore_due() == 0


def test_a_topic_made_again_under_the_name_is_not_touched_and_can_be_leased(orders):
    leased(orders)
    orders.gateway.delete_topic("orders")
    orders.gateway.add_topic("orders", partitions=1)
    orders.gateway.topics["orders"].configs["retention.ms"] = str(TWO_WEEKS)
    with pytest.raises(Conflict):
        orders.plan(RESTORE, name="orders")
    let_end()
    assert swept().state == "succeeded"
    assert (lease().state, own(orders)) == (SUPERSEDED, str(TWO_WEEKS))


def test_a_cluster_that_was_let_go_fails_the_lease(orders):
    leased(orders)
    assert "retention-stays" not in codes(orders.plan(RESTORE, name="orders"))
    let_end()
    type(orders.cluster).objects.update(deleted_at=timezone.now())
    assert restore_due() == 0
    assert (lease().state, lease().how_ended) == (FAILED, "its cluster was removed")


def test_letting_go_of_a_cluster_says_which_retentions_stay(orders):
    leased(orders)
    type(orders.cluster).objects.update(kind="registered")
    plan = orders.plan("cluster.delete")
    text = next(r["text"] for r in plan.impact["warnings"] if r["code"] == "retention-stays")
    assert "orders (14 days)" in text


def test_what_is_in_the_way_is_waited_for(orders):
    leased(orders)
    plan = orders.plan("topic.update", name="orders", configs={"segment.bytes": "2048"})
    holder = orders.start(plan)
    let_end()
    assert restore_due() == 0
    row = lease()
    assert (row.state, row.tries, holder.id in row.problem) == (ACTIVE, 0, True)
    assert row.next_try_at > timezone.now()
    drive(holder)
    let_end()
    assert swept().state == "succeeded"
    assert (lease().state, lease().problem) == (RESTORED, "")


def test_a_cluster_that_is_away_is_tried_again_ever_later_and_shown(orders, monkeypatch):
    leased(orders)
    waits = []
    for tries in (1, 2, 3):
        let_end()
        with monkeypatch.context() as patch:
            act(patch, (RESTORE, "restore"), BEFORE, raising(StepFailedError("away", "it is away")))
            assert swept().state == "failed"
        row = lease()
        assert (row.state, row.tries, row.problem) == (ACTIVE, tries, "it is away")
        waits.append((row.next_try_at - timezone.now()).total_seconds())
        assert restore_due() == 0
    assert waits[0] < waits[1] < waits[2]
    assert own(orders) == str(TWO_WEEKS)
    let_end()
    assert swept().state == "succeeded"
    assert (lease().state, own(orders)) == (RESTORED, None)


def test_two_sweeps_start_one_end(orders):
    leased(orders)
    let_end()
    stale = list(RetentionLease.objects.select_related("tenant", "cluster"))
    assert restore_due() == 1
    from controlplane.topics.retention import RetentionRestore
    from controlplane.topics.services import lease_restore_start

    kind = RetentionRestore()
    assert not lease_restore_start(stale[0], kind.name, kind.draft(stale[0]))
    assert Operation.objects.filter(kind=RESTORE).count() == 1
    with pytest.raises(Conflict):
        orders.plan(RESTORE, name="orders")
    refused(orders, "lease-ending", for_s=2 * HOUR)


@pytest.mark.parametrize("step", ["restore", "verify"])
@pytest.mark.parametrize("when", [BEFORE, AFTER])
def test_a_worker_killed_in_the_end_of_a_lease_is_followed_by_another(
    orders, monkeypatch, step, when
):
    leased(orders)
    let_end()
    assert restore_due() == 1
    act(monkeypatch, (RESTORE, step), when, raising(ProcessKilled()))
    assert outlive(restoring()).state == "succeeded"
    assert (lease().state, own(orders)) == (RESTORED, None)


def test_what_a_failed_lease_could_not_put_back_is_put_back_later(orders, monkeypatch):
    plan = orders.plan(BEGIN, name="orders", retention_ms=TWO_WEEKS, for_s=HOUR)
    with monkeypatch.context() as patch:
        act(patch, (BEGIN, "verify"), BEFORE, raising(StepFailedError("x", "not seen")))
        operation = orders.start(plan)
        drive(operation, ticks=2)
        orders.gateway.topics["orders"].configs["retention.ms"] = str(TWO_WEEKS)
        type(operation).objects.filter(pk=operation.pk).update(remains=["it may stay"])
        operation = drive(operation)
    assert operation.state == "failed"
    assert lease().state == ACTIVE
    RetentionLease.objects.update(next_try_at=timezone.now())
    swept()
    assert (own(orders), lease().state) == (None, RESTORED)


# -- the table


@pytest.mark.parametrize("before", LEASE_MOVES.states)
@pytest.mark.parametrize("after", LEASE_MOVES.states)
def test_only_moves_of_the_table_are_made(before, after):
    legal = {
        ACTIVE: {RESTORING, RESTORED, SUPERSEDED, FAILED},
        RESTORING: {ACTIVE, RESTORED, SUPERSEDED, FAILED},
    }
    row = RetentionLease(state=before)
    if after in legal.get(before, ()):
        row.move_to(after)
        assert row.state == after
    else:
        with pytest.raises(IllegalTransitionError):
            row.move_to(after)


def test_a_lease_of_nothing_cannot_be_ended(orders):
    with pytest.raises(NotFound):
        orders.plan(RESTORE, name="nobody")
