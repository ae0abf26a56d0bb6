"""The controller's three commands to brokers, built from what it remembers."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Collection, Iterable, Mapping

from dataplane.cluster.context import NEVER_LED, ControllerContext
from dataplane.cluster.image import LEADER_DURING_DELETE, BrokerInfo
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.wire.messages.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from dataplane.wire.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from dataplane.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)

TYPE_INCREMENTAL, TYPE_FULL = 1, 2
DELETE_REGARDLESS_OF_EPOCH = -2
"""StopReplica's leader epoch while a topic is deleted."""

SECURITY_PROTOCOL_IDS = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}


@dataclasses.dataclass(frozen=True, slots=True)
class Term:
    """Whose command it is, and to which life of the broker."""

    controller_id: int
    controller_epoch: int
    broker_epoch: int


@dataclasses.dataclass(frozen=True, slots=True)
class MetadataUpdate:
    """A partition's state to send. `deleting`: its topic's deletion has begun; `offline`:
    which live brokers cannot serve it, because a log directory has failed.
    """

    state: PartitionState
    topic_id: uuid.UUID
    is_new: bool = False
    deleting: bool = False
    offline: tuple[int, ...] = ()

    @property
    def is_servable(self) -> bool:
        """Whether replicas get LeaderAndIsr: not before a first leader, nor under deletion."""
        return not self.deleting and self.state.leader_epoch != NEVER_LED


@dataclasses.dataclass(frozen=True, slots=True)
class Stop:
    """A replica to be stopped, and perhaps its data deleted."""

    leader_epoch: int
    delete: bool


def metadata_update(context: ControllerContext, partition: TopicPartition) -> MetadataUpdate:
    """What brokers get about a partition now. Raises KeyError for one that does not exist."""
    topic = context.topics[partition.topic]
    return MetadataUpdate(
        topic.partitions[partition.partition],
        topic.topic_id,
        deleting=context.is_deletion_started(partition.topic),
        offline=context.offline_replicas(partition),
    )


def leader_and_isr(
    term: Term,
    updates: Mapping[TopicPartition, MetadataUpdate],
    brokers: Mapping[int, BrokerInfo],
    listener: str,
    *,
    full: bool = False,
) -> LeaderAndIsrRequest:
    """`full`: these are all the partitions that the broker shall have."""
    topics: dict[str, LeaderAndIsrTopicState] = {}
    leaders: set[int] = set()
    for partition, update in updates.items():
        topic = topics.get(partition.topic)
        if topic is None:
            topic = topics[partition.topic] = LeaderAndIsrTopicState(
                topic_name=partition.topic, topic_id=update.topic_id
            )
        state = update.state
        leaders.add(state.leader)
        topic.partition_states.append(
            LeaderAndIsrPartitionState(
                partition_index=partition.partition,
                controller_epoch=state.controller_epoch,
                leader=state.leader,
                leader_epoch=state.leader_epoch,
                isr=list(state.isr),
                partition_epoch=state.partition_epoch,
                replicas=list(state.replicas),
                adding_replicas=list(state.adding),
                removing_replicas=list(state.removing),
                is_new=update.is_new,
                leader_recovery_state=state.leader_recovery_state,
            )
        )
    return LeaderAndIsrRequest(
        controller_id=term.controller_id,
        controller_epoch=term.controller_epoch,
        broker_epoch=term.broker_epoch,
        type=TYPE_FULL if full else TYPE_INCREMENTAL,
        topic_states=list(topics.values()),
        live_leaders=[
            LeaderAndIsrLiveLeader(broker_id=broker, host_name=endpoint.host, port=endpoint.port)
            for broker in sorted(leaders)
            if broker in brokers and (endpoint := brokers[broker].listeners.get(listener))
        ],
    )


def update_metadata(
    term: Term,
    updates: Mapping[TopicPartition, MetadataUpdate],
    brokers: Mapping[int, BrokerInfo],
    *,
    full: bool = False,
) -> UpdateMetadataRequest:
    """States of these partitions, and all live brokers with every listener.

    `full`: these are all the partitions there are.
    """
    topics: dict[str, UpdateMetadataTopicState] = {}
    for partition, update in updates.items():
        topic = topics.get(partition.topic)
        if topic is None:
            topic = topics[partition.topic] = UpdateMetadataTopicState(
                topic_name=partition.topic, topic_id=update.topic_id
            )
        topic.partition_states.append(_metadata_state(partition, update, brokers.keys()))
    return UpdateMetadataRequest(
        controller_id=term.controller_id,
        controller_epoch=term.controller_epoch,
        broker_epoch=term.broker_epoch,
        type=TYPE_FULL if full else TYPE_INCREMENTAL,
        topic_states=list(topics.values()),
        live_brokers=[_metadata_broker(brokers[broker]) for broker in sorted(brokers)],
    )


def _metadata_state(
    partition: TopicPartition, update: MetadataUpdate, live: Collection[int]
) -> UpdateMetadataPartitionState:
    state = update.state
    return UpdateMetadataPartitionState(
        partition_index=partition.partition,
        controller_epoch=state.controller_epoch,
        leader=LEADER_DURING_DELETE if update.deleting else state.leader,
        leader_epoch=state.leader_epoch,
        isr=list(state.isr),
        zk_version=state.partition_epoch,
        replicas=list(state.replicas),
        offline_replicas=[
            replica
            for replica in state.replicas
            if replica not in live or replica in update.offline
        ],
    )


def _metadata_broker(broker: BrokerInfo) -> UpdateMetadataBroker:
    return UpdateMetadataBroker(
        id=broker.id,
        rack=broker.rack,
        endpoints=[
            UpdateMetadataEndpoint(
                port=endpoint.port,
                host=endpoint.host,
                listener=name,
                security_protocol=SECURITY_PROTOCOL_IDS[endpoint.security_protocol],
            )
            for name, endpoint in broker.listeners.items()
        ],
    )


def stop_replica(term: Term, stops: Iterable[tuple[TopicPartition, Stop]]) -> StopReplicaRequest:
    topics: dict[str, StopReplicaTopicState] = {}
    for partition, stop in stops:
        topic = topics.get(partition.topic)
        if topic is None:
            topic = topics[partition.topic] = StopReplicaTopicState(topic_name=partition.topic)
        topic.partition_states.append(
            StopReplicaPartitionState(
                partition_index=partition.partition,
                leader_epoch=stop.leader_epoch,
                delete_partition=stop.delete,
            )
        )
    return StopReplicaRequest(
        controller_id=term.controller_id,
        controller_epoch=term.controller_epoch,
        broker_epoch=term.broker_epoch,
        topic_states=list(topics.values()),
    )
