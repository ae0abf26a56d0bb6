"""Records of several partitions in one order: oldest or newest first. Pure.

The order is that of timestamps between partitions and of offsets within each. So nothing is given
away before each partition has something to compare, or nothing left; and where reading ends, each
partition has one offset at which it goes on.
"""

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from controlplane.gateway.record_port import Fetched, Record, Span
from controlplane.messages.bounds import BUFFER_BYTES_MAX, WINDOW_RECORDS_MAX

NO_TIME = -1


class Merge(Protocol):
    """Records of spans, one after the other, each once."""

    @property
    def is_done(self) -> bool: ...
    def needs(self) -> dict[int, Span]:
        """What to fetch now, by partition; empty: nothing for the moment."""
        ...

    def give(self, fetched: Fetched) -> None: ...
    def pop(self) -> Record | None:
        """The next one; None until something that is needed has come."""
        ...

    def drop(self, partitions: Collection[int]) -> None:
        """Go on without them; where they stand is kept."""
        ...

    def left(self) -> dict[int, Span]:
        """What has not been given out, of each partition: the next page's spans."""
        ...


@dataclass(slots=True)
class _Forward:
    """`at`: not given out from there; `read`: not fetched from there."""

    at: int
    read: int
    end: int
    buffer: deque[Record] = field(default_factory=deque)
    is_dropped: bool = False

    @property
    def is_over(self) -> bool:
        return self.is_dropped or (not self.buffer and self.read >= self.end)


