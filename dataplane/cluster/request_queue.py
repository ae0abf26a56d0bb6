"""Requests that one broker still has to get, in order, merged while they are not being sent.

A newer state of a partition replaces an older one that has not left yet, so a slow broker costs
one request, not one per change. Merging never passes a stop: what comes after it for the same
partition waits for the next round. So does a topic that was made again under a name that the round
has with another id: a request names a topic once.
"""

from __future__ import annotations

import dataclasses
import enum
import uuid
from collections import deque

from dataplane.cluster.requests import MetadataUpdate, Stop
from dataplane.model.ids import TopicPartition


class RequestKind(enum.Enum):
    """The controller's requests to a broker."""

    LEADER_AND_ISR = "LeaderAndIsr"
    UPDATE_METADATA = "UpdateMetadata"
    STOP_REPLICA = "StopReplica"


@dataclasses.dataclass(slots=True)
class PendingRequests:
    """One round of requests. `metadata_first`: the broker must learn of other brokers before it
    can follow them. `full`: LeaderAndIsr names all that the broker shall have, UpdateMetadata all
    topics.
    """

    leader_and_isr: dict[TopicPartition, MetadataUpdate] = dataclasses.field(default_factory=dict)
    update_metadata: dict[TopicPartition, MetadataUpdate] = dataclasses.field(default_factory=dict)
    stop_replica: dict[TopicPartition, Stop] = dataclasses.field(default_factory=dict)
    topic_ids: dict[str, uuid.UUID] = dataclasses.field(default_factory=dict)
    brokers_changed: bool = False
    metadata_first: bool = False
    full: bool = False
    last_ticket: int = 0

    def in_order(self) -> list[RequestKind]:
        """The requests of this round, as they are to be sent.

        A broker sets aside what a full LeaderAndIsr does not name: what is to be deleted there is
        stopped before.
        """
        kinds: list[RequestKind] = []
        has_metadata = bool(self.update_metadata) or self.brokers_changed
        if has_metadata and self.metadata_first:
            kinds.append(RequestKind.UPDATE_METADATA)
        if self.stop_replica and self.full:
            kinds.append(RequestKind.STOP_REPLICA)
        if self.leader_and_isr or self.full:
            kinds.append(RequestKind.LEADER_AND_ISR)
        if has_metadata and not self.metadata_first:
            kinds.append(RequestKind.UPDATE_METADATA)
        if self.stop_replica and not self.full:
            kinds.append(RequestKind.STOP_REPLICA)
        return kinds


class BrokerRequestQueue:
    """Rounds that wait for one broker. Every addition gets the next ticket."""

    def __init__(self) -> None:
        self._rounds: deque[PendingRequests] = deque()
        self.last_ticket = 0

    def __bool__(self) -> bool:
        return bool(self._rounds)

    def take(self) -> PendingRequests:
        """The oldest round. Raises IndexError when there is none."""
        return self._rounds.popleft()

    def _open(self) -> PendingRequests:
        if not self._rounds:
            self._rounds.append(PendingRequests())
        pending = self._rounds[-1]
        self.last_ticket += 1
        pending.last_ticket = self.last_ticket
        return pending

    def _open_for(self, partition: TopicPartition, topic_id: uuid.UUID) -> PendingRequests:
        """A round that neither stops this partition nor has its topic's name with another id."""
        if self._rounds:
            last = self._rounds[-1]
            known = last.topic_ids.get(partition.topic, topic_id)
            if partition in last.stop_replica or known != topic_id:
                self._rounds.append(PendingRequests())
        pending = self._open()
        pending.topic_ids[partition.topic] = topic_id
        return pending

    def add_leader_and_isr(self, partition: TopicPartition, update: MetadataUpdate) -> None:
        """The broker leads or follows this partition now."""
        pending = self._open_for(partition, update.topic_id)
        earlier = pending.leader_and_isr.get(partition)
        if earlier is not None and earlier.is_new and not update.is_new:
            update = dataclasses.replace(update, is_new=True)
        pending.leader_and_isr[partition] = update

    def add_update_metadata(self, partition: TopicPartition, update: MetadataUpdate) -> None:
        pending = self._open_for(partition, update.topic_id)
        pending.update_metadata[partition] = update

    def add_stop_replica(self, partition: TopicPartition, stop: Stop) -> None:
        """The broker's replica stops, and perhaps its data goes.

        A full LeaderAndIsr that has not left goes on naming a replica that only stops: the broker
        would set its log aside. The stop follows in a round of its own.
        """
        if self._rounds and self._rounds[-1].full and not stop.delete:
            self._rounds.append(PendingRequests())
        pending = self._open()
        pending.leader_and_isr.pop(partition, None)
        pending.stop_replica[partition] = stop

    def add_brokers(self, *, metadata_first: bool = False, full: bool = False) -> None:
        """The set of live brokers has changed."""
        pending = self._open()
        pending.brokers_changed = True
        pending.metadata_first = pending.metadata_first or metadata_first
        pending.full = pending.full or full
