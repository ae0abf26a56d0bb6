"""What the receive buffers of all connections may hold together, and who waits for space.

A connection that finds no space stops reading (Kafka mutes its channel) and waits in line; what
others give back goes to the first in line that it is enough for. Once the head of the line has
waited for a while, nobody passes it any more. Buffers grow while bytes arrive, so connections hold
space while they wait for more: when that does not help the head either, somebody has to go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.broker.networking.frame_buffer import FrameError

if TYPE_CHECKING:
    from dataplane.broker.networking.frame_buffer import FrameBuffer

# So long those with smaller wishes may pass the head of the line: small frames end soon.
FAVOUR_AFTER_S = 1.0
# A head that waits for so long waits in vain: a frame under way at even 1 MiB/s has ended, or
# grown, by then.
PATIENCE_S = 2.0
# A connection that has space and sends nothing for so long, in the middle of a frame, has stopped.
QUIET_S = 2.0


class ReceiveBudget:
    """Counts what buffers hold beyond their first piece; never more than `bytes_max`.

    `refused` connections were closed for space, `pauses` is how often one had to stop reading.
    The line holds connections and nothing of its own, so the listeners' limits bound it.
    """

    __slots__ = (
        "_favoured",
        "_head",
        "_holders",
        "_is_clearing",
        "_line",
        "bytes_max",
        "pauses",
        "refused",
        "used_bytes",
    )

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.used_bytes = 0
        self.refused = 0
        self.pauses = 0
        self._head: tuple[FrameBuffer, float] | None = None  # of the line, and seen since when
        self._favoured: FrameBuffer | None = None  # a head that nobody may pass
        self._is_clearing = False
        self._holders: dict[FrameBuffer, None] = {}
        self._line: dict[FrameBuffer, None] = {}

    @property
    def paused(self) -> int:
        """How many connections wait for space."""
        return len(self._line)

    @property
    def is_short(self) -> bool:
        """Somebody waits: whoever holds more than it needs gives it back at once."""
        return bool(self._line)

    def ask(self, buffer: FrameBuffer) -> bool:
        """Book what `buffer` asks for. False: it waits in line, and its owner was paused.

        FrameError when it asks for more than there is at all.
        """
        if buffer.held_bytes + buffer.asked_bytes > self.bytes_max:
            self.refused += 1
            raise FrameError(
                f"a frame that takes {buffer.held_bytes + buffer.asked_bytes} bytes; all receive "
                f"buffers together may take {self.bytes_max}"
            )
        if not self._line and not self._has_space_for(buffer):
            self._reclaim()
        if self._favoured not in self._line and self._has_space_for(buffer):
            self._book(buffer)
            return True
        self._line[buffer] = None
        self.pauses += 1
        buffer.owner.pause()
        return False

    def can_spare(self, count: int) -> bool:
        """Whether `count` bytes may be had for convenience: half of it all stays for needs."""
        return not self._line and self.used_bytes + count <= self.bytes_max // 2

    def give_back(self, buffer: FrameBuffer, count: int) -> None:
        """`buffer` holds its first piece alone again, `count` bytes fewer than before."""
        self.used_bytes -= count
        self._holders.pop(buffer, None)
        self._serve()

    def leave(self, buffer: FrameBuffer) -> None:
        """`buffer` waits no more: its connection is gone."""
        if buffer in self._line:
            del self._line[buffer]
            self._serve()

    def relieve(self, now_s: float) -> None:
        """Be called about every second: when the head of the line stays there, make space for it.

        Whose connections are closed: first those that had space and went quiet in the middle of a
        frame, the quietest first; then those in line, for none of them can go on, the one that
        holds most first (the last comer among equals); then who still sends; then who waits for an
        answer of ours.
        """
        head = next(iter(self._line), None)
        if head is None:
            self._head = self._favoured = None
        elif self._head is None or self._head[0] is not head:
            self._head = (head, now_s)
        elif now_s - self._head[1] >= PATIENCE_S:
            self._clear(now_s)
        elif now_s - self._head[1] >= FAVOUR_AFTER_S:
            self._favoured = head

    def _clear(self, now_s: float) -> None:
        places = {buffer: place for place, buffer in enumerate(self._line)}
        victims = sorted(self._holders, key=lambda each: _rank(each, places.get(each), now_s))
        self._is_clearing = True  # else those behind the head would take what is gathered for it
        for victim in victims:
            head = next(iter(self._line), None)
            if head is None or self._has_space_for(head):
                break
            self.refused += 1
            victim.owner.abort_unfinished()
        self._is_clearing = False
        self._serve()

    def _has_space_for(self, buffer: FrameBuffer) -> bool:
        return self.used_bytes + buffer.asked_bytes <= self.bytes_max

    def _book(self, buffer: FrameBuffer) -> None:
        self.used_bytes += buffer.asked_bytes
        self._holders[buffer] = None

    def _serve(self) -> None:
        if self._is_clearing:
            return
        for buffer in list(self._line):
            if self._has_space_for(buffer):
                del self._line[buffer]
                self._book(buffer)
                buffer.grow()
                buffer.owner.resume()
            elif buffer is self._favoured:
                return

    def _reclaim(self) -> None:
        """Buffers stay grown for the next frame of their connection while there is space."""
        for buffer in list(self._holders):
            buffer.shrink()


def _rank(buffer: FrameBuffer, place: int | None, now_s: float) -> tuple[float, ...]:
    owner = buffer.owner
    quiet_s = now_s - owner.last_active_s
    if owner.is_waiting:
        return (3, -buffer.held_bytes)
    if place is not None:
        return (1, -buffer.held_bytes, -place)
    if quiet_s >= QUIET_S:
        return (0, -quiet_s)
    return (2, -buffer.held_bytes)
