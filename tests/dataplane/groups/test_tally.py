"""What the coordinator counts, once it is stored and only then."""

import dataclasses

from dataplane.broker.metrics import Metrics
from dataplane.compose.coordinator_gauges import register_groups
from dataplane.groups.requests import CommitRequest, OffsetToCommit, Protocol
from dataplane.model.errors import ErrorCode as E
from dataplane.model.ids import TopicPartition
from tests.dataplane.groups.consumer.members import World
from tests.dataplane.groups.driver import GROUP, Driver, subscription
from tests.dataplane.groups.hosted import Hosted, committed
from tests.metrics_table import sample

WEEK_MS = 7 * 24 * 3_600_000


def tally(driver: Driver) -> dict[str, int]:
    """What is not 0."""
    counts = dataclasses.asdict(driver.shard.core.tally)
    return {name: count for name, count in counts.items() if count}


def test_offsets_that_the_log_has_refused_are_not_counted() -> None:
    driver = Driver(offset_metadata_max_bytes=10)
    driver.commit(1)
    driver.commit(2, metadata="more than ten bytes")
    driver.hold_writes = True
    driver.commit(3)
    driver.fail_writes(E.NOT_ENOUGH_REPLICAS)
    driver.commit(4)
    assert tally(driver) == {"commits": 1}
    driver.commit_writes()
    assert tally(driver) == {"commits": 2}


def test_offsets_of_a_transaction_count_when_they_are_stored() -> None:
    driver = Driver()
    offsets = {TopicPartition("t", index): OffsetToCommit(offset=1) for index in range(3)}
    request = CommitRequest(
        group_id=GROUP, member_id="", group_instance_id=None, generation=-1, offsets=offsets
    )
    driver.hold_writes = True
    driver.take(driver.shard.offsets.transactional.commit(request, (7, 0), driver.ticket()))
    assert tally(driver) == {}
    driver.commit_writes()
    assert tally(driver) == {"commits": 3}


def test_expired_and_deleted_offsets_are_told_apart() -> None:
    driver = Driver()
    driver.commit(1, partition=0)
    driver.advance(1_000)
    for partition in (1, 2):
        driver.commit(1, partition=partition)
    driver.advance(WEEK_MS - 1_000)
    driver.hold_writes = True
    driver.take(driver.shard.offsets.expire())
    driver.fail_writes(E.NOT_ENOUGH_REPLICAS)
    assert tally(driver) == {"commits": 3}
    driver.hold_writes = False
    driver.take(driver.shard.offsets.expire())
    assert tally(driver) == {"commits": 3, "expirations": 1}
    driver.take(driver.shard.offsets.delete(GROUP, [TopicPartition("t", 2)], driver.ticket()))
    assert tally(driver) == {"commits": 3, "expirations": 1, "deletions": 1}
    driver.advance(1_000)
    driver.take(driver.shard.offsets.expire())
    assert driver.state == "Dead"
    assert tally(driver) == {"commits": 3, "expirations": 2, "deletions": 1}


def test_a_deleted_group_takes_its_offsets_along_uncounted() -> None:
    driver = Driver()
    driver.commit(1)
    driver.take(driver.shard.offsets.delete_group(GROUP, driver.ticket()))
    assert tally(driver) == {"commits": 1}


def test_a_rebalance_is_complete_when_its_assignment_is_stored() -> None:
    driver = Driver()
    driver.join(protocols=(Protocol("range", subscription("t")),))
    driver.advance(0)
    member_id = next(iter(driver.group.members))
    driver.hold_writes = True
    driver.sync(member_id, 1, {member_id: b"a"})
    assert tally(driver) == {}
    driver.commit_writes()
    assert tally(driver) == {"completed_rebalances": 1}


def test_a_new_epoch_of_a_consumer_group_is_a_rebalance() -> None:
    world = World()
    world.topics.put("t", 4)
    world.ask("one", 0, topics=frozenset({"t"}), rebalance_timeout_ms=30_000, owned=frozenset())
    assert tally(world) == {"consumer_rebalances": 1}
    world.ask("one", 1)
    assert tally(world) == {"consumer_rebalances": 1}
    world.topics.put("t", 5)
    world.ask("one", 1)
    assert tally(world) == {"consumer_rebalances": 2}


async def test_shards_of_a_broker_count_together() -> None:
    hosted = await Hosted(partition_count=2).start()
    await hosted.loaded()
    metrics, coordinator = Metrics(), hosted.group_coordinator
    register_groups(metrics, coordinator)
    groups = ["a", "b", "c", "d"]
    assert len({coordinator.partition_of(group) for group in groups}) == 2
    for group in groups:
        offsets = {TopicPartition("t", 0): OffsetToCommit(offset=1)}
        request = CommitRequest(
            group_id=group, member_id="", group_instance_id=None, generation=-1, offsets=offsets
        )
        assert set((await committed(coordinator, request)).values()) == {E.NONE}
    name = "kafka_server_group_coordinator_metrics_offset_commit_total"
    assert sample(metrics, name) == 4
    hosted.follow(coordinator.partition_of("a"))
    assert sample(metrics, name) == 4, "what only grows does not shrink with leadership"
    await hosted.stop()
