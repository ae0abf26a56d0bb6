"""When a controller asks again for replicas that a failed log directory keeps offline.

A directory comes back with a restart of its broker; what a full disk has refused comes back by
itself, and is asked for ever more rarely.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dataplane.cluster.context import ControllerContext
from dataplane.model.ids import TopicPartition

RETRY_MS_MIN: Final = 1_000
RETRY_MS_MAX: Final = 60_000


class OfflineReplicaRetries:
    """The time of the next question, over all offline replicas of one controller term."""

    def __init__(self) -> None:
        self._due_at_ms = 0
        self._interval_ms = 0

    def reset(self) -> None:
        """A replica went offline or came back: ask soon again, after the question that is due."""
        self._interval_ms = RETRY_MS_MIN

    def is_due(self, now_ms: int) -> bool:
        """Whether to ask now; if so, the next question is due after twice the interval."""
        if now_ms < self._due_at_ms:
            return False
        self._due_at_ms = now_ms + self._interval_ms
        self._interval_ms = min(self._interval_ms * 2, RETRY_MS_MAX)
        return True


class Questions(NamedTuple):
    """LeaderAndIsr for replicas that shall be served, and topics whose deletion is tried again."""

    leader_and_isr: list[tuple[TopicPartition, int]]
    deletions: list[str]


def questions(context: ControllerContext) -> Questions:
    """What to ask brokers with offline replicas. A topic whose deletion has begun takes no
    LeaderAndIsr any more.
    """
    asked: list[tuple[TopicPartition, int]] = []
    deleting: set[str] = set()
    for broker in context.brokers_with_offline:
        for partition in sorted(context.offline_on(broker)):
            if context.is_deletion_started(partition.topic):
                deleting.add(partition.topic)
            else:
                asked.append((partition, broker))
    return Questions(asked, sorted(deleting))
