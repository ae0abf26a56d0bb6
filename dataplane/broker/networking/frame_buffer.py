"""The growable, bounded receive buffer of one connection; frames are views into it.

A frame is parsed in place and consumed before the next read, so a view never outlives its bytes.
The buffer grows only as bytes really arrive: a hostile size field costs nothing.
"""

from __future__ import annotations

import struct
from typing import Protocol

from dataplane.wire.apis import ApiKey

_SIZE = struct.Struct(">i")
_SIZE_AND_KEY = struct.Struct(">ih")
_PRODUCE = 0
REQUESTS_OF_LISTS = frozenset(
    int(key)
    for key in (
        ApiKey.LIST_OFFSETS,
        ApiKey.METADATA,
        ApiKey.OFFSET_FETCH,
        ApiKey.FIND_COORDINATOR,
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.DELETE_TOPICS,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.DESCRIBE_LOG_DIRS,
        ApiKey.DELETE_GROUPS,
        ApiKey.OFFSET_DELETE,
        ApiKey.DESCRIBE_PRODUCERS,
        ApiKey.DESCRIBE_TRANSACTIONS,
        ApiKey.LIST_TRANSACTIONS,
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    )
)
"""Requests that are little else than names, numbers or ids: a megabyte holds tens of thousands."""

INITIAL_BYTES = 16 * 1024
# From this size on a read is cut at the frame's end, so that the next frame starts at the
# buffer's head and is never moved.
ALIGN_FROM_BYTES = 128 * 1024
# What one read may bring when nothing is known about the next frame.
READ_AHEAD_BYTES = 256 * 1024
SPACE_MIN_BYTES = 4 * 1024


class FrameError(Exception):
    """A size field that no honest peer sends: the connection cannot be understood any more."""


class BufferOwner(Protocol):
    """A connection, as the budget of all receive buffers sees it."""

    last_active_s: float
    """When its last bytes arrived, on the clock of `ReceiveBudget.relieve`."""

    @property
    def is_waiting(self) -> bool:
        """A request of it is in work."""
        ...

    def pause(self) -> None:
        """There is no space: read no more."""
        ...

    def resume(self) -> None:
        """The buffer has grown: read on."""
        ...

    def abort_unfinished(self) -> None:
        """Close, and release the buffer before returning."""
        ...


class BufferBudget(Protocol):
    """What the buffers of all connections may hold together, as one of them sees it."""

    def ask(self, buffer: FrameBuffer) -> bool:
        """Book what `buffer` asks for. False: it waits, and its owner is paused."""
        ...

    def can_spare(self, count: int) -> bool:
        """Whether `count` bytes may be had for convenience."""
        ...

    def give_back(self, buffer: FrameBuffer, count: int) -> None:
        """`buffer` holds `count` bytes fewer than before."""
        ...

    def leave(self, buffer: FrameBuffer) -> None:
        """`buffer` waits no more."""
        ...


class _Nobody:
    """Owns what is not in use, so that a buffer and its connection do not keep each other."""

    last_active_s = 0.0
    is_waiting = False

    def pause(self) -> None:
        pass

    resume = abort_unfinished = pause


_NOBODY = _Nobody()


