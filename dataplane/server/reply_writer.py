"""Answers to the socket: small parts joined, file parts by pooled reads or by sendfile.

What was read into memory already (`log/reading/read_memory.py`) leaves from there in one `sendmsg`.
Measured beside each other under load: up to 1 MiB, what a consumer asks of a partition by default,
that is half as fast again as `sendfile` at the same CPU, and pieces of half a megabyte a fifth. The
kernel hands `sendfile`'s pages over 64 KiB at a time and wakes the reader as often. A fresh `bytes`
per read loses everywhere. One scratch buffer serves all connections of the process: a transport
sends or copies what it is given before `write` returns, or from Python 3.12 on is given a copy.

What the socket does not take at once waits here, not in the transport, and leaves piece by piece
as there is space: no task, no future, no copy.
"""

from __future__ import annotations

import errno
import logging
import mmap
import os
import socket
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator

    from dataplane.log.reading.read_memory import Held

_log = logging.getLogger(__name__)

SENDFILE_FROM_BYTES = 1024 * 1024 + 1
# File parts of several answers leave together: fewer calls, and fewer times that a reader who waits
# for more is woken. Measured at 64 KiB an answer: a fifth faster than one by one.
GATHER_BYTES = 256 * 1024
VECTOR_MAX = 256  # parts in one call; the system's own bound is 1,024
SCRATCH_BYTES = 576 * 1024
# What the socket does not take, asyncio copies up to Python 3.11; later it keeps the view itself,
# and the next answer, of whatever connection, would be written over it.
TRANSPORT_KEEPS_VIEWS = sys.version_info >= (3, 12)
# How a socket says that its peer is gone, beside what Python has a class for.
_UNREACHABLE = frozenset(
    (errno.ENOTCONN, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN)
)
_MORE_FOLLOWS = getattr(socket, "MSG_MORE", 0)

_BYTES = frozenset((bytes, bytearray, memoryview))
# Anonymous memory that the system gives page by page: a broker at rest has none of it.
_scratch = memoryview(mmap.mmap(-1, SCRATCH_BYTES))


class _Descriptor:
    """A file by a descriptor of its own, so that a segment closed meanwhile cannot be mixed up."""

    __slots__ = ("_number", "path")

    def __init__(self, file: Any) -> None:
        self._number = os.dup(file.fileno())
        self.path = file.path

    def fileno(self) -> int:
        return self._number

    def read_into(self, position: int, buffer: memoryview) -> int:
        return os.preadv(self._number, [buffer], position)

    def close(self) -> None:
        number, self._number = self._number, -1
        if number >= 0:
            os.close(number)


class _UnsentPart:
    """The rest of a file part; it shrinks as the socket takes it."""

    __slots__ = ("file", "position", "size")
    held = None

    def __init__(self, file: Any, position: int, size: int) -> None:
        self.file = _Descriptor(file) if file.fileno() >= 0 else file
        self.position = position
        self.size = size

    def close(self) -> None:
        if isinstance(self.file, _Descriptor):
            self.file.close()


