"""The cluster as one broker sees it: an immutable picture, replaced whole at every update."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from dataplane.model.ids import NO_LEADER
from dataplane.model.partition import PartitionState

if TYPE_CHECKING:
    from dataplane.wire.messages.update_metadata import (
        UpdateMetadataPartitionState,
        UpdateMetadataRequest,
        UpdateMetadataTopicState,
    )

ZERO_UUID = uuid.UUID(int=0)
LEADER_DURING_DELETE = -2
"""The leader that UpdateMetadata names for a partition whose topic is being deleted."""
UPDATE_FULL = 2
"""The type of an UpdateMetadata that names every topic there is."""
DELETED_IDS_MAX = 1_000
"""How many deleted topics an image remembers. What it guards against is a command of the same
controller that arrives late, so the newest are enough."""


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
    """Brokers and topics at one moment. `version` grows by one with every update.

    `deleted_ids`: topics that the present controller has had removed, the newest last.
    """

    cluster_id: str = ""
    controller_id: int = -1
    controller_epoch: int = 0
    brokers: Mapping[int, BrokerInfo] = dataclasses.field(default_factory=dict)
    topics: Mapping[str, TopicImage] = dataclasses.field(default_factory=dict)
    names_by_id: Mapping[uuid.UUID, str] = dataclasses.field(default_factory=dict)
    version: int = 0
    deleted_ids: tuple[uuid.UUID, ...] = ()

    def topic_by_id(self, topic_id: uuid.UUID) -> TopicImage | None:
        name = self.names_by_id.get(topic_id)
        return self.topics.get(name) if name is not None else None

    def partition(self, topic: str, index: int) -> PartitionState | None:
        image = self.topics.get(topic)
        if image is None or not 0 <= index < len(image.partitions):
            return None
        return image.partitions[index]

    def with_states(self, states: Iterable[tuple[str, uuid.UUID, PartitionState]]) -> ClusterImage:
        """The image after (topic, id, state) that this broker has read by itself in ZooKeeper.

        Of topics and partitions that it holds, and only what is newer than what it holds.
        """
        topics = dict(self.topics)
        for name, topic_id, state in states:
            topic = topics.get(name)
            if topic is None or topic.topic_id != topic_id or state.index >= len(topic.partitions):
                continue
            known = topic.partitions[state.index]
            if _age(state) > _age(known):
                merged = dataclasses.replace(state, offline_replicas=known.offline_replicas)
                before, after = topic.partitions[: state.index], topic.partitions[state.index + 1 :]
                topics[name] = dataclasses.replace(topic, partitions=(*before, merged, *after))
        return dataclasses.replace(self, topics=topics, version=self.version + 1)

    def with_update(self, request: UpdateMetadataRequest) -> ClusterImage:
        """The image after the controller's update: brokers replaced, named partitions merged.

        A full update names every topic, so what it does not name is gone: this broker may have
        been away, or its controller may have died, when the deletion was announced.

        A command may arrive twice, the second time after later ones, when its connection broke:
        within one controller epoch no topic comes back that was removed, and no partition
        returns to an older state.
        """
        is_full = request.type == UPDATE_FULL
        same_controller = request.controller_epoch == self.controller_epoch
        deleted = dict.fromkeys(self.deleted_ids if same_controller else ())
        topics = {} if is_full else dict(self.topics)
        names_by_id = {} if is_full else dict(self.names_by_id)
        for topic in request.topic_states:
            name = topic.topic_name
            if topic.topic_id in deleted:
                continue  # the name may belong to another topic by now
            before = self.topics.get(name)
            after = _updated(before, topic, keep_newer=same_controller)
            if after is None:
                deleted[topic.topic_id] = None
                if before is not None and _differ(before.topic_id, topic.topic_id):
                    continue  # likewise
            topics.pop(name, None)
            if before is not None:
                names_by_id.pop(before.topic_id, None)
            if after is not None:
                topics[name] = after
                names_by_id[after.topic_id] = name
        for known in (names_by_id, deleted):
            known.pop(ZERO_UUID, None)
        return ClusterImage(
            cluster_id=self.cluster_id,
            controller_id=request.controller_id,
            controller_epoch=request.controller_epoch,
            brokers=_brokers(request),
            topics=topics,
            names_by_id=names_by_id,
            version=self.version + 1,
            deleted_ids=tuple(deleted)[-DELETED_IDS_MAX:],
        )


def _differ(one: uuid.UUID, other: uuid.UUID) -> bool:
    """Whether these are surely two topics."""
    return ZERO_UUID not in (one, other) and one != other


def _updated(
    before: TopicImage | None, topic: UpdateMetadataTopicState, *, keep_newer: bool
) -> TopicImage | None:
    """The topic after the update; None when it is gone."""
    if before is not None and before.topic_id != topic.topic_id:
        before = None  # deleted, and made again under the same name
    partitions = _received(before)
    keep_newer = keep_newer and topic.topic_id != ZERO_UUID
    for state in topic.partition_states:
        known = partitions.get(state.partition_index)
        if state.leader == LEADER_DURING_DELETE:
            partitions.pop(state.partition_index, None)
        elif not (keep_newer and known is not None and _is_older(state, known)):
            partitions[state.partition_index] = _partition(state)
    return TopicImage(topic.topic_name, topic.topic_id, _dense(partitions)) if partitions else None


def _received(topic: TopicImage | None) -> dict[int, PartitionState]:
    """The partitions that came from a controller, without those that `_dense` put in between.

    Those must not be carried over: when a deletion arrives in several updates, nothing would
    remove them again, and the topic would stay for good with partitions that have no replica.
    """
    if topic is None:
        return {}
    return {state.index: state for state in topic.partitions if state.replicas}


def _is_older(state: UpdateMetadataPartitionState, known: PartitionState) -> bool:
    return (state.leader_epoch, state.zk_version) < _age(known)


def _age(state: PartitionState) -> tuple[int, int]:
    """Of two states of a partition the newer one has the greater age."""
    return state.leader_epoch, state.partition_epoch


def _partition(state: UpdateMetadataPartitionState) -> PartitionState:
    return PartitionState(
        index=state.partition_index,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        partition_epoch=state.zk_version,
        controller_epoch=state.controller_epoch,
        replicas=tuple(state.replicas),
        isr=tuple(state.isr),
        offline_replicas=tuple(state.offline_replicas),
    )


def _dense(partitions: dict[int, PartitionState]) -> tuple[PartitionState, ...]:
    """Ordered by index; a partition not announced yet is shown without a leader."""
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
