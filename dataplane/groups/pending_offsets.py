"""Offsets that were committed within transactions which have not ended yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dataplane.groups.records import OffsetCommitValue
    from dataplane.model.ids import TopicPartition

Place = tuple[str, "TopicPartition"]
"""Group and partition."""


class _Stored(NamedTuple):
    """`number` counts what was stored, in the order of the log."""

    number: int
    value: OffsetCommitValue


class PendingOffsets:
    """By producer id. Of what is stored for a place, the latest in the log that counts stays."""

    def __init__(self) -> None:
        # None: committed, or deleted, otherwise since. It stays unstable until the marker.
        self._by_producer: dict[int, dict[Place, _Stored | None]] = {}
        self._count = 0

    def put(self, producer_id: int, place: Place, value: OffsetCommitValue) -> None:
        self._count += 1
        places = self._by_producer.setdefault(producer_id, {})
        places[place] = _Stored(self._count, value)

    def supersede(self, place: Place) -> None:
        """Something was stored for the place outside transactions: it is the latest."""
        self._supersede(place, self._count)

    def end(self, producer_id: int, *, is_commit: bool) -> dict[Place, OffsetCommitValue]:
        """Forget the producer's transaction; what it commits.

        Transactions may end in another order than they were stored in: what lies before a
        committed offset must not replace it when its own marker comes.
        """
        places = self._by_producer.pop(producer_id, {})
        if not is_commit:
            return {}
        committed = {place: stored for place, stored in places.items() if stored is not None}
        for place, stored in committed.items():
            self._supersede(place, stored.number)
        return {place: stored.value for place, stored in committed.items()}

    def _supersede(self, place: Place, up_to_number: int) -> None:
        for places in self._by_producer.values():
            stored = places.get(place)
            if stored is not None and stored.number <= up_to_number:
                places[place] = None

    def holds(self, place: Place) -> bool:
        return any(place in places for places in self._by_producer.values())

    def partitions_of(self, group_id: str) -> set[TopicPartition]:
        return {
            partition
            for places in self._by_producer.values()
            for group, partition in places
            if group == group_id
        }
