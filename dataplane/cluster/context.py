"""What the active controller remembers: the truth of ZooKeeper, held in memory.

Only `put`, `remove_topic` and `set_brokers` change it, always after the write to ZooKeeper
succeeded, so that memory never runs ahead of the truth.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping

from dataplane.cluster.image import ZERO_UUID, BrokerInfo
from dataplane.cluster.partition_states import PartitionStatus, check_transition, status_of
from dataplane.cluster.topic_names import collision_key
from dataplane.cluster.znodes import TopicNode
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState

NEVER_LED = -1
"""The leader epoch of a partition that has no state node yet."""


@dataclasses.dataclass(slots=True)
class ControlledTopic:
    """A topic under control. `topic_id` is zero for one made before topics had ids."""

    name: str
    topic_id: uuid.UUID
    partitions: dict[int, PartitionState] = dataclasses.field(default_factory=dict)

    def node(self) -> TopicNode:
        """The topic's node as ZooKeeper should hold it."""
        return TopicNode(
            topic_id=self.topic_id if self.topic_id != ZERO_UUID else None,
            replicas={index: state.replicas for index, state in self.partitions.items()},
            adding={index: state.adding for index, state in self.partitions.items()},
            removing={index: state.removing for index, state in self.partitions.items()},
        )


class ControllerContext:
    """Brokers, topics and partitions of one controller term."""

    def __init__(self, epoch: int, epoch_version: int) -> None:
        self.epoch = epoch
        self.epoch_version = epoch_version
        self.brokers: dict[int, BrokerInfo] = {}
        self.shutting_down: set[int] = set()
        self.topics: dict[str, ControlledTopic] = {}
        self.names_by_id: dict[uuid.UUID, str] = {}
        self.topics_to_be_deleted: set[str] = set()
        self.reassigning: set[TopicPartition] = set()
        self._offline: dict[int, set[TopicPartition]] = {}
        self._collisions: dict[str, set[str]] = {}
        self._partitions_on: dict[int, set[TopicPartition]] = {}

    # -- brokers --------------------------------------------------------------------------------

    @property
    def live(self) -> frozenset[int]:
        """Registered brokers, also those that are shutting down."""
        return frozenset(self.brokers)

    @property
    def electable(self) -> frozenset[int]:
        """Registered brokers that are not shutting down."""
        return frozenset(self.brokers.keys() - self.shutting_down)

    def set_brokers(self, brokers: Mapping[int, BrokerInfo]) -> None:
        """A broker in another life than before has all its log directories, until it says no."""
        for broker in [*self._offline]:
            info = brokers.get(broker)
            if info is None or info.epoch != self.brokers[broker].epoch:
                del self._offline[broker]
        self.brokers = dict(brokers)
        self.shutting_down &= self.brokers.keys()

    def check_broker_epoch(self, broker: int, epoch: int) -> None:
        """Raises KafkaError(STALE_BROKER_EPOCH) for a former life; -1 is not looked at."""
        known = self.brokers.get(broker)
        if known is None or epoch not in (-1, known.epoch):
            raise KafkaError(ErrorCode.STALE_BROKER_EPOCH)

    # -- failed log directories -----------------------------------------------------------------

    def replicas_answered(
        self, broker: int, failed: Iterable[TopicPartition], taken_up: Iterable[TopicPartition]
    ) -> tuple[set[TopicPartition], set[TopicPartition]]:
        """A live broker has answered which replicas it cannot serve, and which it can.

        Returns those that went offline by this, and those that came back.
        """
        known = self._offline.get(broker, set())
        lost = {partition for partition in failed if self.state(partition)} - known
        back = known.intersection(taken_up)
        now = (known | lost) - back
        if now:
            self._offline[broker] = now
        else:
            self._offline.pop(broker, None)
        return lost, back

    def offline_on(self, broker: int) -> frozenset[TopicPartition]:
        """Replicas of a live broker whose log directory has failed."""
        return frozenset(self._offline.get(broker, ()))

    @property
    def brokers_with_offline(self) -> list[int]:
        return sorted(broker for broker, lost in self._offline.items() if lost)

    def offline_replicas(self, partition: TopicPartition) -> tuple[int, ...]:
        """Live brokers that cannot serve this partition."""
        if not self._offline:
            return ()
        return tuple(broker for broker, lost in self._offline.items() if partition in lost)

    def live_for(self, partition: TopicPartition) -> frozenset[int]:
        """Brokers that can serve a replica of this partition."""
        return self.live.difference(self.offline_replicas(partition))

    def electable_for(self, partition: TopicPartition) -> frozenset[int]:
        """Likewise, without those that are shutting down."""
        return self.electable.difference(self.offline_replicas(partition))

    # -- topics ---------------------------------------------------------------------------------

    def add_topic(self, name: str, topic_id: uuid.UUID) -> ControlledTopic:
        topic = self.topics.get(name)
        if topic is None:
            topic = self.topics[name] = ControlledTopic(name, topic_id)
            self._collisions.setdefault(collision_key(name), set()).add(name)
            if topic_id != ZERO_UUID:
                self.names_by_id[topic_id] = name
        return topic

    def remove_topic(self, name: str) -> None:
        topic = self.topics.pop(name, None)
        self.topics_to_be_deleted.discard(name)
        if topic is None:
            return
        self.names_by_id.pop(topic.topic_id, None)
        self._collisions[collision_key(name)].discard(name)
        for index, state in topic.partitions.items():
            partition = TopicPartition(name, index)
            self.reassigning.discard(partition)
            for replica in state.replicas:
                self._partitions_on.get(replica, set()).discard(partition)
            for lost in self._offline.values():
                lost.discard(partition)

    def colliding(self, name: str) -> frozenset[str]:
        """Topics whose metrics would share this name's."""
        return frozenset(self._collisions.get(collision_key(name), ()))

    # -- partitions -----------------------------------------------------------------------------

    def state(self, partition: TopicPartition) -> PartitionState | None:
        topic = self.topics.get(partition.topic)
        return topic.partitions.get(partition.partition) if topic else None

    def put(self, partition: TopicPartition, state: PartitionState) -> None:
        """Take up a state that ZooKeeper holds. Raises IllegalTransitionError."""
        partitions = self.topics[partition.topic].partitions
        before = partitions.get(partition.partition)
        live = self.live_for(partition) if self._offline else self.brokers
        if before is not None and state.leader_epoch != NEVER_LED:
            check_transition(partition, status_of(before, live), status_of(state, live))
        for replica in before.replicas if before else ():
            if replica not in state.replicas:
                self._partitions_on[replica].discard(partition)
        for replica in state.replicas:
            self._partitions_on.setdefault(replica, set()).add(partition)
        partitions[partition.partition] = state
        if state.is_reassigning:
            self.reassigning.add(partition)
        else:
            self.reassigning.discard(partition)

    def partitions_on(self, brokers: Collection[int]) -> list[TopicPartition]:
        """Partitions with a replica on one of these brokers, in order, without repeats."""
        found: set[TopicPartition] = set()
        for broker in brokers:
            found |= self._partitions_on.get(broker, set())
        return sorted(found)

    def partitions(self) -> Iterator[tuple[TopicPartition, PartitionState]]:
        """Every partition, also of topics that are being deleted."""
        for topic in self.topics.values():
            for index, state in topic.partitions.items():
                yield TopicPartition(topic.name, index), state

    @property
    def partition_count(self) -> int:
        """Of all topics, also of those that are being deleted."""
        return sum(len(topic.partitions) for topic in self.topics.values())

    @property
    def offline_partition_count(self) -> int:
        """Partitions without a live leader, but for those of topics marked for deletion."""
        return sum(
            status_of(state, self.live_for(partition) if self._offline else self.brokers)
            is PartitionStatus.OFFLINE
            for partition, state in self.partitions()
            if not self.is_queued_for_deletion(partition.topic)
        )

    def is_queued_for_deletion(self, topic: str) -> bool:
        """Whether the topic is marked for deletion."""
        return topic in self.topics_to_be_deleted

    def is_deletion_started(self, topic: str) -> bool:
        """Whether its deletion has begun. A move that is under way ends first: until then it is
        served as before.
        """
        return topic in self.topics_to_be_deleted and not any(
            p.topic == topic for p in self.reassigning
        )
