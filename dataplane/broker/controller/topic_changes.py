"""Topics, partitions and marks of deletion that tools leave in ZooKeeper, as Kafka's own tools do.

Each is read when its node changes and when a controller takes over.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.controller.load import load_states, load_topics
from dataplane.cluster import znodes
from dataplane.cluster.image import ZERO_UUID
from dataplane.cluster.topic_changes import added_partitions, replicas_without_data
from dataplane.cluster.topic_deletion import marked_topics
from dataplane.cluster.writes import split, topic_op
from dataplane.model.ids import TopicPartition
from dataplane.ports.coordinator import Delete, NoNodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.controller.partition_state_machine import PartitionStateMachine
    from dataplane.broker.controller.request_batch import ControllerBrokerRequestBatch
    from dataplane.broker.controller.topic_deletion_manager import TopicDeletionManager
    from dataplane.broker.controller.zk_client import ControllerZkClient
    from dataplane.cluster.context import ControllerContext
    from dataplane.config import BrokerConfig
    from dataplane.ports.entropy import Entropy

log = logging.getLogger(__name__)


class TopicChanges:
    """Takes up what the nodes of topics say and the context does not hold."""

    def __init__(
        self,
        context: ControllerContext,
        zk: ControllerZkClient,
        batch: ControllerBrokerRequestBatch,
        partition_states: PartitionStateMachine,
        topic_deletion: TopicDeletionManager,
        *,
        entropy: Entropy,
        broker_config: Callable[[], BrokerConfig],
    ) -> None:
        self._context = context
        self._zk = zk
        self._batch = batch
        self._partition_states = partition_states
        self._topic_deletion = topic_deletion
        self._entropy = entropy
        self._broker_config = broker_config

    async def give_topics_ids(self) -> None:
        """Topics of tools that know of no topic ids get theirs, as in Kafka."""
        topics = self._context.topics.values()
        nameless = [t for t in topics if t.topic_id == ZERO_UUID and t.partitions]
        for topic in nameless:
            topic.topic_id = self._entropy.uuid4()
            self._context.names_by_id[topic.topic_id] = topic.name
        await self._zk.write([[topic_op(topic, {})] for topic in nameless])

    async def topics_appeared(self) -> None:
        """Topics that somebody else has written: their partitions get leaders."""
        topics = self._context.topics
        found = await self._zk.coordinator.children(znodes.TOPICS)
        names = [name for name in sorted(found) if name not in topics]
        if not names:
            return
        log.info("topics made by somebody else: %s", names)
        await load_topics(self._zk.coordinator, self._context, names)
        await self.give_topics_ids()
        added = [
            TopicPartition(name, index)
            for name in names
            if name in topics
            for index in topics[name].partitions
        ]
        await self._take_up(added)
        await self.deletions_marked()

    async def partitions_appeared(self, name: str) -> None:
        """Partitions that somebody else has written into a topic's node get leaders.

        A topic that is to be deleted does not grow any more, as in Kafka.
        """
        if name not in self._context.topics or self._context.is_queued_for_deletion(name):
            return
        try:
            data, _ = await self._zk.coordinator.get(znodes.topic_path(name))
            node = znodes.decode_topic(data)
        except NoNodeError:
            return
        except (ValueError, KeyError, TypeError) as error:
            log.warning("the node of topic %s cannot be understood: %s", name, error)
            return
        assigned = added_partitions(self._context, name, node)
        if not assigned:
            return
        log.info("partitions made by somebody else: %s", [str(each) for each in assigned])
        for partition, state in (await load_states(self._zk.coordinator, assigned)).items():
            self._context.put(partition, state)
        await self._take_up(list(assigned))

    async def deletions_marked(self) -> None:
        """Topics marked for deletion; the mark of one that does not exist is removed."""
        names = await self._zk.coordinator.children(znodes.DELETE_TOPICS)
        enabled = self._broker_config().get_bool("delete.topic.enable")
        marked = marked_topics(self._context, names, enabled=enabled)
        if marked.disabled:
            log.warning("topics are not deleted, delete.topic.enable is false: %s", marked.disabled)
        await self._zk.write(
            split([Delete(znodes.delete_topic_path(name)) for name in marked.refused])
        )
        if marked.accepted:
            log.info("topics marked for deletion: %s", marked.accepted)
            await self._topic_deletion.enqueue(marked.accepted)

    async def _take_up(self, added: list[TopicPartition]) -> None:
        """Give partitions that are in the context by now leaders, and send them to everybody."""
        new_on = replicas_without_data(self._context, added)
        await self._partition_states.repair(added)
        self._batch.enqueue(added, new_on=new_on)
        self._batch.send()
