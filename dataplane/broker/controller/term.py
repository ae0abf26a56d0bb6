"""One term of an active controller: its memory, its writes, its channels to the brokers.

What happens in a term runs one step after another on the controller's queue: read memory, decide
by the pure functions of `dataplane.cluster`, write to ZooKeeper, then change memory and enqueue
requests to the brokers. When a write's outcome is unknown the term ends, and the next one reads
ZooKeeper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.broker.controller.admin_requests import AdminRequests
from dataplane.broker.controller.broker_changes import BrokerChanges
from dataplane.broker.controller.channel_manager import ControllerChannelManager
from dataplane.broker.controller.controlled_shutdown import ControlledShutdown
from dataplane.broker.controller.controller_failover import ControllerFailover
from dataplane.broker.controller.isr_changes import IsrChanges
from dataplane.broker.controller.known_brokers import KnownBrokers
from dataplane.broker.controller.leader_elections import LeaderElections
from dataplane.broker.controller.log_dir_events import LogDirEventNotifications, OfflineReplicas
from dataplane.broker.controller.partition_reassignment import PartitionReassignment
from dataplane.broker.controller.partition_state_machine import PartitionStateMachine
from dataplane.broker.controller.producer_id_blocks import ProducerIdBlocks
from dataplane.broker.controller.request_batch import ControllerBrokerRequestBatch
from dataplane.broker.controller.topic_changes import TopicChanges
from dataplane.broker.controller.topic_creation import TopicCreation
from dataplane.broker.controller.topic_deletion_manager import TopicDeletionManager
from dataplane.broker.controller.zk_client import ControllerZkClient
from dataplane.cluster.offline_replicas import OfflineReplicaRetries
from dataplane.cluster.replica_state_machine import ReplicaStateMachine
from dataplane.config.inter_broker import PROTOCOL_KEY, sends_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.networking.peer_client import PeerPool
    from dataplane.cluster.context import ControllerContext
    from dataplane.cluster.responses import DeletionResults, LeaderAndIsrResult
    from dataplane.config import BrokerConfig
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.clock import Clock
    from dataplane.ports.coordinator import Coordinator
    from dataplane.ports.entropy import Entropy


class ControllerTerm:
    """Puts the parts of a term together; steps on the queue call the part they need.

    `on_deleted` and `on_leader_and_isr` take a broker's answers from its channel to the queue.
    """

    def __init__(
        self,
        context: ControllerContext,
        coordinator: Coordinator,
        peers: PeerPool,
        *,
        broker_id: int,
        listener: str,
        clock: Clock,
        entropy: Entropy,
        broker_config: Callable[[], BrokerConfig],
        unclean_allowed: Callable[[str], bool],
        on_unclean: Callable[[TopicPartition], None],
        on_deleted: Callable[[int, DeletionResults], None],
        on_leader_and_isr: Callable[[int, LeaderAndIsrResult], None],
    ) -> None:
        zk = ControllerZkClient(coordinator, context.epoch_version)
        known_brokers = KnownBrokers(zk)
        retries, replica_states = OfflineReplicaRetries(), ReplicaStateMachine()
        self.context = context
        self.channels = channels = ControllerChannelManager(
            context,
            peers,
            controller_id=broker_id,
            listener=listener,
            on_deleted=on_deleted,
            on_leader_and_isr=on_leader_and_isr,
            sends=sends_at(broker_config().get_str(PROTOCOL_KEY)),
        )
        batch = ControllerBrokerRequestBatch(context, channels)
        common = (context, zk, batch)
        states = PartitionStateMachine(*common, on_unclean, unclean_allowed=unclean_allowed)
        self.topic_deletion = TopicDeletionManager(context, zk, batch, replica_states, retries)
        self.reassignment = PartitionReassignment(context, batch, states, self.topic_deletion)
        self.elections = LeaderElections(context, states, broker_config=broker_config)
        self.isr_changes = IsrChanges(context, zk, batch, states, self.reassignment)
        self.controlled_shutdown = ControlledShutdown(context, batch, states)
        self.producer_ids = ProducerIdBlocks(context, zk)
        self.topic_creation = TopicCreation(*common, entropy=entropy, broker_config=broker_config)
        self.topic_changes = TopicChanges(
            *common, states, self.topic_deletion, entropy=entropy, broker_config=broker_config
        )
        self.admin_requests = AdminRequests(zk, self.reassignment, self.elections)
        self.log_dir_events = LogDirEventNotifications(context, zk, batch)
        self.offline_replicas = OfflineReplicas(
            context,
            batch,
            partition_states=states,
            replica_states=replica_states,
            reassignment=self.reassignment,
            topic_deletion=self.topic_deletion,
            retries=retries,
            clock=clock,
        )
        self.broker_changes = BrokerChanges(
            *common,
            partition_states=states,
            replica_states=replica_states,
            reassignment=self.reassignment,
            topic_deletion=self.topic_deletion,
            known_brokers=known_brokers,
        )
        self._failover = ControllerFailover(
            *common,
            partition_states=states,
            topic_changes=self.topic_changes,
            log_dir_events=self.log_dir_events,
            broker_changes=self.broker_changes,
            known_brokers=known_brokers,
        )

    async def take_over(self) -> None:
        """Begin the term. Raises as writes do."""
        await self._failover.take_over()

    async def stop(self) -> None:
        """Drop what was not sent, and leave those who wait for a deletion to the next term."""
        self.topic_deletion.stop()
        await self.channels.stop()
