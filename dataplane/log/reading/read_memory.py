"""Memory that fetches read ahead of their answers into: one piece for a whole broker.

What is read here is known by its content, so where the last whole batch ends needs no look into an
index, and it leaves for the socket from here. Nobody gives memory back: whoever takes takes from
the front again when the end is reached, and what was read there before counts as not read.
"""

from __future__ import annotations

from typing import Final, NamedTuple

CAPACITY_BYTES: Final = 2 << 20
TAKEN_BYTES_MAX: Final = 1 << 20
"""More than this is better copied from file to socket piece by piece."""


class ReadMemory:
    """All calls come from one thread."""

    __slots__ = ("_data", "_used", "generation")

    def __init__(self) -> None:
        self._data = memoryview(b"")
        self._used = 0
        self.generation = 0

    @property
    def size_bytes(self) -> int:
        """What it takes: nothing before it is used."""
        return len(self._data)

    def take(self, size: int) -> memoryview:
        """`size` bytes, at most TAKEN_BYTES_MAX; what was taken long before may be among them."""
        if self._used + size > len(self._data):
            self.start_over()
        self._used += size
        return self._data[self._used - size : self._used]

    def give_back(self, size: int) -> None:
        """Of what was taken last, the last `size` bytes are not needed."""
        self._used -= size

    def start_over(self) -> None:
        """What was taken before counts as not read; for who has sent it, and the memory is warm."""
        if not self._data:
            self._data = memoryview(bytearray(CAPACITY_BYTES))
        self._used = 0
        self.generation += 1


class Held(NamedTuple):
    """Bytes in a ReadMemory, as long as it has not started over."""

    memory: ReadMemory
    generation: int
    data: memoryview

    def get(self) -> memoryview | None:
        return self.data if self.memory.generation == self.generation else None