class OldestFirst:
    """Of what does not fit in its share of the buffer the new end is read again later."""

    def __init__(self, spans: Mapping[int, Span]) -> None:
        self._bytes_max = max(BUFFER_BYTES_MAX // max(len(spans), 1), 1)
        self._parts = {
            number: _Forward(span.start, span.start, span.end) for number, span in spans.items()
        }

    @property
    def is_done(self) -> bool:
        return all(part.is_over for part in self._parts.values())

    def needs(self) -> dict[int, Span]:
        return {
            number: Span(part.read, part.end)
            for number, part in self._parts.items()
            if not part.buffer and not part.is_over
        }

    def give(self, fetched: Fetched) -> None:
        for number, following in fetched.next.items():
            part = self._parts[number]
            part.buffer.extend(fetched.records.get(number, ()))
            part.read = max(part.read, following)
            self._forget_newest(part)
            if not part.buffer:
                part.at = part.read

    def _forget_newest(self, part: _Forward) -> None:
        held = sum(record.held_bytes for record in part.buffer)
        while held > self._bytes_max and len(part.buffer) > 1:
            gone = part.buffer.pop()
            held -= gone.held_bytes
            part.read = gone.offset

    def pop(self) -> Record | None:
        if self.needs():
            return None
        heads = [
            part.buffer[0] for part in self._parts.values() if part.buffer and not part.is_dropped
        ]
        if not heads:
            return None
        first = min(heads, key=lambda record: (_time(record), record.partition))
        part = self._parts[first.partition]
        part.buffer.popleft()
        part.at = first.offset + 1
        if not part.buffer and part.read > part.at:
            part.at = part.read  # nothing lies in between
        return first

    def drop(self, partitions: Collection[int]) -> None:
        for number in partitions:
            self._parts[number].is_dropped = True

    def left(self) -> dict[int, Span]:
        return {number: Span(part.at, part.end) for number, part in self._parts.items()}


@dataclass(slots=True)
class _Backward:
    """`at`: given out down to there; the window `[low, high)` is being fetched, from `read` on."""

    start: int
    at: int
    low: int
    high: int
    read: int
    buffer: deque[Record] = field(default_factory=deque)
    coming: deque[Record] = field(default_factory=deque)
    coming_bytes: int = 0
    window: int = 1
    is_dropped: bool = False

    @property
    def is_over(self) -> bool:
        return self.is_dropped or (not self.buffer and self.at <= self.start)


class NewestFirst:
    """Windows of each partition are read forwards, from the end towards the beginning.

    What of a window does not fit in its share of the buffer is forgotten from its old end, and
    read again when its turn has come.
    """

    def __init__(self, spans: Mapping[int, Span], *, first_window: int) -> None:
        self._bytes_max = max(BUFFER_BYTES_MAX // max(len(spans), 1), 1)
        window = min(max(first_window, 1), WINDOW_RECORDS_MAX)
        self._parts = {number: self._made(span, window) for number, span in spans.items()}

    @staticmethod
    def _made(span: Span, window: int) -> _Backward:
        low = max(span.start, span.end - window)
        return _Backward(
            start=span.start, at=span.end, low=low, high=span.end, read=low, window=window
        )

    @property
    def is_done(self) -> bool:
        return all(part.is_over for part in self._parts.values())

    def needs(self) -> dict[int, Span]:
        return {
            number: Span(part.read, part.high)
            for number, part in self._parts.items()
            if not part.buffer and not part.is_over
        }

    def give(self, fetched: Fetched) -> None:
        for number, following in fetched.next.items():
            part = self._parts[number]
            for record in fetched.records.get(number, ()):
                part.coming.append(record)
                part.coming_bytes += record.held_bytes
            self._forget_oldest(part)
            part.read = max(part.read, following)
            if part.read >= part.high:
                self._turn(part)

    def _forget_oldest(self, part: _Backward) -> None:
        while part.coming_bytes > self._bytes_max and len(part.coming) > 1:
            gone = part.coming.popleft()
            part.coming_bytes -= gone.held_bytes
            part.low = gone.offset + 1
            part.window = max(part.window // 2, 1)

    def _turn(self, part: _Backward) -> None:
        """The window is read: its records may be given out, newest first."""
        part.buffer.extend(part.coming)
        part.coming.clear()
        part.coming_bytes = 0
        if not part.buffer:
            part.at = part.low
            self._next_window(part)

    @staticmethod
    def _next_window(part: _Backward) -> None:
        part.window = min(part.window * 2, WINDOW_RECORDS_MAX)
        part.high = part.at
        part.low = part.read = max(part.start, part.high - part.window)

    def pop(self) -> Record | None:
        if self.needs():
            return None
        heads = [
            part.buffer[-1] for part in self._parts.values() if part.buffer and not part.is_dropped
        ]
        if not heads:
            return None
        newest = max(heads, key=lambda record: (_time(record), -record.partition))
        part = self._parts[newest.partition]
        part.buffer.pop()
        part.at = newest.offset
        if not part.buffer:
            part.at = part.low  # nothing lies in between
            self._next_window(part)
        return newest

    def drop(self, partitions: Collection[int]) -> None:
        for number in partitions:
            self._parts[number].is_dropped = True

    def left(self) -> dict[int, Span]:
        return {number: Span(part.start, part.at) for number, part in self._parts.items()}


class AsTheyCome:
    """A live tail: whatever a partition brings, at once; it ends only with its reader."""

    END = 2**63 - 1

    def __init__(self, starts: Mapping[int, int]) -> None:
        self._at = dict(starts)
        self._buffer: deque[Record] = deque()

    is_done = False

    def needs(self) -> dict[int, Span]:
        if self._buffer:
            return {}
        return {number: Span(at, self.END) for number, at in self._at.items()}

    def give(self, fetched: Fetched) -> None:
        for number, following in fetched.next.items():
            self._buffer.extend(fetched.records.get(number, ()))
            self._at[number] = max(self._at[number], following)

    def pop(self) -> Record | None:
        return self._buffer.popleft() if self._buffer else None

    def drop(self, partitions: Collection[int]) -> None:
        for number in partitions:
            self._at.pop(number, None)

    def left(self) -> dict[int, Span]:
        """Where an ordinary page would go on."""
        found = {number: Span(at, self.END) for number, at in self._at.items()}
        for record in reversed(self._buffer):
            found[record.partition] = Span(record.offset, self.END)
        return found


def _time(record: Record) -> int:
    return NO_TIME if record.timestamp_ms is None else record.timestamp_ms
