"""Replicas that the controller has had removed here: a late command must not bring them back.

A command travels again when its connection broke, and its first copy may be carried out after
commands that came later. A replica that is there refuses it by its leader epoch; one that was
deleted meanwhile would be made again, as a copy that nobody knows.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.model.ids import TopicPartition

REMOVED_MAX = 10_000
"""How many are remembered. A late command is seconds old, so the newest are enough."""

ReplicaKey = tuple[uuid.UUID, int]


class RemovedReplicas:
    """By topic id and partition index: which controller removed it, and up to which leader epoch.

    Only commands of the same controller are refused: a later one knows the truth from ZooKeeper.
    `topic_partition in removed`: its log was removed here, and no other has been made since.
    """

    def __init__(self) -> None:
        self._removed: dict[ReplicaKey, tuple[int, int]] = {}
        self._names: dict[TopicPartition, None] = {}

    def __contains__(self, topic_partition: TopicPartition) -> bool:
        return topic_partition in self._names

    def came_back(self, topic_partition: TopicPartition) -> None:
        """There is a log of this name again."""
        self._names.pop(topic_partition, None)

    def add(
        self,
        topic_partition: TopicPartition,
        topic_id: uuid.UUID,
        controller_epoch: int,
        leader_epoch: int,
    ) -> None:
        """`leader_epoch` is StopReplica's: negative when the topic as a whole is deleted."""
        self._names.pop(topic_partition, None)
        self._names[topic_partition] = None
        if len(self._names) > REMOVED_MAX:
            del self._names[next(iter(self._names))]
        if not topic_id.int:
            return  # a topic without an id may be made again under the same name
        key = topic_id, topic_partition.partition
        self._removed.pop(key, None)
        self._removed[key] = controller_epoch, leader_epoch
        if len(self._removed) > REMOVED_MAX:
            del self._removed[next(iter(self._removed))]

    def refuses(self, key: ReplicaKey, controller_epoch: int, leader_epoch: int) -> bool:
        """Whether this role is older than the removal."""
        removed = self._removed.get(key)
        if removed is None or removed[0] != controller_epoch:
            return False
        return removed[1] < 0 or leader_epoch <= removed[1]
