"""A topic emptied: exactly what the plan saw is deleted, and its readers are named."""

import pytest

from controlplane.common.problems import Conflict, Problem
from controlplane.gateway.errors import GatewayError, timed_out
from controlplane.gateway.types import TP
from tests.controlplane.support import drive, step


@pytest.fixture
def orders(world):
    world.gateway.add_topic("orders", partitions=2, rf=3, records=50)
    return world


def starts(world):
    return [part.log_start for part in world.gateway.topics["orders"].partitions]


def reach(plan):
    return {row["name"]: row for row in plan.impact["blast_radius"]}


def said(plan):
    return {row["code"]: row["text"] for row in plan.impact["warnings"]}


def test_every_record_goes_the_topic_and_its_settings_stay(orders):
    orders.gateway.alter_topic_configs("orders", {"retention.ms": "1000"})
    operation = orders.run("topic.empty", name="orders")
    assert operation.state == "succeeded", operation.error
    assert starts(orders) == [50, 50]
    assert orders.gateway.topics["orders"].configs == {"retention.ms": "1000"}
    assert step(operation, "verify").detail == "every log begins there"


def test_the_plan_says_how_much_is_lost_and_who_has_not_read_it(orders):
    orders.gateway.add_group("behind", {TP("orders", 0): 10, TP("orders", 1): 50}, members=1)
    orders.gateway.add_group("done", {TP("orders", 0): 50, TP("orders", 1): 50})
    orders.gateway.add_group("elsewhere", {})
    plan = orders.plan("topic.empty", name="orders")
    assert plan.confirm_phrase == "orders"
    assert plan.impact["risks"] == ["loses-data"]
    rows = reach(plan)
    assert (rows["records"]["value"], rows["bytes"]["value"]) == (100, 10_000)
    assert rows["groups"]["names"] == ["behind"]
    texts = said(plan)
    assert texts["data-loss"] == (
        "100 records are deleted on every replica: 9.77 KiB (10000 bytes)."
    )
    assert texts["unread-lost"] == ("Not read yet, and never to be read: by behind (40 records).")
    assert texts["no-undo"] == ("This cannot be undone: records that are deleted do not come back.")
    assert plan.diff["partitions"][1] == {
        "topic": "orders",
        "partition": 1,
        "log_start": 0,
        "until": 50,
        "records": 50,
    }


def test_what_is_written_after_the_plan_stays(orders):
    plan = orders.plan("topic.empty", name="orders")
    orders.gateway.topics["orders"].partitions[0].log_end = 60
    operation = drive(orders.start(plan))
    assert operation.state == "succeeded", operation.error
    assert starts(orders) == [50, 50]


def test_a_group_that_would_lose_records_and_was_not_named_refuses_the_plan(orders):
    plan = orders.plan("topic.empty", name="orders")
    orders.gateway.add_group("late", {TP("orders", 0): 5})
    with pytest.raises(Conflict) as caught:
        orders.start(plan)
    assert caught.value.code == "blast-radius-changed"
    assert starts(orders) == [0, 0]


def test_a_topic_made_again_under_the_name_is_not_emptied(orders):
    plan = orders.plan("topic.empty", name="orders")
    operation = orders.start(plan)
    orders.gateway.delete_topic("orders")
    orders.gateway.add_topic("orders", partitions=2, records=50)
    operation = drive(operation)
    assert operation.state == "failed"
    assert operation.error["code"] == "topic-gone"
    assert operation.remains == []
    assert starts(orders) == [0, 0]


COMPACT = {"cleanup.policy": "compact"}


def _empty(world):
    for part in world.gateway.topics["orders"].partitions:
        part.log_start = part.log_end


@pytest.mark.parametrize(
    ("arrange", "code"),
    [
        (lambda world: world.gateway.alter_topic_configs("orders", COMPACT), "compacted"),
        (_empty, "nothing-to-do"),
    ],
)
def test_what_cannot_be_emptied_is_refused_at_the_plan(orders, arrange, code):
    arrange(orders)
    with pytest.raises(Problem) as caught:
        orders.plan("topic.empty", name="orders")
    assert caught.value.code == code


def test_a_partition_without_a_leader_refuses_the_plan_and_says_why(orders):
    orders.gateway.add_topic("thin", partitions=4, rf=1, records=5)
    orders.gateway.remove_broker(2)
    with pytest.raises(Problem) as caught:
        orders.plan("topic.empty", name="thin")
    assert caught.value.status == 503
    assert "1 partition has no leader (replica on 2)" in caught.value.detail


def test_internal_topics_are_never_emptied(orders):
    orders.gateway.add_topic("__consumer_offsets", records=5)
    with pytest.raises(Conflict) as caught:
        orders.plan("topic.empty", name="__consumer_offsets")
    assert caught.value.code == "internal-topic"


def test_offsets_of_groups_that_cannot_be_read_are_unknown_not_none(orders):
    orders.gateway.add_group("behind", {TP("orders", 0): 10})
    real = orders.gateway.group_offsets

    def refuses_the_topics_readers(groups):
        if list(groups) == ["behind"]:
            raise GatewayError("NOT_COORDINATOR", "it moved")
        return real(groups)

    orders.gateway.add_group("elsewhere", {}, coordinator=1)
    orders.gateway.group_offsets = refuses_the_topics_readers
    row = reach(orders.plan("topic.empty", name="orders"))["groups"]
    assert row["value"] is None
    assert row["unknown"][0]["reason"] == "the groups' offsets could not be read (it moved)"


def test_an_answer_that_was_lost_is_looked_up_and_nothing_is_deleted_twice(orders):
    operation = orders.start(orders.plan("topic.empty", name="orders"))
    real = orders.gateway.delete_records

    def delete_then_time_out(until):
        real(until)
        orders.gateway.delete_records = real
        raise timed_out("delete records", write=True)

    orders.gateway.delete_records = delete_then_time_out
    assert drive(operation).state == "succeeded"
    assert starts(orders) == [50, 50]
    assert orders.gateway.calls.count("delete_records") == 1


def test_one_that_fails_half_way_says_what_is_gone(orders):
    operation = orders.start(orders.plan("topic.empty", name="orders"))

    def delete_one(until):
        first = min(until)
        orders.gateway.topics["orders"].partitions[first.partition].log_start = until[first]
        raise GatewayError("OFFSET_OUT_OF_RANGE", "orders-1")

    orders.gateway.delete_records = delete_one
    operation = drive(operation)
    assert operation.state == "failed"
    assert operation.remains == [
        "Records of 1 partition of orders are deleted: records that are deleted do not come back."
    ]
    assert starts(orders) == [50, 0]
