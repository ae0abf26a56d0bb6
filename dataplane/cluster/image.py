"""The cluster as one broker sees it: an immutable picture, replaced whole at every update."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dataplane.model.ids import NO_LEADER
from dataplane.model.partition import PartitionState

if TYPE_CHECKING:
    from dataplane.wire.messages.update_metadata import UpdateMetadataRequest

ZERO_UUID = uuid.UUID(int=0)
LEADER_DURING_DELETE = -2
"""The leader that UpdateMetadata names for a partition whose topic is being deleted."""


@dataclasses.dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a broker listens, under one listener name."""

    host: str
    port: int
    security_protocol: str


@dataclasses.dataclass(frozen=True, slots=True)
class BrokerInfo:
    """A live broker. `epoch` is its registration's creation id (czxid), -1 where unknown."""

    id: int
    epoch: int = -1
    rack: str | None = None
    listeners: Mapping[str, Endpoint] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class TopicImage:
    """A topic; `partitions[i].index == i`."""

    name: str
    topic_id: uuid.UUID
    partitions: tuple[PartitionState, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterImage:
    """Brokers and topics at one moment. `version` grows by one with every update."""

    cluster_id: str = ""
    controller_id: int = -1
    controller_epoch: int = 0
    brokers: Mapping[int, BrokerInfo] = dataclasses.field(default_factory=dict)
    topics: Mapping[str, TopicImage] = dataclasses.field(default_factory=dict)
    names_by_id: Mapping[uuid.UUID, str] = dataclasses.field(default_factory=dict)
    version: int = 0

    def topic_by_id(self, topic_id: uuid.UUID) -> TopicImage | None:
        name = self.names_by_id.get(topic_id)
        return self.topics.get(name) if name is not None else None

    def partition(self, topic: str, index: int) -> PartitionState | None:
        image = self.topics.get(topic)
        if image is None or not 0 <= index < len(image.partitions):
            return None
        return image.partitions[index]

    def with_update(self, request: UpdateMetadataRequest) -> ClusterImage:
        """The image after the controller's update: brokers replaced, named partitions merged."""
        topics = dict(self.topics)
        names_by_id = dict(self.names_by_id)
        for topic in request.topic_states:
            before = topics.pop(topic.topic_name, None)
            if before is not None and before.topic_id != topic.topic_id:
                names_by_id.pop(before.topic_id, None)
                before = None  # deleted and made again under the same name
            partitions = {state.index: state for state in before.partitions} if before else {}
            for state in topic.partition_states:
                if state.leader == LEADER_DURING_DELETE:
                    partitions.pop(state.partition_index, None)
                else:
                    partitions[state.partition_index] = PartitionState(
                        index=state.partition_index,
                        leader=state.leader,
                        leader_epoch=state.leader_epoch,
                        partition_epoch=state.zk_version,
                        controller_epoch=state.controller_epoch,
                        replicas=tuple(state.replicas),
                        isr=tuple(state.isr),
                        offline_replicas=tuple(state.offline_replicas),
                    )
            if partitions:
                topics[topic.topic_name] = TopicImage(
                    topic.topic_name, topic.topic_id, _dense(partitions)
                )
                names_by_id[topic.topic_id] = topic.topic_name
            else:
                names_by_id.pop(topic.topic_id, None)
        names_by_id.pop(ZERO_UUID, None)
        return ClusterImage(
            cluster_id=self.cluster_id,
            controller_id=request.controller_id,
            controller_epoch=request.controller_epoch,
            brokers=_brokers(request),
            topics=topics,
            names_by_id=names_by_id,
            version=self.version + 1,
        )


def _dense(partitions: dict[int, PartitionState]) -> tuple[PartitionState, ...]:
    """Ordered by index; a partition not told yet is shown without a leader."""
    return tuple(
        partitions.get(index, PartitionState(index=index, leader=NO_LEADER))
        for index in range(max(partitions) + 1)
    )


def _brokers(request: UpdateMetadataRequest) -> dict[int, BrokerInfo]:
    protocols = {0: "PLAINTEXT", 1: "SSL", 2: "SASL_PLAINTEXT", 3: "SASL_SSL"}
    return {
        broker.id: BrokerInfo(
            id=broker.id,
            rack=broker.rack,
            listeners={
                endpoint.listener: Endpoint(
                    endpoint.host, endpoint.port, protocols[endpoint.security_protocol]
                )
                for endpoint in broker.endpoints
            },
        )
        for broker in request.live_brokers
    }
