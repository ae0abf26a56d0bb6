"""The controller makes topics, and adds partitions to them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.metadata.znode_reads import read_all
from dataplane.cluster import znodes
from dataplane.cluster.topic_plans import (
    Defaults,
    NewTopic,
    PlacementSeed,
    assigned,
    first_states,
    plan_partitions,
    plan_topics,
)
from dataplane.cluster.writes import created_with_epoch, new_topic_ops, partition_groups, topic_op
from dataplane.model.errors import KafkaError
from dataplane.model.ids import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dataplane.broker.controller.request_batch import ControllerBrokerRequestBatch
    from dataplane.broker.controller.zk_client import ControllerZkClient
    from dataplane.cluster.context import ControllerContext
    from dataplane.cluster.topic_plans import TopicRequest
    from dataplane.config import BrokerConfig
    from dataplane.model.partition import PartitionState
    from dataplane.ports.coordinator import Op
    from dataplane.ports.entropy import Entropy

log = logging.getLogger(__name__)

SEED_MAX = 1 << 16


def _unbounded(_partitions: int) -> None:
    """The broker's own topics are nobody's to pay for."""


class TopicCreation:
    """CreateTopics and CreatePartitions. Both return before the brokers know of it."""

    def __init__(
        self,
        context: ControllerContext,
        zk: ControllerZkClient,
        batch: ControllerBrokerRequestBatch,
        *,
        entropy: Entropy,
        broker_config: Callable[[], BrokerConfig],
    ) -> None:
        self._context = context
        self._zk = zk
        self._batch = batch
        self._entropy = entropy
        self._broker_config = broker_config

    async def create_topics(
        self,
        requests: Sequence[TopicRequest],
        *,
        validate_only: bool,
        spend: Callable[[int], None] = _unbounded,
    ) -> dict[str, NewTopic | KafkaError]:
        """Make the topics that can be made, all in few multis; the others' refusals by name.

        The configurations are expected to be valid. `spend` is called with the partitions of each
        topic before it is made, and raises KafkaError when they are too many.
        """
        config = self._broker_config()
        defaults = Defaults(
            config.get_int("num.partitions"), config.get_int("default.replication.factor")
        )
        results = plan_topics(
            self._context, requests, defaults, self._placement_seed, self._entropy.uuid4
        )
        if not validate_only:
            for name, plan in results.items():
                try:
                    if isinstance(plan, NewTopic):
                        spend(len(plan.replicas))
                except KafkaError as refusal:
                    results[name] = refusal
            await self._make([plan for plan in results.values() if isinstance(plan, NewTopic)])
        return results

    async def create_partitions(
        self,
        topic: str,
        count: int,
        assignments: Sequence[Sequence[int]] | None,
        *,
        validate_only: bool,
        spend: Callable[[int], None] = _unbounded,
    ) -> None:
        """Raise a topic's partition count. Raises KafkaError, also what `spend` raises."""
        added = plan_partitions(self._context, topic, count, assignments, self._placement_seed())
        if validate_only:
            return
        spend(len(added))
        states = self._first_states(added)
        held = self._context.topics[topic]
        grown = {index: assigned(index, brokers) for index, brokers in added.items()}
        await self._zk.write([[topic_op(held, grown)], *partition_groups(topic, added, states)])
        log.info("topic %s has %d partitions now", topic, count)
        self._announce(topic, added, states)
        self._batch.send()

    def _placement_seed(self) -> PlacementSeed:
        draw = self._entropy.uniform
        return PlacementSeed(int(draw(0, SEED_MAX)), int(draw(0, SEED_MAX)))

    async def _make(self, topics: Sequence[NewTopic]) -> None:
        leftovers = await read_all(
            self._zk.coordinator, [(t.name, znodes.config_path("topics", t.name)) for t in topics]
        )
        groups: list[list[Op]] = []
        states: dict[str, dict[int, PartitionState]] = {}
        for topic in topics:
            states[topic.name] = self._first_states(topic.replicas)
            groups.extend(new_topic_ops(topic, topic.name in leftovers, states[topic.name]))
        await self._zk.write(groups)
        for topic in topics:
            self._context.add_topic(topic.name, topic.topic_id)
            log.info("created topic %s with %d partitions", topic.name, len(topic.replicas))
            self._announce(topic.name, topic.replicas, states[topic.name])
        self._batch.send()

    def _first_states(self, replicas: Mapping[int, tuple[int, ...]]) -> dict[int, PartitionState]:
        return {
            index: created_with_epoch(led, self._context.epoch)
            for index, led in first_states(self._context, replicas).items()
        }

    def _announce(
        self,
        topic: str,
        replicas: Mapping[int, tuple[int, ...]],
        states: Mapping[int, PartitionState],
    ) -> None:
        for index, brokers in replicas.items():
            partition = TopicPartition(topic, index)
            self._context.put(partition, states.get(index, assigned(index, brokers)))
            self._batch.enqueue([partition], new_on={(partition, broker) for broker in brokers})
