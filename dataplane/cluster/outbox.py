"""What one broker still has to be told, in order, merged while it is not being sent.

A newer state of a partition replaces an older one that has not left yet, so a slow broker costs
one request, not one per change. Merging never passes a stop: what comes after it for the same
partition waits for the next parcel.
"""

from __future__ import annotations

import dataclasses
from collections import deque

from dataplane.cluster.requests import MetadataUpdate, Stop
from dataplane.model.ids import TopicPartition


@dataclasses.dataclass(slots=True)
class Parcel:
    """One round of commands. `metadata_first`: the broker must learn of other brokers before it
    can follow them. `full`: the roles are all that the broker shall have, the metadata all topics.
    """

    roles: dict[TopicPartition, MetadataUpdate] = dataclasses.field(default_factory=dict)
    metadata: dict[TopicPartition, MetadataUpdate] = dataclasses.field(default_factory=dict)
    stops: dict[TopicPartition, Stop] = dataclasses.field(default_factory=dict)
    brokers_changed: bool = False
    metadata_first: bool = False
    full: bool = False
    last_ticket: int = 0


class Outbox:
    """Parcels waiting for one broker. Every addition gets the next ticket."""

    def __init__(self) -> None:
        self._parcels: deque[Parcel] = deque()
        self.last_ticket = 0

    def __bool__(self) -> bool:
        return bool(self._parcels)

    def take(self) -> Parcel:
        """The oldest parcel. Raises IndexError when there is none."""
        return self._parcels.popleft()

    def _open(self) -> Parcel:
        if not self._parcels:
            self._parcels.append(Parcel())
        parcel = self._parcels[-1]
        self.last_ticket += 1
        parcel.last_ticket = self.last_ticket
        return parcel

    def _open_for(self, partition: TopicPartition) -> Parcel:
        """A parcel that does not stop this partition."""
        if self._parcels and partition in self._parcels[-1].stops:
            self._parcels.append(Parcel())
        return self._open()

    def add_role(self, partition: TopicPartition, update: MetadataUpdate) -> None:
        """The broker leads or follows this partition now."""
        parcel = self._open_for(partition)
        earlier = parcel.roles.get(partition)
        if earlier is not None and earlier.is_new and not update.is_new:
            update = dataclasses.replace(update, is_new=True)
        parcel.roles[partition] = update

    def add_metadata(self, partition: TopicPartition, update: MetadataUpdate) -> None:
        parcel = self._open_for(partition)
        earlier = parcel.metadata.get(partition)
        if earlier is not None and earlier.topic_id != update.topic_id:
            self._parcels.append(Parcel())
            parcel = self._open()
        parcel.metadata[partition] = update

    def add_stop(self, partition: TopicPartition, stop: Stop) -> None:
        parcel = self._open()
        parcel.roles.pop(partition, None)
        parcel.stops[partition] = stop

    def add_brokers(self, *, metadata_first: bool = False, full: bool = False) -> None:
        """The set of live brokers has changed."""
        parcel = self._open()
        parcel.brokers_changed = True
        parcel.metadata_first = parcel.metadata_first or metadata_first
        parcel.full = parcel.full or full
