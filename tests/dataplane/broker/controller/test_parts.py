"""Parts of a term by themselves: a context, a fake ZooKeeper, request queues in memory."""

from __future__ import annotations

import uuid

import pytest

from dataplane.broker.controller.partition_state_machine import PartitionStateMachine
from dataplane.broker.controller.producer_id_blocks import ProducerIdBlocks
from dataplane.broker.controller.request_batch import ControllerBrokerRequestBatch
from dataplane.broker.controller.zk_client import ControllerMovedError, ControllerZkClient
from dataplane.cluster import znodes
from dataplane.cluster.context import NEVER_LED, ControllerContext
from dataplane.cluster.image import BrokerInfo
from dataplane.cluster.request_queue import BrokerRequestQueue
from dataplane.cluster.requests import Stop
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.ports.fakes.coordinator import FakeZooKeeper

TP = TopicPartition("t", 0)


class Queues:
    """Stands for the channel manager: queues that nothing empties."""

    def __init__(self, *brokers):
        self.by_broker = {broker: BrokerRequestQueue() for broker in brokers}
        self.wakes = 0

    def queue(self, broker):
        return self.by_broker.get(broker)

    def queues(self):
        return self.by_broker.items()

    def wake(self):
        self.wakes += 1

    def sent(self):
        """What each broker gets: partitions of LeaderAndIsr, UpdateMetadata, StopReplica."""
        found = {}
        for broker, queue in self.by_broker.items():
            while queue:
                pending = queue.take()
                found[broker] = (
                    sorted(pending.leader_and_isr),
                    sorted(pending.update_metadata),
                    sorted(pending.stop_replica),
                )
        return found


def context_with(state, live=(1, 2, 3)):
    context = ControllerContext(epoch=4, epoch_version=0)
    context.set_brokers({broker: BrokerInfo(broker, epoch=broker) for broker in live})
    context.add_topic("t", uuid.UUID(int=1))
    context.put(TP, state)
    return context


@pytest.fixture
async def zookeeper():
    zk = FakeZooKeeper().connect()
    for path in (znodes.CONTROLLER_EPOCH, "/brokers", znodes.TOPICS, znodes.topic_path("t")):
        await zk.create(path, b"")
    return zk


async def test_repair_makes_the_parents_that_an_interrupted_creation_lacks(zookeeper):
    context = context_with(PartitionState(index=0, replicas=(2, 1), leader_epoch=NEVER_LED))
    queues = Queues(1, 2)
    states = PartitionStateMachine(
        context,
        ControllerZkClient(zookeeper, 0),
        ControllerBrokerRequestBatch(context, queues),
        unclean_allowed=lambda _topic: False,
        on_unclean=lambda _partition: None,
    )
    changes = await states.repair([TP])
    data, stat = await zookeeper.get(znodes.state_path("t", 0))
    assert (
        znodes.decode_state(PartitionState(index=0, replicas=(2, 1)), data, stat.version)
        == (changes[TP])
    )
    assert context.state(TP) == changes[TP]
    assert (changes[TP].leader, changes[TP].controller_epoch) == (2, 4)
    assert queues.sent() == {}
    assert await states.repair([TP]) == {}


async def test_a_refused_write_changes_neither_memory_nor_queues(zookeeper):
    before = PartitionState(index=0, leader=1, replicas=(1, 2), isr=(1, 2), leader_epoch=0)
    context, queues = context_with(before, live=(2,)), Queues(2)
    states = PartitionStateMachine(
        context,
        ControllerZkClient(zookeeper, 9),
        ControllerBrokerRequestBatch(context, queues),
        unclean_allowed=lambda _topic: False,
        on_unclean=lambda _partition: None,
    )
    with pytest.raises(ControllerMovedError):
        await states.commit(states.decide_repairs([TP]))
    assert context.state(TP) is before
    assert (queues.sent(), queues.wakes) == ({}, 0)


@pytest.mark.parametrize(
    ("isr", "unclean"), [((1,), [TP]), ((1, 2), [])], ids=["out of sync", "in sync"]
)
async def test_an_election_that_may_lose_records_is_told(zookeeper, isr, unclean):
    before = PartitionState(index=0, leader=1, replicas=(1, 2), isr=isr, leader_epoch=0)
    for path in ("/brokers/topics/t/partitions", "/brokers/topics/t/partitions/0"):
        await zookeeper.create(path, b"")
    told = []
    await zookeeper.create(znodes.state_path("t", 0), znodes.encode_state(before))
    states = PartitionStateMachine(
        context_with(before, live=(2,)),
        ControllerZkClient(zookeeper, 0),
        ControllerBrokerRequestBatch(context_with(before, live=(2,)), Queues(2)),
        unclean_allowed=lambda _topic: True,
        on_unclean=told.append,
    )
    changes = await states.repair([TP])
    assert changes[TP].leader == 2
    assert told == unclean
    assert await states.repair([TP]) == {}
    assert told == unclean


def test_requests_go_to_replicas_and_metadata_to_everybody():
    state = PartitionState(index=0, leader=1, replicas=(1, 2, 9), isr=(1,), leader_epoch=0)
    context, queues = context_with(state), Queues(1, 2, 3)
    batch = ControllerBrokerRequestBatch(context, queues)
    batch.enqueue([TP])
    assert queues.sent() == {1: ([TP], [TP], []), 2: ([TP], [TP], []), 3: ([], [TP], [])}
    batch.enqueue_stop_replica(TP, [2, 9], Stop(1, delete=True))
    assert queues.sent() == {2: ([], [], [TP])}


def test_only_replicas_without_data_are_new():
    state = PartitionState(index=0, leader=1, replicas=(1, 2), isr=(1,), leader_epoch=0)
    context, queues = context_with(state), Queues(1, 2)
    ControllerBrokerRequestBatch(context, queues).enqueue([TP], new_on={(TP, 2)})
    taken = {broker: queue.take() for broker, queue in queues.queues()}
    assert {b: pending.leader_and_isr[TP].is_new for b, pending in taken.items()} == {
        1: False,
        2: True,
    }


@pytest.mark.parametrize("reason", ["deletion", "never led"])
def test_no_leader_and_isr_under_deletion_or_before_a_first_leader(reason):
    never = reason == "never led"
    epoch = NEVER_LED if never else 0
    context = context_with(PartitionState(index=0, leader=1, replicas=(1,), leader_epoch=epoch))
    if not never:
        context.topics_to_be_deleted.add("t")
    queues = Queues(1)
    batch = ControllerBrokerRequestBatch(context, queues)
    batch.enqueue([TP])
    batch.enqueue_leader_and_isr(TP, 1)
    assert queues.sent() == {1: ([], [TP], [])}


async def test_producer_ids_end(zookeeper):
    context = context_with(PartitionState(index=0, replicas=(1,), leader_epoch=NEVER_LED))
    blocks = ProducerIdBlocks(context, ControllerZkClient(zookeeper, 0))
    last = znodes.ProducerIdBlock(1, 0, (1 << 63) - 1_001)
    await zookeeper.create(znodes.PRODUCER_IDS, znodes.encode_producer_ids(last))
    block = await blocks.allocate(1, 1)
    assert (block.first_id, block.last_id) == ((1 << 63) - 1_000, (1 << 63) - 1)
    with pytest.raises(KafkaError) as refusal:
        await blocks.allocate(1, 1)
    assert refusal.value.code is ErrorCode.UNKNOWN_SERVER_ERROR
