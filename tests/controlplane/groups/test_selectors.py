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
