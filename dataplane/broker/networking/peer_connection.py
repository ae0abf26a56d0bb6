"""A client connection to another broker: requests by correlation id, many in flight."""

from __future__ import annotations

import asyncio
import itertools
import logging
from typing import TYPE_CHECKING, Any, cast

from dataplane.broker.networking.frame_buffer import FrameBuffer, FrameError
from dataplane.wire.apis import load
from dataplane.wire.codec import decode
from dataplane.wire.errors import WireError
from dataplane.wire.headers import encode_request_frame, parse_response_header

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.wire.schema import Message

    # Called with the response frame and the body's position, or with None when it will not come.
    # The frame is a view that must not be kept.
    FrameCallback = Callable[[memoryview | None, int], None]

_log = logging.getLogger(__name__)

RESPONSE_BYTES_MAX = 256 * 1024 * 1024


class PeerUnavailableError(ConnectionError):
    """The broker could not be reached, or the connection broke before the answer came."""


class PeerConnection(asyncio.BufferedProtocol):
    """One connection; closes as a whole when anything about it is wrong."""

    def __init__(self, client_id: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._client_id = client_id
        self._buffer = FrameBuffer(RESPONSE_BYTES_MAX)
        self._transport: asyncio.Transport
        self._ids = itertools.count(1)
        self._waiting: dict[int, tuple[int, int, FrameCallback]] = {}
        self.closed = False

    # -- asyncio's calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        return self._buffer.writable()

    def buffer_updated(self, nbytes: int) -> None:
        self._buffer.written(nbytes)
        try:
            while (frame := self._buffer.next_frame()) is not None:
                self._deliver(frame)
        except (FrameError, WireError) as error:
            _log.warning("closing the connection to a peer: %s", error)
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self.closed = True
        waiting, self._waiting = self._waiting, {}
        for _key, _version, callback in waiting.values():
            callback(None, 0)

    # -- requests

    def send(self, message: Message, version: int, callback: FrameCallback) -> int:
        """Send one request; `callback` gets the answer's frame. Returns its correlation id."""
        correlation_id = next(self._ids)
        frame = encode_request_frame(message, version, correlation_id, self._client_id)
        return self.send_frame(frame, message.API_KEY, version, correlation_id, callback)

    def send_frame(
        self,
        frame: bytes | bytearray,
        api_key: int,
        version: int,
        correlation_id: int,
        callback: FrameCallback,
    ) -> int:
        """Send a request that is encoded already, size prefix included."""
        if self.closed:
            callback(None, 0)
            return correlation_id
        self._waiting[correlation_id] = (api_key, version, callback)
        self._transport.write(frame)
        return correlation_id

    def forget(self, correlation_id: int) -> None:
        """Nobody waits for this answer any more; it is dropped when it comes."""
        entry = self._waiting.get(correlation_id)
        if entry is not None:
            self._waiting[correlation_id] = (*entry[:2], _ignore)

    async def request(self, message: Message, version: int, *, timeout_ms: int) -> Any:
        """Send and await the decoded response. PeerUnavailableError, TimeoutError, WireError."""
        future: asyncio.Future[Any] = self._loop.create_future()
        response_class = load(message.API_KEY)[1]

        def arrived(frame: memoryview | None, position: int) -> None:
            if future.done():
                return
            if frame is None:
                future.set_exception(PeerUnavailableError("the connection to the peer broke"))
                return
            try:
                future.set_result(decode(response_class, version, frame, position)[0])
            except WireError as error:
                future.set_exception(error)

        correlation_id = self.send(message, version, arrived)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                return await future
        finally:
            if not future.done() or future.cancelled():
                self.forget(correlation_id)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._transport.abort()

    def _deliver(self, frame: memoryview) -> None:
        if len(frame) < 4:
            raise WireError("response shorter than its header")
        entry = self._waiting.pop(int.from_bytes(frame[:4], "big"), None)
        if entry is None:
            raise WireError("response to a request that was not sent")
        key, version, callback = entry
        _correlation_id, position = parse_response_header(frame, key, version)
        callback(frame, position)


def _ignore(_frame: memoryview | None, _position: int) -> None:
    pass
