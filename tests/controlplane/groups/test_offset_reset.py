import pytest

from controlplane.common.problems import Conflict, NotFound, Problem
from controlplane.gateway.errors import GatewayError, timed_out
from controlplane.gateway.types import TP, CommittedOffset
from controlplane.groups import operations
from controlplane.operations.services import undo_plan_create
from tests.controlplane.support import ACTOR, drive


@pytest.fixture
def readers(world):
    world.gateway.add_topic("orders", partitions=2, records=100)
    world.gateway.add_group("readers", {TP("orders", 0): 60, TP("orders", 1): 80})
    return world


def offsets(world, group="readers"):
    return {tp.partition: at.offset for tp, at in world.gateway.committed[group].items()}


def test_reset_reads_back_and_undo_restores(readers):
    plan = readers.plan("offset.reset", group="readers", strategy="earliest")
    assert plan.impact["records_reread"] == 140
    operation = drive(readers.start(plan))
    assert operation.state == "succeeded"
    assert offsets(readers) == {0: 0, 1: 0}
    undo = undo_plan_create(tenant=readers.tenant, actor=ACTOR, operation_id=operation.id)
    assert [row["to"] for row in undo.diff["partitions"]] == [60, 80]
    assert drive(readers.start(undo)).state == "succeeded"
    assert offsets(readers) == {0: 60, 1: 80}
    operation.refresh_from_db()
    assert operation.state == "reverted"


