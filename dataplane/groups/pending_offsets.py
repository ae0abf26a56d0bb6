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
    """By group, partition and producer id. Of what is stored for a place, the latest stays.

    Every commit and every fetch of stable offsets looks a place up, and a coordinator may have
    thousands of transactions open: only those that hold the place itself are looked at.
    """

    def __init__(self) -> None:
        # None: committed, or deleted, otherwise since. It stays unstable until the marker.
        self._by_group: dict[str, dict[TopicPartition, dict[int, _Stored | None]]] = {}
        self._places: dict[int, dict[Place, None]] = {}  # of each producer, in the order of the log
        self._count = 0

    def put(self, producer_id: int, place: Place, value: OffsetCommitValue) -> None:
        self._count += 1
        group_id, partition = place
        producers = self._by_group.setdefault(group_id, {}).setdefault(partition, {})
        producers[producer_id] = _Stored(self._count, value)
        self._places.setdefault(producer_id, {})[place] = None

    def supersede(self, place: Place) -> None:
        """Something was stored for the place outside transactions: it is the latest."""
        if self._by_group:
            self._supersede(place, self._count)

    def end(self, producer_id: int, *, is_commit: bool) -> dict[Place, OffsetCommitValue]:
        """Forget the producer's transaction; what it commits.

        Transactions may end in another order than they were stored in: what lies before a
        committed offset must not replace it when its own marker comes.
        """
        committed = {}
        for place in self._places.pop(producer_id, ()):
            stored = self._take(producer_id, place)
            if is_commit and stored is not None:
                self._supersede(place, stored.number)
                committed[place] = stored.value
        return committed

    def _take(self, producer_id: int, place: Place) -> _Stored | None:
        group_id, partition = place
        partitions = self._by_group[group_id]
        stored = partitions[partition].pop(producer_id)
        if not partitions[partition]:
            del partitions[partition]
        if not partitions:
            del self._by_group[group_id]
        return stored

    def _supersede(self, place: Place, up_to_number: int) -> None:
        producers = self._by_group.get(place[0], {}).get(place[1], {})
        for producer_id, stored in producers.items():
            if stored is not None and stored.number <= up_to_number:
                producers[producer_id] = None

    def holds(self, place: Place) -> bool:
        return place[1] in self._by_group.get(place[0], ())

    def partitions_of(self, group_id: str) -> set[TopicPartition]:
        return set(self._by_group.get(group_id, ()))
