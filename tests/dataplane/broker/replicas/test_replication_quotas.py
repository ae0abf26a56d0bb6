"""Throttled replication in the broker: leaders hold back, followers leave out, changes at once."""

from __future__ import annotations

import asyncio
import functools

import pytest

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.broker.metrics import Metrics
from dataplane.broker.replicas.replication_quotas import ReplicationQuotas
from dataplane.cluster.znodes import DEFAULT_ENTITY
from dataplane.replication.quota import UNLIMITED
from dataplane.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    PartitionData,
    ReplicaState,
)
from tests.dataplane.broker.replicas.test_replica_fetcher import Leader
from tests.dataplane.handlers.one_broker import ME, PEER, THIRD, OneBroker, batch
from tests.metrics_table import sample
from tests.waiting import until

VERSION = 17
RATE, REPLICAS = "{}.replication.throttled.rate", "{}.replication.throttled.replicas"


@pytest.fixture
async def broker():
    broker = OneBroker()
    await ensure_layout(broker.coordinator)
    yield broker
    await broker.stop()


async def set_config(broker: OneBroker, kind: str, name: str, **values: str) -> None:
    given = {key.replace("_", "."): value for key, value in values.items()}
    await broker.configs.update(kind, name, lambda _present: given)


async def throttle(broker: OneBroker, role: str, rate: int, listed: str, topic: str = "t") -> None:
    await set_config(broker, "brokers", str(ME), **{RATE.format(role): str(rate)})
    await set_config(broker, "topics", topic, **{REPLICAS.format(role): listed})


# -- configuration


async def test_bounds_are_this_brokers_before_all_brokers_before_none(broker):
    key = RATE.format("leader")
    quota = broker.replica_manager.quotas.leader
    assert quota.bound_bytes_per_s == UNLIMITED
    await set_config(broker, "brokers", DEFAULT_ENTITY, **{key: "500"})
    assert quota.bound_bytes_per_s == 500
    await set_config(broker, "brokers", str(ME), **{key: "90"})
    assert quota.bound_bytes_per_s == 90
    await set_config(broker, "brokers", str(PEER), **{key: "7"})
    assert quota.bound_bytes_per_s == 90
    await set_config(broker, "brokers", str(ME))
    assert quota.bound_bytes_per_s == 500
    await set_config(broker, "brokers", DEFAULT_ENTITY, **{key: "fast"})
    assert quota.bound_bytes_per_s == UNLIMITED
    assert broker.replica_manager.quotas.follower.bound_bytes_per_s == UNLIMITED


async def test_lists_are_taken_per_role_and_dropped_again(broker):
    leader, follower = broker.replica_manager.quotas.leader, broker.replica_manager.quotas.follower
    lists = {REPLICAS.format("leader"): f"0:{ME},1:{PEER}", REPLICAS.format("follower"): "*"}
    await set_config(broker, "topics", "t", **lists)
    assert [leader.is_throttled("t", index) for index in (0, 1)] == [True, False]
    assert [follower.is_throttled("t", index) for index in (0, 1)] == [True, True]
    await set_config(broker, "topics", "t")
    assert not leader.is_active
    assert not follower.is_active


async def test_what_was_set_before_the_start_holds_from_the_start(broker):
    await throttle(broker, "follower", 123, f"3:{ME}")
    made = ReplicationQuotas(broker.configs, broker.clock, Metrics(), broker_id=ME)
    assert made.follower.bound_bytes_per_s == 123
    assert made.follower.is_throttled("t", 3)


async def test_the_metrics_show_bytes_rate_and_bound(broker):
    await throttle(broker, "leader", 1000, "*")
    broker.replica_manager.quotas.leader.record(1500)
    read = functools.partial(sample, broker.metrics)
    leader = {"role": "leader"}
    assert read("penstock_throttled_replication_bytes", leader) == 1500
    assert read("kafka_server_leaderreplication_byte_rate") == 1500
    assert read("kafka_server_followerreplication_byte_rate") == 0
    assert read("penstock_throttled_replication_limit_bytes_per_second", leader) == 1000


# -- the leader


