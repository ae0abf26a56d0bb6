"""How a controller's term begins: Kafka's onControllerFailover."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.controller.load import load_brokers, load_topics
from dataplane.cluster.registration_changes import acted_upon

if TYPE_CHECKING:
    from dataplane.broker.controller.broker_changes import BrokerChanges
    from dataplane.broker.controller.known_brokers import KnownBrokers
    from dataplane.broker.controller.log_dir_events import LogDirEventNotifications
    from dataplane.broker.controller.partition_state_machine import PartitionStateMachine
    from dataplane.broker.controller.request_batch import ControllerBrokerRequestBatch
    from dataplane.broker.controller.topic_changes import TopicChanges
    from dataplane.broker.controller.zk_client import ControllerZkClient
    from dataplane.cluster.context import ControllerContext

log = logging.getLogger(__name__)


class ControllerFailover:
    """Reads what ZooKeeper holds, repairs it and sends it to every broker."""

    def __init__(
        self,
        context: ControllerContext,
        zk: ControllerZkClient,
        batch: ControllerBrokerRequestBatch,
        *,
        partition_states: PartitionStateMachine,
        topic_changes: TopicChanges,
        log_dir_events: LogDirEventNotifications,
        broker_changes: BrokerChanges,
        known_brokers: KnownBrokers,
    ) -> None:
        self._context = context
        self._zk = zk
        self._batch = batch
        self._partition_states = partition_states
        self._topic_changes = topic_changes
        self._log_dir_events = log_dir_events
        self._broker_changes = broker_changes
        self._known_brokers = known_brokers

    async def take_over(self) -> None:
        """Learn the truth, repair what does not fit the live brokers, send it to all, resume.

        A broker whose present registration no controller has acted upon yet was away in between: it
        may have lost what was not on its disk, and must not go on leading in its old epoch. It is
        taken for gone first, and for arrived then.
        """
        context = self._context
        await self._log_dir_events.forget()
        registered = await load_brokers(self._zk.coordinator)
        stayed = acted_upon(registered, await self._known_brokers.load())
        context.set_brokers(stayed)
        await load_topics(self._zk.coordinator, context)
        await self._topic_changes.give_topics_ids()
        everything = [partition for partition, _ in context.partitions()]
        log.info(
            "controller epoch %d: %d brokers, %d of them new, %d topics, %d partitions, "
            "%d topics to delete",
            context.epoch,
            len(registered),
            len(registered) - len(stayed),
            len(context.topics),
            len(everything),
            len(context.topics_to_be_deleted),
        )
        await self._partition_states.repair(everything)
        if len(stayed) < len(registered):
            context.set_brokers(registered)
            await self._partition_states.repair(everything)
        await self._known_brokers.store(context.brokers, take_over=True)
        for broker in context.brokers.values():
            self._batch.add_broker(broker)
        self._batch.enqueue(everything)
        await self._broker_changes.resume()
