"""The controller makes, grows and deletes topics."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from dataplane.broker.metadata.znode_reads import read_all
from dataplane.cluster import znodes
from dataplane.cluster.election import elect_first
from dataplane.cluster.image import ZERO_UUID
from dataplane.cluster.replica_state_machine import PartitionAndReplica
from dataplane.cluster.requests import DELETE_REGARDLESS_OF_EPOCH, Stop
from dataplane.cluster.topic_names import check_collision, collision_key
from dataplane.cluster.topic_plans import (
    Defaults,
    NewTopic,
    PlacementSeed,
    TopicRequest,
    assigned,
    plan_partitions,
    plan_topic,
)
from dataplane.cluster.writes import (
    created_with_epoch,
    new_topic_ops,
    partition_groups,
    split,
    topic_node_paths,
    topic_op,
)
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.ports.coordinator import Create, Delete

if TYPE_CHECKING:
    import uuid
    from collections.abc import Mapping, Sequence

    from dataplane.broker.controller.channel import DeletionResults
    from dataplane.broker.controller.controller import Controller
    from dataplane.model.partition import PartitionState
    from dataplane.ports.coordinator import Op

log = logging.getLogger(__name__)

SEED_MAX = 1 << 16
ASK_AGAIN_MS_MIN, ASK_AGAIN_MS_MAX = 1_000, 60_000
"""A directory comes back with a restart of its broker; what a full disk has refused comes back by
itself, and is asked for ever more rarely."""


def _placement_seed(controller: Controller) -> PlacementSeed:
    roll = controller.services.entropy.uniform
    return PlacementSeed(int(roll(0, SEED_MAX)), int(roll(0, SEED_MAX)))


# -- create ---------------------------------------------------------------------------------------


async def create_topics(
    controller: Controller, requests: Sequence[TopicRequest], *, validate_only: bool
) -> dict[str, NewTopic | KafkaError]:
    """Make the topics that can be made, all in few multis; the others' refusals by name.

    The configurations are expected to be valid. Returns before the brokers have heard of it.
    """
    results: dict[str, NewTopic | KafkaError] = {}
    planned: dict[str, list[str]] = {}
    config = controller.services.config
    defaults = Defaults(
        config.get_int("num.partitions"), config.get_int("default.replication.factor")
    )
    for request in requests:
        try:
            check_collision(request.name, planned.get(collision_key(request.name), ()))
            results[request.name] = plan_topic(
                controller.context,
                request,
                defaults,
                _placement_seed(controller),
                controller.services.entropy.uuid4(),
            )
            planned.setdefault(collision_key(request.name), []).append(request.name)
        except KafkaError as refusal:
            results[request.name] = refusal
    if not validate_only:
        await _make(controller, [plan for plan in results.values() if isinstance(plan, NewTopic)])
    return results


async def _make(controller: Controller, topics: Sequence[NewTopic]) -> None:
    leftovers = await read_all(
        controller.coordinator, [(t.name, znodes.config_path("topics", t.name)) for t in topics]
    )
    groups: list[list[Op]] = []
    states: dict[str, dict[int, PartitionState]] = {}
    for topic in topics:
        states[topic.name] = _first_states(controller, topic.replicas)
        groups.extend(new_topic_ops(topic, topic.name in leftovers, states[topic.name]))
    await controller.write(groups)
    for topic in topics:
        controller.context.add_topic(topic.name, topic.topic_id)
        log.info("created topic %s with %d partitions", topic.name, len(topic.replicas))
        _announce(controller, topic.name, topic.replicas, states[topic.name])
    controller.wake()


def _first_states(
    controller: Controller, replicas: Mapping[int, tuple[int, ...]]
) -> dict[int, PartitionState]:
    """States of new partitions; one whose replicas are all dead is left without."""
    states: dict[int, PartitionState] = {}
    for index, brokers in replicas.items():
        led = elect_first(assigned(index, brokers), controller.context.electable)
        if led is not None:
            states[index] = created_with_epoch(led, controller.context.epoch)
    return states


def _announce(
    controller: Controller,
    topic: str,
    replicas: Mapping[int, tuple[int, ...]],
    states: Mapping[int, PartitionState],
) -> None:
    for index, brokers in replicas.items():
        partition = TopicPartition(topic, index)
        controller.context.put(partition, states.get(index, assigned(index, brokers)))
        controller.enqueue([partition], new_on={(partition, broker) for broker in brokers})


async def create_partitions(
    controller: Controller,
    topic: str,
    count: int,
    assignments: Sequence[Sequence[int]] | None,
    *,
    validate_only: bool,
) -> None:
    """Raise a topic's partition count. Raises KafkaError."""
    added = plan_partitions(
        controller.context, topic, count, assignments, _placement_seed(controller)
    )
    if validate_only:
        return
    states = _first_states(controller, added)
    held = controller.context.topics[topic]
    grown = {index: assigned(index, brokers) for index, brokers in added.items()}
    await controller.write([[topic_op(held, grown)], *partition_groups(topic, added, states)])
    log.info("topic %s has %d partitions now", topic, count)
    _announce(controller, topic, added, states)
    controller.wake()