def ask(topic_id, offset: int, *, replica: int, indexes=(0,), wait_ms: int = 0) -> FetchRequest:
    wanted = [
        FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1 << 20)
        for index in indexes
    ]
    return FetchRequest(
        replica_state=ReplicaState(replica_id=replica),
        max_wait_ms=wait_ms,
        min_bytes=1,
        topics=[FetchTopic(topic_id=topic_id, partitions=wanted)],
    )


async def sizes(broker: OneBroker, request: FetchRequest) -> list[int]:
    """Bytes of records by partition."""
    response = await broker.ask(request, VERSION)
    parts = response.responses[0].partitions
    assert all(part.error_code == 0 for part in parts)
    return [len(part.records or b"") for part in parts]


async def leading(broker: OneBroker, *, listed: str, partitions: int = 1):
    """Broker 1 leads, PEER is in sync, THIRD is not; the quota is used up."""
    topic_id = broker.topic("t", replicas=(ME, PEER, THIRD), isr=(ME, PEER), partitions=partitions)
    for index in range(partitions):
        broker.partition("t", index).append_now(bytearray(batch("a", "b")), 1)
        broker.partition("t", index).on_follower_fetch(PEER, 2)
    await throttle(broker, "leader", 10, listed)
    broker.replica_manager.quotas.leader.record(1_000)
    return topic_id


async def test_a_leader_over_its_quota_sends_nothing_to_a_replica_out_of_sync(broker):
    topic_id = await leading(broker, listed=f"0:{ME}")
    assert await sizes(broker, ask(topic_id, 0, replica=THIRD)) == [0]
    broker.clock.advance(11_000)
    assert (await sizes(broker, ask(topic_id, 0, replica=THIRD)))[0] > 10
    assert await sizes(broker, ask(topic_id, 0, replica=THIRD)) == [0], "that used the quota up"


async def test_replicas_in_sync_and_consumers_are_not_held_back(broker):
    topic_id = await leading(broker, listed="*")
    assert (await sizes(broker, ask(topic_id, 0, replica=PEER)))[0] > 0
    broker.partition("t").on_follower_fetch(PEER, 2)
    assert (await sizes(broker, ask(topic_id, 0, replica=-1)))[0] > 0


async def test_one_that_is_proposed_for_the_isr_is_not_held_back(broker):
    """Nothing is committed without it from then on, whatever the controller will say."""
    topic_id = await leading(broker, listed="*")
    partition = broker.partition("t")
    partition.append_now(bytearray(batch("c")), 1)
    assert await sizes(broker, ask(topic_id, 0, replica=THIRD)) == [0]
    assert (await sizes(broker, ask(topic_id, 2, replica=THIRD)))[0] > 0
    assert THIRD not in partition.isr
    assert partition.waits_for(THIRD)


async def test_one_that_has_caught_up_while_another_is_proposed_is_not_held_back(broker):
    """It is proposed once the other's proposal has its answer; the watermark waits already."""
    topic_id = broker.topic("t", replicas=(ME, PEER, THIRD), isr=(ME,), partitions=1)
    partition = broker.partition("t")
    partition.append_now(bytearray(batch("a", "b")), 1)
    partition.on_follower_fetch(PEER, 2)
    partition.on_follower_fetch(THIRD, 2)
    assert partition.core.maximal_isr == {ME, PEER}
    assert partition.high_watermark == 2
    await throttle(broker, "leader", 10, "*")
    broker.replica_manager.quotas.leader.record(1_000)
    partition.append_now(bytearray(batch("c")), 1)
    partition.on_follower_fetch(PEER, 3)
    assert partition.high_watermark == 2, "not without the third"
    assert (await sizes(broker, ask(topic_id, 2, replica=THIRD)))[0] > 0
    partition.on_follower_fetch(THIRD, 3)
    assert partition.high_watermark == 3


async def test_other_partitions_are_sent_and_only_the_throttled_are_counted(broker):
    topic_id = await leading(broker, listed=f"1:{ME},2:{PEER}", partitions=3)
    before = broker.replica_manager.quotas.leader.bytes_total
    first, held, last = await sizes(broker, ask(topic_id, 0, replica=THIRD, indexes=(0, 1, 2)))
    assert first > 0
    assert held == 0
    assert last > 0
    assert broker.replica_manager.quotas.leader.bytes_total == before
    in_sync = await sizes(broker, ask(topic_id, 0, replica=PEER, indexes=(0, 1, 2)))
    assert broker.replica_manager.quotas.leader.bytes_total == before + in_sync[1]