class ReplyWriter:
    """Writes the parts of answers in order.

    A part is bytes-like or a slice of a log file (`file`, `position`, `size`). `is_plain`: a
    socket of the system without TLS, so the file's pages may go straight to it. `on_unreadable`
    hears why an answer could not be sent when that was not the peer's leaving.
    """

    __slots__ = (
        "_awaits_writable",
        "_is_full",
        "_loop",
        "_on_streamed",
        "_on_unreadable",
        "_parts",
        "_plain",
        "_rest",
        "_socket",
        "_transport",
        "file_bytes",
        "holds_file_parts",
        "is_streaming",
        "paused",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        transport: asyncio.Transport,
        *,
        is_plain: bool,
        on_unreadable: Callable[[OSError], None],
    ) -> None:
        self._loop = loop
        self._transport = transport
        self._plain = is_plain
        self._parts: list[Any] = []
        self._rest: list[Any] = []
        self._on_streamed: Callable[[], None]
        self._on_unreadable = on_unreadable
        self._socket: socket.socket | None = None
        self._awaits_writable = False  # the loop watches our socket for space
        self._is_full = False  # we have just met a full socket
        self.paused = False
        self.file_bytes = 0
        self.holds_file_parts = False
        self.is_streaming = False
        if is_plain:
            # `paused` then means that something waits in the transport; sendfile must not overtake.
            transport.set_write_buffer_limits(high=0)

    def add(self, reply: list[Any]) -> None:
        self._parts += reply
        if len(reply) > 1:
            self.holds_file_parts = True
            for part in reply:
                if type(part) not in _BYTES:
                    self.file_bytes += part.size

    def flush(self, on_streamed: Callable[[], None]) -> bool:
        """Write everything. True when a rest leaves later; `on_streamed` is called after that.

        True as well when the connection is at its end: nothing may be written behind what failed.
        """
        parts = self._parts
        if not parts:
            return False
        self._parts = []
        if not self.holds_file_parts:
            self._transport.write(parts[0] if len(parts) == 1 else b"".join(parts))
            return False
        self.holds_file_parts = False
        self.file_bytes = 0
        try:
            rest = parts
            if self._plain and not self.paused and len(parts) <= VECTOR_MAX:
                rest = self._send_held(parts)
            self._rest = self._write(parts) if rest is parts else rest
        except OSError as error:
            self._give_up(error)
            return True
        if not self._rest:
            return False
        self._on_streamed = on_streamed
        self.is_streaming = True
        return True

    @property
    def unsent_bytes(self) -> int:
        """What the socket has not taken yet."""
        rest = sum(len(part) if type(part) in _BYTES else part.size for part in self._rest)
        return rest + self._transport.get_write_buffer_size()

    def resumed(self) -> None:
        """The transport has space again."""
        self.paused = False
        if self.is_streaming and not self._awaits_writable:
            self._go_on()

    def close(self) -> None:
        """The connection is gone: give back what waits, forget what was to be written."""
        self._parts = []
        self.holds_file_parts = False
        self._drop_rest()
        self._stop_waiting()
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    # -- piece by piece

    def _go_on(self) -> None:
        """Write on where the socket was full."""
        self._is_full = False
        try:
            self._rest = self._write(self._rest)
        except OSError as error:
            self._give_up(error)
            return
        if not self._is_full:
            self._stop_waiting()
        if not self._rest:
            self.is_streaming = False
            self._on_streamed()

    def _give_up(self, error: OSError) -> None:
        """Half an answer has left, and the rest cannot: only the connection's end says so."""
        if isinstance(error, (ConnectionError, TimeoutError)) or error.errno in _UNREACHABLE:
            _log.debug("the peer left before its answer: %s", error)
        else:
            self._on_unreadable(error)
        self._stop_waiting()
        self._drop_rest()
        self._transport.abort()

    def _write(self, parts: list[Any]) -> list[Any]:
        """Write until the socket is full; what is left, its file parts on own descriptors."""
        fill = 0
        for number, part in enumerate(parts):
            kind = type(part)
            if kind in _BYTES:
                length = len(part)
                if fill + length <= SCRATCH_BYTES:
                    _scratch[fill : fill + length] = part
                    fill += length
                else:
                    fill = self._pass_by(part, fill)
                continue
            size = part.size
            # What once had to wait goes on as it began, however little is left of it.
            is_large = size >= SENDFILE_FROM_BYTES or kind is _UnsentPart
            if is_large and self._plain and part.file.fileno() >= 0:
                head, sent = self._send_file(part, fill)
                fill = 0
            else:
                head = []
                sent, fill = self._copy(part, fill)
            if sent < size or head:
                return [*head, _shrunk(part, sent), *map(_detached, parts[number + 1 :])]
            if kind is _UnsentPart:
                part.close()
        if fill:
            self._write_scratch(fill)
        return []

    def _send_held(self, parts: list[Any]) -> list[Any]:
        """Send what lies in memory as it lies there; what has to wait. `parts` if some does not."""
        vector: list[Any] = []
        held: Held | None = None
        size = 0
        for part in parts:
            if type(part) in _BYTES:
                vector.append(part)
                size += len(part)
                continue
            held = part.held
            if held is None or held.generation != held.memory.generation:
                return parts
            vector.append(held.data)
            size += part.size
        try:
            sent = (self._socket or self._own_socket()).sendmsg(vector)
        except (BlockingIOError, InterruptedError):
            sent = 0
        if sent < size:
            self._await_writable()
            return [*_behind(parts, sent)]
        if held is not None:
            held.memory.start_over()  # the next answers go where the caches are warm
        return []

    def _write_scratch(self, fill: int) -> None:
        """Its first `fill` bytes leave, or are copied: the buffer is free again after this."""
        data = _scratch[:fill]
        self._transport.write(bytes(data) if TRANSPORT_KEEPS_VIEWS else data)

    def _pass_by(self, data: Any, fill: int) -> int:
        """Bytes that the scratch buffer has no space for; how full it is now."""
        self._write_scratch(fill)
        length = len(data)
        if length > SCRATCH_BYTES:
            self._transport.write(data)
            return 0
        _scratch[:length] = data
        return length

    def _copy(self, part: Any, fill: int) -> tuple[int, int]:
        """A file part through the scratch buffer: bytes taken of it, fill of the buffer."""
        position, size, done = part.position, part.size, 0
        while done < size:
            if fill == SCRATCH_BYTES:
                self._write_scratch(SCRATCH_BYTES)
                fill = 0
            if self.paused:
                if fill:
                    self._write_scratch(fill)
                return done, 0
            space = _scratch[fill : fill + min(size - done, SCRATCH_BYTES - fill)]
            held = part.held and part.held.get()
            if held is None:
                count = part.file.read_into(position + done, space)
            else:
                count = len(space)
                space[:] = held[done : done + count]
            if count <= 0:
                raise _cut_short(part.file, size - done)
            fill += count
            done += count
        return done, fill

    def _send_file(self, part: Any, fill: int) -> tuple[list[bytes], int]:
        """What is in the scratch buffer, then straight from the page cache: what stays of the
        first, how much went of the second.
        """
        if self.paused:
            self._write_scratch(fill)
            return [], 0
        sock = self._own_socket()
        head, sent = _scratch[:fill], 0
        try:
            if fill:
                head = head[sock.send(head, _MORE_FOLLOWS) :]
            while sent < part.size and not head:
                count = os.sendfile(
                    sock.fileno(), part.file.fileno(), part.position + sent, part.size - sent
                )
                if count == 0:
                    raise _cut_short(part.file, part.size - sent)
                sent += count
        except (BlockingIOError, InterruptedError):
            pass
        if head or sent < part.size:
            self._await_writable()
        return [bytes(head)] if head else [], sent

    def _await_writable(self) -> None:
        """The socket is full: go on when it has space, as the loop sees."""
        self._is_full = True
        if not self._awaits_writable:
            self._awaits_writable = True
            self._loop.add_writer(self._own_socket(), self._go_on)

    def _own_socket(self) -> socket.socket:
        """The connection's socket by another descriptor: the transport keeps its own to itself."""
        if self._socket is None:
            number = self._transport.get_extra_info("socket").fileno()
            self._socket = socket.socket(fileno=os.dup(number))
            self._socket.setblocking(False)
        return self._socket

    def _stop_waiting(self) -> None:
        if self._awaits_writable and self._socket is not None:
            self._awaits_writable = False
            self._loop.remove_writer(self._socket)

    def _drop_rest(self) -> None:
        rest, self._rest = self._rest, []
        for part in rest:
            if type(part) is _UnsentPart:
                part.close()
        self.is_streaming = False


def _behind(parts: list[Any], sent: int) -> Iterator[Any]:
    """What is left of `parts` after their first `sent` bytes."""
    for part in parts:
        is_bytes = type(part) in _BYTES
        size = len(part) if is_bytes else part.size
        if sent >= size:
            sent -= size
            continue
        yield bytes(part[sent:]) if is_bytes else _shrunk(part, sent)
        sent = 0


def _shrunk(part: Any, sent: int) -> _UnsentPart:
    if type(part) is not _UnsentPart:
        return _UnsentPart(part.file, part.position + sent, part.size - sent)
    part.position += sent
    part.size -= sent
    return part


def _detached(part: Any) -> Any:
    if type(part) is _UnsentPart or type(part) in _BYTES:
        return part
    return _UnsentPart(part.file, part.position, part.size)


def _cut_short(file: Any, missing_bytes: int) -> OSError:
    return OSError(f"log file {file.path} ends {missing_bytes} bytes before the slice to send does")
