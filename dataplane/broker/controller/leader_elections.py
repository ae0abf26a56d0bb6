"""Elections of leaders on request, and of preferred leaders by the clock."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.cluster.failover import imbalanced
from dataplane.cluster.requested_election import elect_requested

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataplane.broker.controller.partition_state_machine import PartitionStateMachine
    from dataplane.cluster.context import ControllerContext
    from dataplane.cluster.election import ElectionType
    from dataplane.config import BrokerConfig
    from dataplane.model.errors import KafkaError
    from dataplane.model.ids import TopicPartition

log = logging.getLogger(__name__)


class LeaderElections:
    """Preferred and unclean elections, beside those that failures and moves bring."""

    def __init__(
        self,
        context: ControllerContext,
        partition_states: PartitionStateMachine,
        *,
        broker_config: Callable[[], BrokerConfig],
    ) -> None:
        self._context = context
        self._partition_states = partition_states
        self._broker_config = broker_config

    async def elect_leaders(
        self, election: ElectionType, partitions: Iterable[TopicPartition] | None
    ) -> dict[TopicPartition, KafkaError | None]:
        """None asks for every partition; those that need no election are then left out."""
        changes, results = elect_requested(self._context, election, partitions)
        await self._partition_states.commit(changes)
        return results

    async def balance(self) -> None:
        """Give leadership back to preferred leaders where too much of it has wandered off."""
        percentage = self._broker_config().get_int("leader.imbalance.per.broker.percentage")
        changes = imbalanced(self._context, percentage)
        if changes:
            log.info("preferred election of %d partitions", len(changes))
        await self._partition_states.commit(changes)