# -- delete ---------------------------------------------------------------------------------------


async def delete_topics(
    controller: Controller, asked: Mapping[str, uuid.UUID]
) -> dict[str, asyncio.Future[None] | KafkaError]:
    """Mark topics for deletion and begin. A future ends when its topic is gone from ZooKeeper.

    `asked`: by name; with an id that is not zero only the topic that has it, and not another one
    that was made under the name since the client or its handler looked.
    """
    context = controller.context
    results: dict[str, asyncio.Future[None] | KafkaError] = {}
    marked = []
    for name, topic_id in asked.items():
        topic = context.topics.get(name)
        if topic is None or topic_id not in {ZERO_UUID, topic.topic_id}:
            by_name = topic_id == ZERO_UUID
            results[name] = KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if by_name else ErrorCode.UNKNOWN_TOPIC_ID
            )
            continue
        waiter = asyncio.get_running_loop().create_future()
        controller.deletion_waiters.setdefault(name, []).append(waiter)
        results[name] = waiter
        if not context.is_queued_for_deletion(name):
            marked.append(name)
    await controller.write([[Create(znodes.delete_topic_path(name))] for name in marked])
    context.topics_to_be_deleted.update(marked)
    for name in marked:
        log.info("deleting topic %s", name)
    await start_deletions(controller, marked)
    return results


async def start_deletions(
    controller: Controller, names: Sequence[str], *, tries_offline: bool = False
) -> None:
    """Have the replicas of marked topics deleted, as far as nothing holds that up now.

    `tries_offline`: also those whose log directory had failed; it may have healed.
    """
    stop = Stop(DELETE_REGARDLESS_OF_EPOCH, delete=True)
    for name in names:
        partitions = controller.context.topics[name].partitions
        context = controller.context
        offline = {
            PartitionAndReplica(partition, broker)
            for partition in (TopicPartition(name, index) for index in partitions)
            for broker in context.offline_replicas(partition)
            if not tries_offline
        }
        if context.is_deletion_started(name):
            controller.enqueue_metadata_update(TopicPartition(name, index) for index in partitions)
        for replica in controller.deletions.start(name, partitions, context.live, offline):
            controller.enqueue_stop_replica(replica.partition, [replica.broker], stop)
    controller.wake()
    await _remove_nodes(controller, [n for n in names if controller.deletions.is_done(n)])


async def resume_deletions(controller: Controller) -> None:
    """Deletions that waited for a broker, for a reassignment, or for a controller."""
    await start_deletions(controller, sorted(controller.context.topics_to_be_deleted))


async def replicas_deleted(controller: Controller, broker: int, results: DeletionResults) -> None:
    """A broker has answered StopReplica. What it could not delete it is asked for again later."""
    failed = {
        partition
        for partition, succeeded in results
        if not succeeded and controller.deletions.is_started(PartitionAndReplica(partition, broker))
    }
    if broker in controller.context.brokers:
        lost, _back = controller.context.replicas_answered(broker, failed, ())
        if lost:
            controller.ask_again_in_ms = ASK_AGAIN_MS_MIN
    await _remove_nodes(controller, sorted(controller.deletions.answered(broker, results)))


async def _remove_nodes(controller: Controller, names: Sequence[str]) -> None:
    """Topics whose data is gone leave ZooKeeper. What is there is looked up, not remembered: an
    interrupted removal has left any part of it.
    """
    if not names:
        return
    paths = {
        name: topic_node_paths(name, sorted(controller.context.topics[name].partitions))
        for name in names
    }
    found = await read_all(
        controller.coordinator, [(path, path) for those in paths.values() for path in those]
    )
    groups = [[Delete(path) for path in those if path in found] for those in paths.values()]
    await controller.write(piece for group in groups for piece in split(group))
    for name in names:
        controller.deletions.forget(name)
        controller.context.remove_topic(name)
        log.info("deleted topic %s", name)
        for waiter in controller.deletion_waiters.pop(name, []):
            if not waiter.done():
                waiter.set_result(None)
