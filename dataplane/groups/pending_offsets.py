"""Offsets that were committed within transactions which have not ended yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.groups.records import OffsetCommitValue
    from dataplane.model.ids import TopicPartition

Place = tuple[str, "TopicPartition"]
"""Group and partition."""


class PendingOffsets:
    """By producer id, in the order of the log: whatever comes later for a place replaces it."""

    def __init__(self) -> None:
        # None: committed, or deleted, otherwise since. It stays unstable until the marker.
        self._by_producer: dict[int, dict[Place, OffsetCommitValue | None]] = {}

    def put(self, producer_id: int, place: Place, value: OffsetCommitValue) -> None:
        self._by_producer.setdefault(producer_id, {})[place] = value

    def supersede(self, place: Place) -> None:
        """Something was stored for the place outside transactions: it is the latest."""
        for places in self._by_producer.values():
            if place in places:
                places[place] = None

    def end(self, producer_id: int) -> dict[Place, OffsetCommitValue]:
        """Forget the producer's transaction; what it would have committed."""
        places = self._by_producer.pop(producer_id, {})
        return {place: value for place, value in places.items() if value is not None}

    def holds(self, place: Place) -> bool:
        return any(place in places for places in self._by_producer.values())

    def partitions_of(self, group_id: str) -> set[TopicPartition]:
        return {
            partition
            for places in self._by_producer.values()
            for group, partition in places
            if group == group_id
        }
