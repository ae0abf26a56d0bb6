"""How many fetchers there are for a leader, what an answer may cost them, and their metrics."""

from __future__ import annotations

import asyncio
import dataclasses
import functools

from dataplane.broker.metadata.registration import ensure_layout
from dataplane.broker.replicas.replica_fetcher import CHANNELS_MAX
from dataplane.cluster.znodes import DEFAULT_ENTITY
from dataplane.model.errors import ErrorCode
from dataplane.replication.effects import ProposeIsr
from dataplane.wire.messages.alter_partition import AlterPartitionResponse
from dataplane.wire.messages.alter_partition import (
    AlterPartitionResponsePartitionData as PartitionData,
)
from dataplane.wire.messages.alter_partition import (
    AlterPartitionResponseTopicData as TopicData,
)
from tests.dataplane.broker.replicas.test_replica_fetcher import refused
from tests.dataplane.broker.replicas.test_replica_fetcher_sessions import (
    LeaderWithSessions,
    caught_up,
    named,
    records_of,
    until,
)
from tests.dataplane.broker.replicas.test_replication_quotas import set_config
from tests.dataplane.handlers.one_broker import ME, PEER, THIRD, OneBroker
from tests.metrics_table import sample

TOPIC = "orders"


class Channels(LeaderWithSessions):
    """Notes which connections were asked for; a closed one loses what is parked."""

    def __init__(self, broker: OneBroker, answer) -> None:
        super().__init__(broker, answer)
        self.channels: list[str] = []
        self.closed = 0

    async def connection(self, endpoint: int, *, channel: str) -> Channels:
        self.channels.append(channel)
        return self

    def close(self) -> None:
        self.closed += 1
        parked, self.parked = self.parked, []
        for _fetched, _version, callback in parked:
            asyncio.get_running_loop().call_soon(callback, None, 0)


def fetcher_metric(broker: OneBroker, name: str, fetcher: str) -> float | None:
    """What a scrape says of this fetcher of PEER's partitions."""
    labels = {"leader": str(PEER), "fetcher": fetcher}
    return sample(broker.metrics, name, labels)


def followed(broker: OneBroker, partitions: int) -> None:
    broker.topic(TOPIC, leader=PEER, replicas=(ME, PEER), leader_epoch=1, partitions=partitions)


async def test_one_fetcher_a_leader_by_default() -> None:
    broker = OneBroker()
    leader = Channels(broker, caught_up)
    followed(broker, 6)
    await until(lambda: leader.parked)
    assert leader.channels == ["fetch-0-0"]
    assert named(leader.requests[0]) == [0, 1, 2, 3, 4, 5]
    await broker.stop()


async def test_partitions_are_shared_out_among_as_many_fetchers_as_configured() -> None:
    broker = OneBroker(num_replica_fetchers="3")
    leader = Channels(broker, caught_up)
    followed(broker, 6)
    await until(lambda: len(leader.parked) == 3)
    assert sorted(leader.channels) == ["fetch-0-0", "fetch-1-0", "fetch-2-0"]
    full = [named(request) for request in leader.requests if request.session_epoch == 0]
    assert sorted(map(len, full)) == [2, 2, 2]
    assert sorted(index for each in full for index in each) == [0, 1, 2, 3, 4, 5]
    assert len(leader.sessions.cache) == 3
    await broker.stop()


async def test_the_number_may_change_while_the_broker_runs() -> None:
    broker = OneBroker()
    await ensure_layout(broker.coordinator)
    leader = Channels(broker, caught_up)
    followed(broker, 6)
    await until(lambda: leader.parked)
    await set_config(broker, "brokers", DEFAULT_ENTITY, **{"num.replica.fetchers": "2"})
    await until(lambda: "fetch-1-0" in leader.channels)
    leader.let_go()
    await until(lambda: len(leader.parked) >= 2)
    count = functools.partial(fetcher_metric, broker, "penstock_replica_fetcher_partitions")
    assert [count("0"), count("1")] == [3, 3]
    await set_config(broker, "brokers", DEFAULT_ENTITY, **{"num.replica.fetchers": "1"})
    await until(lambda: count("0") == 6)
    assert count("1") is None
    await broker.stop()


async def test_a_leader_that_leaves_a_fetch_unanswered_is_connected_to_again() -> None:
    broker = OneBroker(replica_socket_timeout_ms="60", replica_fetch_wait_max_ms="50")
    leader = Channels(broker, caught_up)
    followed(broker, 2)
    await until(lambda: leader.closed)
    lost = broker.metrics.replication_fetches_lost
    await until(lambda: len(leader.channels) >= 2)
    assert lost.value >= 1
    assert any(request.session_epoch == 0 for request in leader.requests[2:]), "a full request"
    await broker.stop()


