from dataclasses import replace

import pytest

from controlplane.common.problems import Conflict, NotFound
from controlplane.gateway.errors import GatewayError, timed_out
from controlplane.gateway.types import TP, CommittedOffset
from controlplane.operations.services import undo_plan_create
from tests.controlplane.support import ACTOR, drive, step

PLACES = {TP("orders", 0): 60, TP("orders", 1): 80}


@pytest.fixture
def readers(world):
    world.gateway.add_topic("orders", partitions=2, records=100)
    world.gateway.add_group("readers", PLACES)
    return world


def places(world):
    return {tp: at.offset for tp, at in world.gateway.committed.get("readers", {}).items()}


def test_the_plan_shows_what_vanishes(readers):
    plan = readers.plan("group.delete", group="readers")
    assert plan.diff == {
        "before": {"state": "Empty", "members": 0, "lag": 60},
        "after": None,
        "offsets": [
            {
                "topic": "orders",
                "partition": part,
                "committed": at,
                "log_start": 0,
                "log_end": 100,
                "lag": 100 - at,
                "restorable": True,
            }
            for part, at in ((0, 60), (1, 80))
        ],
    }
    assert plan.confirm_phrase == "readers"
    assert [row["code"] for row in plan.impact["warnings"]] == ["offsets-lost", "unread"]
    assert "readers" in readers.gateway.groups


def test_a_lag_of_which_a_part_cannot_be_read_is_a_lower_bound(readers):
    readers.gateway.silent = {2}
    readers.gateway.groups["readers"] = replace(readers.gateway.groups["readers"], coordinator=1)
    plan = readers.plan("group.delete", group="readers")
    assert plan.diff["before"]["lag"] is None
    assert [row["lag"] for row in plan.diff["offsets"]] == [40, None]
    (unread,) = plan.impact["blast_radius"]
    assert (unread["value"], unread["at_least"], unread["limit"]) == (None, 40, None)
    texts = {row["code"]: row["text"] for row in plan.impact["warnings"]}
    assert texts["unread"] == "At least 40 records of its topics are unread by this group."
    assert "broker 2 did not answer" in texts["unknown"]


def test_a_group_that_falls_behind_may_still_be_deleted(readers):
    plan = readers.plan("group.delete", group="readers")
    readers.gateway.topics["orders"].partitions[0].log_end += 10_000
    assert drive(readers.start(plan)).state == "succeeded"


def test_it_is_deleted_read_back_and_undone(readers):
    operation = readers.run("group.delete", group="readers")
    assert operation.state == "succeeded", operation.error
    assert "readers" not in readers.gateway.groups
    assert places(readers) == {}
    undo = undo_plan_create(tenant=readers.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(readers.start(undo)).state == "succeeded"
    assert places(readers) == PLACES
    operation.refresh_from_db()
    assert operation.state == "reverted"


def test_what_lies_in_a_deleted_topic_does_not_hinder(readers):
    readers.gateway.committed["readers"][TP("old", 0)] = CommittedOffset(offset=7)
    operation = readers.run("group.delete", group="readers")
    assert operation.state == "succeeded"
    gone = [row for row in operation.plan.diff["offsets"] if row["topic"] == "old"]
    assert [(r["log_end"], r["lag"], r["restorable"]) for r in gone] == [(None, None, False)]
    undo = undo_plan_create(tenant=readers.tenant, actor=ACTOR, operation_id=operation.id)
    assert {row["topic"] for row in undo.diff["partitions"]} == {"orders"}


def test_a_cluster_that_cannot_say_what_vanishes_refuses_the_plan(readers):
    readers.gateway.fail_next("group_offsets", timed_out("slow", write=False))
    with pytest.raises(GatewayError):
        readers.plan("group.delete", group="readers")


def test_a_group_without_offsets_says_that_there_is_no_way_back(readers):
    readers.gateway.add_group("bare", {})
    plan = readers.plan("group.delete", group="bare")
    assert [row["code"] for row in plan.impact["warnings"]] == ["no-undo"]
    assert drive(readers.start(plan)).state == "succeeded"


def test_an_unknown_group_is_not_found(readers):
    with pytest.raises(NotFound, match="nobody"):
        readers.plan("group.delete", group="nobody")


def test_active_members_refuse_the_plan_and_are_named(readers):
    readers.gateway.set_members("readers", 2)
    with pytest.raises(Conflict) as caught:
        readers.plan("group.delete", group="readers")
    assert caught.value.code == "group-active"
    assert len(caught.value.extra["members"]) == 2


def moved(world):
    world.gateway.committed["readers"][TP("orders", 0)] = CommittedOffset(offset=61)


def joined(world):
    world.gateway.set_members("readers", 1)


@pytest.mark.parametrize("change", [moved, joined])
def test_a_world_that_moved_after_the_plan_refuses_the_confirmation(readers, change):
    plan = readers.plan("group.delete", group="readers")
    change(readers)
    with pytest.raises(Conflict) as caught:
        readers.start(plan)
    assert caught.value.code == "plan-stale"


@pytest.mark.parametrize("ticks", [0, 1])
@pytest.mark.parametrize(("change", "code"), [(moved, "plan-stale"), (joined, "group-active")])
def test_a_world_that_moved_after_the_confirmation_fails_it(readers, ticks, change, code):
    operation = drive(readers.start(readers.plan("group.delete", group="readers")), ticks=ticks)
    change(readers)
    ended = drive(operation)
    assert (ended.state, ended.error["code"]) == ("failed", code)
    assert places(readers)


def test_the_coordinator_is_the_last_guard(readers):
    readers.gateway.fail_next("delete_group", GatewayError("NON_EMPTY_GROUP", "readers"))
    ended = readers.run("group.delete", group="readers")
    assert (ended.state, ended.error["code"]) == ("failed", "group-active")


def test_a_deletion_whose_answer_was_lost_is_looked_up_again(readers):
    operation = drive(readers.start(readers.plan("group.delete", group="readers")), ticks=1)
    readers.gateway.delete_group("readers")
    readers.gateway.fail_next("delete_group", timed_out("slow", write=True))
    ended = drive(operation)
    assert ended.state == "succeeded"
    assert step(ended, "delete").attempts >= 1
