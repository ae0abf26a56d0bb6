"""Brokers in the order of their load, the least loaded first; changed in place."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator

Key = tuple[float, ...]


class ColdestFirst:
    """A sorted list: there are hundreds of brokers, and one changes place with each move."""

    def __init__(self, brokers: Iterable[int], key: Callable[[int], Key]) -> None:
        self._key = key
        self._rows = sorted((*key(broker), broker) for broker in brokers)
        self._at = {int(row[-1]): row for row in self._rows}

    def __iter__(self) -> Iterator[int]:
        return (int(row[-1]) for row in self._rows)

    def first(self) -> int:
        return int(self._rows[0][-1])

    def update(self, broker: int) -> None:
        """Its load has changed; one that is not in the list stays out."""
        old = self._at.get(broker)
        if old is None:
            return
        del self._rows[bisect_left(self._rows, old)]
        self._at[broker] = new = (*self._key(broker), broker)
        insort(self._rows, new)
