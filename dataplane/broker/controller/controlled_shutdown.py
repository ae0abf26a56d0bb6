"""Moves everything off a broker that wants to stop."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.cluster.controlled_shutdown import check_shutdown, followers_to_stop, leave

if TYPE_CHECKING:
    from dataplane.broker.controller.partition_state_machine import PartitionStateMachine
    from dataplane.broker.controller.request_batch import ControllerBrokerRequestBatch
    from dataplane.cluster.context import ControllerContext
    from dataplane.model.ids import TopicPartition

log = logging.getLogger(__name__)


class ControlledShutdown:
    """Leaders elsewhere first, then its followers stop."""

    def __init__(
        self,
        context: ControllerContext,
        batch: ControllerBrokerRequestBatch,
        partition_states: PartitionStateMachine,
    ) -> None:
        self._context = context
        self._batch = batch
        self._partition_states = partition_states

    async def shut_down(self, broker: int, epoch: int) -> list[TopicPartition]:
        """Returns what the broker still leads. Raises KafkaError as `check_shutdown`."""
        check_shutdown(self._context, broker, epoch)
        self._context.shutting_down.add(broker)
        changes, remaining = leave(self._context, broker)
        log.info("broker %d shuts down: %d partitions change", broker, len(changes))
        await self._partition_states.commit(changes)
        for partition, stop in followers_to_stop(self._context, broker):
            self._batch.enqueue_stop_replica(partition, [broker], stop)
        self._batch.send()
        return remaining