class FrameBuffer:
    """Bytes in, whole frames out.

    `frame_bytes_max` bounds every frame; `bound_requests` bounds all requests but Produce further.
    Answers of peers have no API key in front: their buffer has that one bound alone. With a
    budget there is an owner too, who reads no more while `is_starved`: then there may be no space
    to read into.
    """

    __slots__ = (
        "_aligned_bytes",
        "_budget",
        "_data",
        "_end",
        "_list_bytes_max",
        "_other_bytes_max",
        "_start",
        "_view",
        "asked_bytes",
        "frame_bytes_max",
        "owner",
        "wanted_bytes",
    )

    def __init__(
        self,
        frame_bytes_max: int,
        budget: BufferBudget | None = None,
        owner: BufferOwner = _NOBODY,
    ) -> None:
        self.frame_bytes_max = frame_bytes_max
        self._other_bytes_max = frame_bytes_max
        self._list_bytes_max = frame_bytes_max
        self._budget = budget
        self.owner = owner
        self.asked_bytes = 0  # by which it shall grow once the budget has space
        self._data = bytearray(INITIAL_BYTES)
        self._view = memoryview(self._data)
        self._start = 0
        self._end = 0
        self.wanted_bytes = 0  # size with prefix of the frame at `_start`, 0 = not known yet
        self._aligned_bytes = 0  # size of the last large frame; its successors are often alike

    def bound_requests(self, *, other_bytes_max: int, list_bytes_max: int) -> None:
        """Bound requests that are little else than lists of names, and all others but Produce."""
        self._other_bytes_max = min(other_bytes_max, self.frame_bytes_max)
        self._list_bytes_max = min(list_bytes_max, self._other_bytes_max)

    @property
    def buffered_bytes(self) -> int:
        return self._end - self._start

    @property
    def capacity_bytes(self) -> int:
        return len(self._data)

    @property
    def held_bytes(self) -> int:
        """What it has grown by."""
        return len(self._data) - INITIAL_BYTES

    @property
    def is_starved(self) -> bool:
        """It waits for space in the budget; until then nothing may be read."""
        return self.asked_bytes > 0

    @property
    def missing_bytes(self) -> int:
        """How much of the frame at the head has not arrived; 0 when its size is unknown."""
        return max(0, self.wanted_bytes - (self._end - self._start))

    def writable(self) -> memoryview:
        """Where the next read goes; never empty."""
        if self._start == self._end:
            self._start = self._end = 0
            if self._aligned_bytes:
                return self._view[: self._aligned_bytes]
        wanted = self.wanted_bytes
        if len(self._data) - self._end < SPACE_MIN_BYTES or self._start + wanted > len(self._data):
            self._compact()
        if wanted >= ALIGN_FROM_BYTES:
            return self._view[self._end : self._start + wanted]
        return self._view[self._end :]

    def written(self, count: int) -> None:
        self._end += count

    def next_frame(self) -> memoryview | None:
        """The next whole frame without its size prefix, or None. Raises FrameError."""
        start = self._start
        available = self._end - start
        if available < 4:
            self.wanted_bytes = 0
            if self._end == len(self._data) < READ_AHEAD_BYTES:
                self._read_ahead()
            return None
        (size,) = _SIZE.unpack_from(self._data, start)
        if size < 0 or size > self.frame_bytes_max:
            raise FrameError(f"frame of {size} bytes; 0 to {self.frame_bytes_max} are allowed")
        if size > self._list_bytes_max and available >= _SIZE_AND_KEY.size:
            self._check_key(start)
        wanted = size + 4
        if available < wanted:
            self.wanted_bytes = wanted
            if wanted > len(self._data):
                self._grow_towards(wanted)
            elif self._end == len(self._data) < READ_AHEAD_BYTES:
                self._read_ahead()
            return None
        self.wanted_bytes = 0
        self._aligned_bytes = wanted if ALIGN_FROM_BYTES <= wanted <= len(self._data) else 0
        self._start = start + wanted
        return self._view[start + 4 : start + wanted]

    def push_back(self, frame: memoryview) -> None:
        """Undo the last `next_frame`: its frame is worked on later."""
        self._start -= len(frame) + 4

    def grow(self) -> None:
        """The budget has booked what was asked for."""
        asked, self.asked_bytes = self.asked_bytes, 0
        self._replace(len(self._data) + asked)

    def shrink(self) -> None:
        """Give a grown buffer back when nothing is in it."""
        if self._start == self._end and len(self._data) > INITIAL_BYTES:
            self._give_back()

    def release(self) -> None:
        """The connection is gone; nothing is read any more."""
        if self.asked_bytes and self._budget is not None:
            self.asked_bytes = 0
            self._budget.leave(self)
        self.owner = _NOBODY
        if len(self._data) > INITIAL_BYTES:
            self._start = self._end = 0
            self._give_back()

    def _give_back(self) -> None:
        held = self.held_bytes
        self._replace(INITIAL_BYTES)
        self._aligned_bytes = 0
        if self._budget is not None:
            self._budget.give_back(self, held)

    def _check_key(self, start: int) -> None:
        size, key = _SIZE_AND_KEY.unpack_from(self._data, start)
        allowed = self._list_bytes_max if key in REQUESTS_OF_LISTS else self._other_bytes_max
        if key != _PRODUCE and size > allowed:
            raise FrameError(f"request of {size} bytes with API key {key}; {allowed} are allowed")

    def _grow_towards(self, wanted: int) -> None:
        """Grow as bytes arrive: to four times the present size at most, once that is full."""
        if self.asked_bytes or len(self._data) - self._end >= SPACE_MIN_BYTES:
            return
        target = max(wanted, READ_AHEAD_BYTES)
        capacity = min(target, max(4 * len(self._data), READ_AHEAD_BYTES))
        if self._budget is None:
            self._replace(capacity)
            return
        self.asked_bytes = capacity - len(self._data)
        if self._budget.ask(self):
            self.grow()

    def _read_ahead(self) -> None:
        """A read has filled the buffer: there is more to come. Space that others want is left."""
        count = READ_AHEAD_BYTES - len(self._data)
        if self._budget is None:
            self._replace(READ_AHEAD_BYTES)
        elif not self.asked_bytes and self._budget.can_spare(count):
            self.asked_bytes = count
            if self._budget.ask(self):
                self.grow()

    def _compact(self) -> None:
        have = self._end - self._start
        self._view[:have] = self._view[self._start : self._end]
        self._start, self._end = 0, have

    def _replace(self, capacity: int) -> None:
        have = self._end - self._start
        data = bytearray(capacity)
        view = memoryview(data)
        view[:have] = self._view[self._start : self._end]
        self._data, self._view = data, view
        self._start, self._end = 0, have
