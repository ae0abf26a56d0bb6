"""Which places have an offset on its way: written, and not committed by the replicas yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.groups.pending_offsets import Place
    from dataplane.model.ids import TopicPartition


class InFlight:
    """How many writes each place waits for."""

    def __init__(self) -> None:
        self._writes: dict[Place, int] = {}

    def __contains__(self, place: Place) -> bool:
        return place in self._writes

    def add(self, places: Iterable[Place]) -> None:
        writes = self._writes
        for place in places:
            writes[place] = writes.get(place, 0) + 1

    def remove(self, places: Iterable[Place]) -> None:
        """Of what was added before; KeyError otherwise."""
        writes = self._writes
        for place in places:
            left = writes[place] - 1
            if left:
                writes[place] = left
            else:
                del writes[place]

    def partitions_of(self, group_id: str) -> set[TopicPartition]:
        return {partition for group, partition in self._writes if group == group_id}