async def test_connections_to_a_leader_are_bounded() -> None:
    broker = OneBroker()
    leader = Channels(broker, caught_up)
    for number in range(12):
        broker.topic(f"t-{number}", leader=PEER, replicas=(ME, PEER), leader_epoch=1)
        await asyncio.sleep(0.005)
    await until(lambda: len(leader.parked) == CHANNELS_MAX)
    assert set(leader.channels) == {f"fetch-0-{each}" for each in range(CHANNELS_MAX)}
    await broker.stop()


async def test_lag_and_failures_are_counted_by_fetcher() -> None:
    def answer(wanted):
        if wanted.partition == 0:
            return refused(None)
        answered = (
            records_of(1, wanted.fetch_offset) if wanted.fetch_offset < 4 else caught_up(wanted)
        )
        answered.partition_index = wanted.partition
        answered.high_watermark = 10
        return answered

    broker = OneBroker()
    Channels(broker, answer).parks = False
    followed(broker, 2)
    log = broker.partition(TOPIC, 1).log
    await until(lambda: log.log_end_offset == 4)
    assert fetcher_metric(broker, "kafka_server_replicafetchermanager_maxlag", "0") == 6
    # A refused partition is delayed, not failed, while it is asked for again.
    failed = functools.partial(fetcher_metric, broker, "penstock_replica_fetcher_failed_partitions")
    await until(lambda: failed("0") == 1)
    assert broker.metrics.replication_refusals.value >= 1
    await broker.stop()


async def test_refused_changes_of_an_isr_are_counted() -> None:
    broker = OneBroker()
    broker.topic(TOPIC, replicas=(ME, PEER))
    metrics = broker.metrics

    def refuse(message):
        """No replica is eligible."""
        ((topic,), answer) = message.topics, AlterPartitionResponse()
        refusal = PartitionData(partition_index=0, error_code=ErrorCode.INELIGIBLE_REPLICA)
        answer.topics.append(TopicData(topic_id=topic.topic_id, partitions=[refusal]))
        return answer

    broker.controller_client.answer = refuse
    proposal = ProposeIsr((ME,), 0)
    broker.replica_manager.alter_partition_manager.propose(broker.partition(TOPIC), proposal)
    await until(lambda: metrics.failed_isr_updates.value == 1)
    assert metrics.isr_shrinks.value == 0
    await broker.stop()


async def test_an_isr_that_changes_is_counted_once_however_many_replicas_it_is_about() -> None:
    broker = OneBroker()
    broker.topic(TOPIC, replicas=(ME, PEER, THIRD))
    partition, metrics = broker.partition(TOPIC), broker.metrics

    def accept(message):
        ((topic,), answer) = message.topics, AlterPartitionResponse()
        (asked,) = topic.partitions
        accepted = PartitionData(
            leader_id=ME,
            leader_epoch=asked.leader_epoch,
            isr=list(asked.new_isr),
            partition_epoch=asked.partition_epoch + 1,
        )
        answer.topics.append(TopicData(topic_id=topic.topic_id, partitions=[accepted]))
        return answer

    broker.controller_client.answer = accept
    propose = broker.replica_manager.alter_partition_manager.propose
    counted = []
    for isr in ((ME,), (ME, PEER), (ME, PEER, THIRD)):
        propose(partition, ProposeIsr(isr, partition.core.partition_epoch))
        await until(lambda isr=isr: partition.isr == isr)
        counted.append((metrics.isr_shrinks.value, metrics.isr_expands.value))
    assert counted == [(1, 0), (1, 1), (1, 2)]
    await broker.stop()


async def test_a_proposal_names_the_lives_that_the_leader_saw_however_often_it_is_sent() -> None:
    """A member that has begun another since may have less than it had when it was proposed."""
    broker = OneBroker()
    broker.topic(TOPIC, replicas=(ME, PEER))
    image = broker.metadata_cache.image
    seen: list[list[int]] = []

    def begins_another_life(epoch: int) -> None:
        peer = dataclasses.replace(image.brokers[PEER], epoch=epoch)
        brokers = {**broker.metadata_cache.image.brokers, PEER: peer}
        broker.metadata_cache.replace(
            dataclasses.replace(broker.metadata_cache.image, brokers=brokers)
        )

    def fails_first(message):
        ((topic,),) = (message.topics,)
        ((asked,),) = (topic.partitions,)
        seen.append([state.broker_epoch for state in asked.new_isr_with_epochs])
        begins_another_life(9)
        if len(seen) == 1:
            raise ConnectionError("the controller is gone")
        refusal = PartitionData(partition_index=0, error_code=ErrorCode.INELIGIBLE_REPLICA)
        topics = [TopicData(topic_id=topic.topic_id, partitions=[refusal])]
        return AlterPartitionResponse(topics=topics)

    begins_another_life(5)
    broker.controller_client.answer = fails_first
    proposal = ProposeIsr((PEER,), 0)
    broker.replica_manager.alter_partition_manager.propose(broker.partition(TOPIC), proposal)
    await until(lambda: broker.metrics.failed_isr_updates.value == 2)
    assert seen == [[5], [5]]
    await broker.stop()
