"""What a scrape says of groups of both protocols and of reading their partitions."""

from __future__ import annotations

import functools

import pytest

from dataplane.broker.metrics import Metrics
from dataplane.compose import coordinator_gauges
from tests.dataplane.groups.consumer.test_consumer_handlers import beat
from tests.dataplane.groups.hosted import Hosted
from tests.dataplane.groups.test_handlers import join, member_of
from tests.metrics_table import sample

MANAGER = "kafka_coordinator_group_groupmetadatamanager_"
SERVER = "kafka_server_group_coordinator_metrics_"


@pytest.fixture
async def hosted():
    made = await Hosted(partition_count=2).start()
    await made.loaded()
    yield made
    await made.stop()


@pytest.fixture
def read(hosted: Hosted):
    metrics = Metrics()
    coordinator_gauges.register_groups(metrics, hosted.group_coordinator)
    return functools.partial(sample, metrics)


def by_state(read) -> dict[str, float]:
    states = ("preparingrebalance", "completingrebalance", "stable", "empty", "dead")
    return {state: count for state in states if (count := read(f"{MANAGER}numgroups{state}"))}


async def test_classic_groups_are_counted_by_state(hosted: Hosted, read) -> None:
    assert read(MANAGER + "numgroups") == 0
    await join(hosted, 3)
    assert by_state(read) == {"completingrebalance": 1}
    await hosted.stop()
    assert by_state(read) == {}


async def test_a_stable_group(hosted: Hosted, read) -> None:
    await member_of(hosted)
    assert by_state(read) == {"stable": 1}
    assert read(MANAGER + "numgroups") == 1
    assert read(SERVER + "group_count", {"protocol": "classic"}) == 1
    assert read(SERVER + "group_count", {"protocol": "consumer"}) == 0


async def test_consumer_groups_are_counted_by_themselves(hosted: Hosted, read) -> None:
    await beat(hosted)
    assert by_state(read) == {}
    assert read(SERVER + "group_count", {"protocol": "consumer"}) == 1
    states = ("empty", "assigning", "reconciling", "stable", "dead")
    counted = [read(SERVER + "consumer_group_count", {"state": state}) for state in states]
    assert sum(counted) == 1


async def test_how_long_the_slowest_partition_took_to_be_read(hosted, read, monkeypatch) -> None:
    assert len(hosted.group_coordinator.load_times_ms()) == 2
    monkeypatch.setattr(hosted.group_coordinator, "load_times_ms", lambda: [30, 10])
    metrics = Metrics()
    coordinator_gauges.register_groups(metrics, hosted.group_coordinator)
    assert sample(metrics, SERVER + "partition_load_time_max") == 30
    assert sample(metrics, SERVER + "partition_load_time_avg") == 20
