"""The lag that lists and pages show of a group."""

import pytest

from controlplane.gateway.errors import unreachable
from controlplane.gateway.types import TP, CommittedOffset
from controlplane.groups.selectors import group_detail, group_row
from controlplane.observed.sections import GROUPS
from controlplane.observed.selectors import rows_of, section
from tests.controlplane.support import observed, reader_of_all


@pytest.fixture
def readers(world):
    world.gateway.add_topic("orders", partitions=2, rf=1, records=100)
    world.gateway.add_group("readers", {TP("orders", 0): 60, TP("orders", 1): 80})
    return world


def lags(world):
    observed(world)
    (row,) = rows_of(reader_of_all(world), GROUPS)
    shown = group_row(row, section(reader_of_all(world), GROUPS))
    return shown["lag"], group_detail(reader_of_all(world), "readers")["lag"]


def test_a_lag_is_the_sum_of_all_partitions(readers):
    assert lags(readers) == (60, 60)


def test_a_lag_without_one_of_its_partitions_is_unknown_not_the_sum_of_the_others(readers):
    readers.gateway.remove_broker(2)
    assert lags(readers) == (None, None)


def test_a_lag_that_nobody_could_read_is_unknown(readers):
    readers.gateway.fail_next("offsets", unreachable("away"))
    assert lags(readers) == (None, None)


def test_a_commit_in_a_deleted_topic_is_no_part_of_the_lag(readers):
    readers.gateway.committed["readers"][TP("old", 0)] = CommittedOffset(offset=7)
    assert lags(readers) == (60, 60)


def test_a_partition_without_a_commit_is_counted_as_unread_by_both_bounds(world):
    world.gateway.add_topic("orders", partitions=3, rf=1, records=100)
    world.gateway.add_group("readers", {TP("orders", 0): 60})
    observed(world)
    found = group_detail(reader_of_all(world), "readers")
    assert [
        (row["partition"], row["committed"], row["unread_at_least"], row["unread_at_most"])
        for row in found["offsets"]
    ] == [(0, 60, 40, 40), (1, None, 0, 100), (2, None, 0, 100)]
    assert (found["lag"], found["uncommitted_partitions"]) == (40, 2)
    assert (found["uncommitted_records"], found["unread_at_most"]) == (200, 240)


def test_what_it_holds_is_unknown_while_its_leader_is_away(world):
    world.gateway.add_topic("orders", partitions=2, rf=1, records=100)
    world.gateway.add_group("readers", {TP("orders", 0): 60})
    world.gateway.remove_broker(2)
    observed(world)
    (row,) = rows_of(reader_of_all(world), GROUPS)
    shown = group_row(row, section(reader_of_all(world), GROUPS))
    assert (shown["uncommitted_partitions"], shown["uncommitted_records"]) == (1, None)
    assert shown["unread_at_most"] is None


def test_a_group_without_any_commit_has_read_nothing(world):
    world.gateway.add_topic("orders", partitions=2, rf=1, records=100)
    world.gateway.add_group("new", {}, members=1)
    world.gateway.assign("new", [TP("orders", 0)])
    observed(world)
    found = group_detail(reader_of_all(world), "new")
    assert (found["lag"], found["unread_at_most"]) == (None, 200)
    assert found["diagnosis"]["cause"] == "never_committed"
    assert found["diagnosis"]["severity"] == "warning"


def test_rows_of_a_version_before_show_what_they_do_not_know_as_unknown(readers):
    observed(readers)
    (row,) = rows_of(reader_of_all(readers), GROUPS)
    del row.row["uncommitted_partitions"], row.row["uncommitted_records"]
    shown = group_row(row, section(reader_of_all(readers), GROUPS))
    assert (shown["uncommitted_partitions"], shown["unread_at_most"]) == (None, None)