def test_first_commit_of_a_group_is_undone_by_removing_it(readers):
    operation = readers.run("offset.reset", group="new", topics=["orders"], strategy="latest")
    assert offsets(readers, "new") == {0: 100, 1: 100}
    undo = undo_plan_create(tenant=readers.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(readers.start(undo)).state == "succeeded"
    assert offsets(readers, "new") == {}


def test_active_members_refuse_the_plan_and_are_named(readers):
    readers.gateway.set_members("readers", 2)
    with pytest.raises(Conflict) as caught:
        readers.plan("offset.reset", group="readers", strategy="earliest")
    assert caught.value.code == "group-active"
    assert len(caught.value.extra["members"]) == 2


def test_members_that_come_after_the_plan_refuse_the_confirmation(readers):
    plan = readers.plan("offset.reset", group="readers", strategy="earliest")
    readers.gateway.set_members("readers", 1)
    with pytest.raises(Conflict) as caught:
        readers.start(plan)
    assert caught.value.code == "plan-stale"


@pytest.mark.parametrize("ticks", [0, 1])
def test_members_that_come_after_the_confirmation_fail_the_operation(readers, ticks):
    operation = drive(
        readers.start(readers.plan("offset.reset", group="readers", strategy="earliest")),
        ticks=ticks,
    )
    readers.gateway.set_members("readers", 1)
    assert drive(operation).state == "failed"
    assert operation.error["code"] == "group-active"
    assert offsets(readers) == {0: 60, 1: 80}


def test_the_coordinator_is_the_last_guard(readers):
    operation = readers.start(readers.plan("offset.reset", group="readers", strategy="earliest"))
    readers.gateway.fail_next("commit_group_offsets", GatewayError("UNKNOWN_MEMBER_ID", "x"))
    assert drive(operation).state == "failed"
    assert operation.error["code"] == "group-active"


def test_offsets_that_moved_make_the_plan_stale(readers):
    plan = readers.plan("offset.reset", group="readers", strategy="earliest")
    readers.gateway.committed["readers"][TP("orders", 0)] = CommittedOffset(offset=61)
    with pytest.raises(Conflict) as caught:
        readers.start(plan)
    assert caught.value.code == "plan-stale"
    assert "orders-0" in caught.value.detail


def test_offsets_that_move_after_confirming_fail_and_nothing_is_written(readers):
    operation = readers.start(readers.plan("offset.reset", group="readers", strategy="earliest"))
    readers.gateway.committed["readers"][TP("orders", 0)] = CommittedOffset(offset=61)
    assert drive(operation).state == "failed"
    assert operation.error["code"] == "plan-stale"
    assert offsets(readers) == {0: 61, 1: 80}


def test_a_growing_log_does_not_make_a_plan_stale(readers):
    plan = readers.plan("offset.reset", group="readers", strategy="latest")
    for part in readers.gateway.topics["orders"].partitions:
        part.log_end += 5
    assert drive(readers.start(plan)).state == "succeeded"
    assert offsets(readers) == {0: 100, 1: 100}


def test_a_commit_that_timed_out_but_happened_is_seen(readers):
    operation = readers.start(readers.plan("offset.reset", group="readers", strategy="earliest"))
    real = readers.gateway.commit_group_offsets

    def commit_then_time_out(group, wanted):
        readers.gateway.commit_group_offsets = real
        real(group, wanted)
        raise timed_out("commit", write=True)

    readers.gateway.commit_group_offsets = commit_then_time_out
    assert drive(operation).state == "succeeded"


def test_scopes(readers):
    plan = readers.plan(
        "offset.reset",
        group="readers",
        strategy="offset",
        value=5,
        partitions=[{"topic": "orders", "partition": 1}],
    )
    assert [(row["partition"], row["to"]) for row in plan.diff["partitions"]] == [(1, 5)]
    with pytest.raises(Problem, match="no topic nope"):
        readers.plan("offset.reset", group="readers", strategy="earliest", topics=["nope"])
    with pytest.raises(NotFound, match="committed nothing"):
        readers.plan("offset.reset", group="unknown", strategy="earliest")


def codes(plan):
    return {row["code"] for row in plan.impact["warnings"]}


def test_partitions_without_a_commit_are_part_of_the_groups_topics(readers):
    del readers.gateway.committed["readers"][TP("orders", 1)]
    plan = readers.plan("offset.reset", group="readers", strategy="earliest")
    assert [(row["from"], row["to"], row["effect"]) for row in plan.diff["partitions"]] == [
        (60, 0, "reread"),
        (None, 0, "first"),
    ]
    assert plan.impact["records_reread"] == 60
    assert plan.impact["records_first_read"] == 100
    assert codes(plan) == {"records-reread", "first-commit"}
    plan = readers.plan("offset.reset", group="readers", strategy="latest")
    assert plan.impact["records_skipped"] == 140


def test_a_shift_leaves_partitions_without_a_commit(readers):
    del readers.gateway.committed["readers"][TP("orders", 1)]
    operation = readers.run("offset.reset", group="readers", strategy="shift", value=-10)
    assert operation.state == "succeeded"
    assert "no-commit" in codes(operation.plan)
    assert offsets(readers) == {0: 50}


def test_a_missing_group_is_reported(readers):
    plan = readers.plan("offset.reset", group="raeders", topics=["orders"], strategy="earliest")
    assert codes(plan) == {"new-group", "first-commit"}
    with pytest.raises(Conflict, match="no commit to shift") as caught:
        readers.plan("offset.reset", group="raeders", topics=["orders"], strategy="shift", value=1)
    assert caught.value.code == "no-commit"


@pytest.mark.parametrize(
    ("inputs", "pointer"),
    [
        ({"strategy": "shift"}, "/inputs/value"),
        ({"strategy": "timestamp", "value": -1}, "/inputs/value"),
        ({"strategy": "sideways"}, "/inputs/strategy"),
        ({}, "/inputs/strategy"),
        ({"strategy": "earliest", "nonsense": 1}, "/inputs/nonsense"),
    ],
)
def test_bad_inputs_are_named(readers, inputs, pointer):
    with pytest.raises(Problem) as caught:
        readers.plan("offset.reset", group="readers", **inputs)
    assert pointer in [row["pointer"] for row in caught.value.errors]


def test_timestamp_falls_back_to_the_end_and_says_so(readers):
    plan = readers.plan("offset.reset", group="readers", strategy="timestamp", value=10**15)
    assert {row["to"] for row in plan.diff["partitions"]} == {100}
    assert "no record" in plan.diff["partitions"][0]["reason"]


@pytest.fixture
def half_led(world):
    """A topic whose partition 1 has lost its only broker."""
    world.gateway.add_topic("metrics", partitions=2, rf=1, records=100)
    world.gateway.add_group("readers", {TP("metrics", 0): 60, TP("metrics", 1): 80})
    world.gateway.remove_broker(2)
    return world


@pytest.mark.parametrize(
    ("strategy", "value", "to"),
    [("earliest", None, 0), ("latest", None, 100), ("timestamp", 50_000, 50), ("shift", -5, 55)],
)
def test_a_partition_without_leader_is_unknown_and_left_as_it_is(half_led, strategy, value, to):
    more = {} if value is None else {"value": value}
    plan = half_led.plan("offset.reset", group="readers", strategy=strategy, **more)
    known, unknown = plan.diff["partitions"]
    assert known["to"] == to
    assert unknown == {
        "topic": "metrics",
        "partition": 1,
        "from": 80,
        "to": 80,
        "log_start": None,
        "log_end": None,
        "effect": "unknown",
        "records": None,
        "reason": "no leader now: unknown, left as it is",
    }
    (said,) = [row for row in plan.impact["warnings"] if row["code"] == "no-leader"]
    assert "metrics-1" in said["text"]
    assert drive(half_led.start(plan)).state == "succeeded"
    assert offsets(half_led) == {0: to, 1: 80}


def test_a_reset_of_partitions_none_of_which_has_a_leader_is_refused(half_led):
    with pytest.raises(Conflict) as caught:
        half_led.plan(
            "offset.reset",
            group="readers",
            strategy="earliest",
            partitions=[{"topic": "metrics", "partition": 1}],
        )
    assert caught.value.code == "partition-away"


def test_offsets_are_put_back_where_there_is_a_leader(half_led):
    plan = half_led.plan(
        "offset.restore",
        group="readers",
        partitions=[{"topic": "metrics", "partition": n, "offset": 10} for n in range(2)],
    )
    assert drive(half_led.start(plan)).state == "succeeded"
    assert offsets(half_led) == {0: 10, 1: 80}


# -- to offsets that are named for each partition ------------------------------------------------
def moves(plan):
    return {
        row["partition"]: (row["from"], row["to"], row["reason"]) for row in plan.diff["partitions"]
    }


def test_a_file_says_where_each_partition_goes_and_undo_puts_it_back(readers):
    file = "readers,orders,0,10\nothers,orders,1,1\nreaders,orders,1,500\n"
    plan = readers.plan("offset.reset", group="readers", strategy="file", file=file)
    assert moves(plan) == {
        0: (60, 10, "as the file says"),
        1: (80, 100, "500 is not there yet: behind the last record"),
    }
    operation = drive(readers.start(plan))
    assert offsets(readers) == {0: 10, 1: 100}
    undo = undo_plan_create(tenant=readers.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(readers.start(undo)).state == "succeeded"
    assert offsets(readers) == {0: 60, 1: 80}


@pytest.mark.parametrize(
    ("inputs", "pointer", "why"),
    [
        ({"strategy": "file"}, "/inputs/file", "needs it"),
        ({"strategy": "file", "file": "x"}, "/inputs/file", "Line 1"),
        ({"strategy": "file", "file": "orders,0,1\norders,7,1"}, "/inputs/file", "Line 2"),
        (
            {"strategy": "file", "file": "orders,0,1", "topics": ["orders"]},
            "/inputs/file",
            "name no",
        ),
        ({"strategy": "latest", "file": "orders,0,1"}, "/inputs/file", "takes none"),
        ({"strategy": "copy"}, "/inputs/from_group", "needs it"),
        ({"strategy": "copy", "from_group": "readers"}, "/inputs/from_group", "itself"),
        ({"strategy": "copy", "from_group": "nobody"}, "/inputs/from_group", "There is no group"),
        ({"strategy": "earliest", "from_group": "x"}, "/inputs/from_group", "takes none"),
        ({"strategy": "duration"}, "/inputs/value", "needs it"),
        ({"strategy": "duration", "value": -1}, "/inputs/value", "negative"),
        ({"strategy": "duration", "value": 2**60}, "/inputs/value", "ten years"),
    ],
)
def test_bad_sources_are_named(readers, inputs, pointer, why):
    with pytest.raises(Problem) as caught:
        readers.plan("offset.reset", group="readers", **inputs)
    (error,) = caught.value.errors
    assert error["pointer"] == pointer
    assert why in error["detail"]


def test_a_copy_goes_where_another_group_stands_and_leaves_the_rest(readers):
    readers.gateway.add_group("others", {TP("orders", 0): 5})
    plan = readers.plan(
        "offset.reset", group="readers", strategy="copy", from_group="others", topics=["orders"]
    )
    assert moves(plan) == {
        0: (60, 5, "where others stands"),
        1: (80, 80, "others has no commit here: left as it is"),
    }
    assert drive(readers.start(plan)).state == "succeeded"
    assert offsets(readers) == {0: 5, 1: 80}
    assert offsets(readers, "others") == {0: 5}


def test_a_new_group_begins_where_another_stands(readers):
    plan = readers.plan("offset.reset", group="new", strategy="copy", from_group="readers")
    assert drive(readers.start(plan)).state == "succeeded"
    assert offsets(readers, "new") == {0: 60, 1: 80}


def test_a_copy_leaves_deleted_topics_out(readers):
    readers.gateway.add_group("others", {TP("orders", 0): 5, TP("old", 0): 9})
    plan = readers.plan("offset.reset", group="readers", strategy="copy", from_group="others")
    assert set(moves(plan)) == {0}
    readers.gateway.add_group("past", {TP("old", 0): 9})
    with pytest.raises(Problem, match="deleted"):
        readers.plan("offset.reset", group="readers", strategy="copy", from_group="past")


def test_a_duration_is_an_instant_so_long_before_the_plan(readers, monkeypatch):
    monkeypatch.setattr(operations, "now_ms", lambda: 10_000)
    asked = []
    offsets_of = readers.gateway.offsets

    def spied(specs):
        asked.extend(spec for spec in specs.values() if spec >= 0)
        return offsets_of(specs)

    monkeypatch.setattr(readers.gateway, "offsets", spied)
    plan = readers.plan("offset.reset", group="readers", strategy="duration", value=4_000)
    assert set(asked) == {6_000}
    readers.start(plan)