async def test_a_held_back_fetch_waits_its_time_out(broker):
    topic_id = await leading(broker, listed="*")
    started_s = asyncio.get_running_loop().time()
    assert await sizes(broker, ask(topic_id, 0, replica=THIRD, wait_ms=200)) == [0]
    assert asyncio.get_running_loop().time() - started_s >= 0.19


async def test_a_lifted_bound_holds_for_the_next_fetch(broker):
    topic_id = await leading(broker, listed="*")
    assert await sizes(broker, ask(topic_id, 0, replica=THIRD)) == [0]
    await set_config(broker, "brokers", str(ME))
    assert (await sizes(broker, ask(topic_id, 0, replica=THIRD)))[0] > 0


async def test_a_batch_larger_than_the_bound_gets_through(broker):
    topic_id = broker.topic("t", replicas=(ME, THIRD), isr=(ME,))
    broker.partition("t").append_now(bytearray(batch("x" * 100_000)), 1)
    await throttle(broker, "leader", 1, "*")
    assert (await sizes(broker, ask(topic_id, 0, replica=THIRD)))[0] > 100_000


# -- the follower


def answers(high_watermark: int):
    """A leader that has a batch of two records at every even offset below the high watermark."""

    def answer(wanted) -> PartitionData:
        answered = PartitionData(partition_index=wanted.partition, high_watermark=high_watermark)
        if wanted.fetch_offset < high_watermark:
            answered.records = memoryview(batch("x", "y", base_offset=wanted.fetch_offset))
        return answered

    return answer


async def test_a_follower_over_its_quota_asks_again_when_the_rate_is_down(broker):
    await throttle(broker, "follower", 10, f"0:{ME}")
    leader = Leader(broker, answers(1_000))
    broker.topic("t", leader=PEER, replicas=(ME, PEER), isr=(PEER,))
    log = broker.partition("t").log
    await until(lambda: log.log_end_offset == 2)
    await asyncio.sleep(0.1)
    assert (leader.fetches, log.log_end_offset) == (1, 2)
    broker.clock.advance(11_000)
    await until(lambda: log.log_end_offset == 4)
    assert broker.replica_manager.quotas.follower.bytes_total == log.size_bytes


async def test_a_lifted_throttle_lets_the_rest_run_at_once(broker):
    await throttle(broker, "follower", 10, "*")
    Leader(broker, answers(200))
    broker.topic("t", leader=PEER, replicas=(ME, PEER), isr=(PEER,))
    log = broker.partition("t").log
    await until(lambda: log.log_end_offset == 2)
    await set_config(broker, "topics", "t")
    await until(lambda: log.log_end_offset == 200)


async def test_partitions_that_are_not_throttled_go_on(broker):
    await throttle(broker, "follower", 10, f"0:{ME},1:{PEER}")
    Leader(broker, answers(200))
    broker.topic("t", leader=PEER, replicas=(ME, PEER), isr=(PEER,), partitions=2)
    await until(lambda: broker.partition("t", 1).log.log_end_offset == 200)
    assert broker.partition("t", 0).log.log_end_offset == 2


async def test_a_follower_caught_up_with_its_leader_goes_on_over_the_quota(broker):
    """What it gets is counted all the same."""
    ends = {"t": 0}

    def answer(wanted) -> PartitionData:
        return answers(ends["t"])(wanted)

    leader = Leader(broker, answer)
    broker.topic("t", leader=PEER, replicas=(ME, PEER))
    await until(lambda: leader.fetches > 3)
    await throttle(broker, "follower", 10, "*")
    quota = broker.replica_manager.quotas.follower
    quota.record(1_000_000)
    log = broker.partition("t").log
    for end in (2, 4):
        ends["t"] = end
        await until(lambda end=end: log.log_end_offset == end)
    assert quota.bytes_total == 1_000_000 + log.size_bytes
