"""The controller moves replicas: begins, cancels and completes reassignments."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.cluster.reassignment_requests import completed, decide, ongoing, replica_changes
from dataplane.cluster.requests import Stop

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataplane.broker.controller.partition_state_machine import PartitionStateMachine
    from dataplane.broker.controller.request_batch import ControllerBrokerRequestBatch
    from dataplane.broker.controller.topic_deletion_manager import TopicDeletionManager
    from dataplane.cluster.context import ControllerContext
    from dataplane.cluster.failover import Changes
    from dataplane.cluster.reassignment_requests import Target
    from dataplane.model.errors import KafkaError
    from dataplane.model.ids import TopicPartition

log = logging.getLogger(__name__)


class PartitionReassignment:
    """Reassignments in progress are kept in the topics' nodes, and read from the context."""

    def __init__(
        self,
        context: ControllerContext,
        batch: ControllerBrokerRequestBatch,
        partition_states: PartitionStateMachine,
        topic_deletion: TopicDeletionManager,
    ) -> None:
        self._context = context
        self._batch = batch
        self._partition_states = partition_states
        self._topic_deletion = topic_deletion

    async def reassign(
        self, targets: Mapping[TopicPartition, Target]
    ) -> dict[TopicPartition, KafkaError | None]:
        """Begin or cancel, each partition by itself. None: accepted."""
        accepted, results = decide(self._context, targets)
        await self._apply(accepted)
        await self.complete_ready(accepted)
        return results

    async def complete_ready(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Finish those reassignments whose target replicas are all in sync; None looks at all."""
        finished = completed(self._context, partitions)
        for partition, done in finished.items():
            log.info("reassignment of %s is complete: %s", partition, list(done.replicas))
        await self._apply(finished)

    def ongoing(self, partitions: list[TopicPartition] | None) -> Changes:
        """States of the partitions under reassignment; None asks for all."""
        return ongoing(self._context, partitions)

    async def _apply(self, changes: Changes) -> None:
        """Write new replica sets, send them, and stop the replicas that are no longer wanted."""
        if not changes:
            return
        new_on, dropped = replica_changes(self._context, changes)
        await self._partition_states.commit(changes, assignments=True, new_on=new_on)
        for partition, replicas in dropped.items():
            stop = Stop(changes[partition].leader_epoch, delete=True)
            self._batch.enqueue_stop_replica(partition, replicas, stop)
        self._batch.send()
        waiting = {p.topic for p in changes if self._context.is_queued_for_deletion(p.topic)}
        await self._topic_deletion.start(sorted(waiting))
