"""The figures of a cluster of which a broker is gone or does not answer."""

import pytest

from console.pages.cluster import loads, summary
from controlplane.common.grants import EVERYTHING
from tests.controlplane.support import observed


@pytest.fixture
def orders(world):
    world.gateway.add_topic("orders", partitions=4, rf=1, records=50)
    return world


def sizes(world):
    observed(world)
    rows = loads(world.cluster, EVERYTHING).read().data
    return {row["id"]: row["size_bytes"] for row in rows}


def size(world):
    observed(world)
    return summary(world.cluster, EVERYTHING).read().data["size_bytes"]


def test_sizes_are_those_of_all_brokers(orders):
    assert sizes(orders) == dict.fromkeys((1, 2, 3, 4), 5_000)
    assert size(orders) == 20_000


def gone(gateway):
    gateway.remove_broker(2)


def silent(gateway):
    gateway.silent = {2}


@pytest.mark.parametrize("change", [gone, silent])
def test_what_one_broker_holds_is_unknown_and_with_it_the_sum(orders, change):
    change(orders.gateway)
    assert sizes(orders) == {1: 5_000, 2: None, 3: 5_000, 4: 5_000}
    assert size(orders) is None


def test_a_broker_that_holds_nothing_says_zero(world):
    world.gateway.add_topic("orders", partitions=1, rf=1, records=50)
    assert sizes(world) == {1: 5_000, 2: 0, 3: 0, 4: 0}
