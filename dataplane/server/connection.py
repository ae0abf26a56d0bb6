"""One client connection: frames in, answers out in the order of their requests.

Requests are worked on one at a time, as in Kafka, with one widening: a Produce that only waits
for its replicas does not hold back the next Produce behind it. Its append is done; only the
answer waits, in its place in the queue. Parsing goes on in place and nothing is copied.
"""

from __future__ import annotations

import asyncio
import collections
import logging
import socket
from typing import TYPE_CHECKING, Any, Protocol, cast

from dataplane.broker.context import CloseConnection
from dataplane.broker.delayed.deferred import Deferred
from dataplane.broker.networking.frame_buffer import SPACE_MIN_BYTES, FrameBuffer, FrameError
from dataplane.broker.replicas.staged_appends import StagedAnswer
from dataplane.server.ended_session import EndedSession
from dataplane.server.large_requests import LARGE_FROM_BYTES
from dataplane.server.reply_writer import GATHER_BYTES, ReplyWriter

if TYPE_CHECKING:
    import ssl

    from dataplane.broker.context import ConnectionInfo
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.networking.receive_budget import ReceiveBudget
    from dataplane.quotas.connections import Verdict
    from dataplane.server.answers import Answer, Reply
    from dataplane.server.dispatch import Dispatcher
    from dataplane.server.listener_limits import ListenerLimits
    from dataplane.server.rate_limited_log import RateLimitedLog

_log = logging.getLogger(__name__)

# Answers of one connection that may wait at the same time (Produce with acks=all).
PIPELINE_MAX = 64
# Up to this size requests are limited before SASL has succeeded (Kafka:
# sasl.server.max.receive.size).
UNAUTHENTICATED_FRAME_BYTES_MAX = 512 * 1024
# Whatever is not a Produce is decoded into objects that take many times its bytes.
REQUEST_BYTES_MAX = 8 * 1024 * 1024
# Nor may what is little else than a list of names, of which a megabyte holds tens of thousands.
LIST_BYTES_MAX = 1024 * 1024
# Above this a partly arrived frame wakes the loop only when a good piece of it is there.
LOW_WATER_FROM_BYTES = 512 * 1024


class ConnectionOwner(Protocol):
    """A listener, as the connections that it has accepted see it."""

    receive_budget: ReceiveBudget
    metrics: Metrics
    limits: ListenerLimits
    rate_limited_log: RateLimitedLog

    @property
    def frame_bytes_max(self) -> int: ...

    def connection_info(self, client_host: str) -> ConnectionInfo: ...

    def identify(self, info: ConnectionInfo, tls: ssl.SSLObject) -> bool:
        """Who a certificate says it is; False: nobody, and the connection is to be closed."""
        ...

    def admit(self, connection: Connection) -> Verdict:
        """Whether it may stay, and how long it has to wait for what is done with it."""
        ...

    def close_late(self, connection: Connection, wait_ms: int) -> None: ...

    def forget(self, connection: Connection) -> None: ...


class Connection(asyncio.BufferedProtocol):
    """The protocol object that asyncio drives; owned by its listener."""

    __slots__ = (
        "_buffer",
        "_closes_when_streamed",
        "_dispatcher",
        "_exclusive",
        "_listener",
        "_live_dispatcher",
        "_low_water",
        "_processing",
        "_queue",
        "_reading_paused",
        "_resumes",
        "_session_timer",
        "_socket",
        "_staged",
        "_transport",
        "_write_paused",
        "_writer",
        "closed",
        "info",
        "last_active_s",
        "loop",
        "unsent_seen",
    )

    def __init__(self, listener: ConnectionOwner, dispatcher: Dispatcher) -> None:
        self.loop = asyncio.get_running_loop()
        self._listener = listener
        self._dispatcher: Dispatcher | EndedSession = dispatcher
        self._live_dispatcher = dispatcher
        self._session_timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport
        self._socket: socket.socket | None = None
        self._writer: ReplyWriter
        self._buffer = FrameBuffer(UNAUTHENTICATED_FRAME_BYTES_MAX, listener.receive_budget, self)
        self._queue: collections.deque[Deferred[Reply | None]] = collections.deque()
        self._staged: list[StagedAnswer] = []  # empty whenever the loop has control
        self._exclusive = False  # a request is in work that nothing may overtake
        self._processing = False
        self._resumes = False  # in the loop's next step
        self._reading_paused = False
        self._write_paused = False
        self._low_water = 1
        self._closes_when_streamed = False
        self.closed = False
        self.last_active_s = self.loop.time()
        self.unsent_seen = 0
        """What `unsent_bytes` was when it was last looked at."""
        self.info: ConnectionInfo

    # -- asyncio's calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.info = self._listener.connection_info(peer[0] if peer else "")
        if self.info.authenticated:
            self.authenticated()
        if transport.get_extra_info("sslcontext") is None:
            self._socket = transport.get_extra_info("socket")
        send_bytes = self._listener.limits.send_buffer_bytes
        if send_bytes >= 0:
            accepted: socket.socket = transport.get_extra_info("socket")
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_bytes)
        is_plain = self._socket is not None
        self._writer = ReplyWriter(
            self.loop, self._transport, is_plain=is_plain, on_unreadable=self._unreadable
        )
        tls = transport.get_extra_info("ssl_object")
        is_known = tls is None or self._listener.identify(self.info, tls)
        verdict = self._listener.admit(self)
        if verdict.is_admitted and is_known:
            if verdict.wait_ms:
                self.mute(verdict.wait_ms)
        elif verdict.wait_ms and not verdict.is_admitted:
            self.closed = True
            self._transport.pause_reading()
            self._listener.close_late(self, verdict.wait_ms)
        else:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        self.session_lasts(None)
        while self._queue:
            self._queue.popleft().abandon()
        self._buffer.release()
        self._writer.close()
        self._listener.forget(self)
        if exc is not None and not isinstance(exc, OSError):
            _log.debug("connection from %s lost: %s", self.info.client_host, exc)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        return self._buffer.writable()

    def buffer_updated(self, nbytes: int) -> None:
        self._buffer.written(nbytes)
        self.last_active_s = self.loop.time()
        self._process()

    def eof_received(self) -> bool:
        return False

    def pause_writing(self) -> None:
        self._write_paused = True
        self._writer.paused = True

    def resume_writing(self) -> None:
        self._write_paused = False
        self._writer.resumed()
        self._process()

    # -- requests

    def _process(self) -> None:
        """Work on buffered frames until something must be waited for."""
        if self._processing:
            return
        if self._writer.is_streaming:
            self._govern_reading()
            return
        self._processing = True
        try:
            self._work()
        except FrameError as error:
            self._listener.metrics.bad_frames.inc()
            host = self.info.client_host
            self._listener.rate_limited_log.warn(host, "closing %s: %s", host, error)
            self._finish()
        except CloseConnection as reason:
            host = self.info.client_host
            self._listener.rate_limited_log.warn(host, "closing %s: %s", host, reason)
            self._finish()
        except Exception:  # noqa: BLE001 - whatever it was, only this connection may suffer
            _log.exception("closing %s: its request broke the connection", self.info.client_host)
            self._finish()
        finally:
            self._processing = False

    def _work(self) -> None:
        buffer, writer, dispatcher, queue = (
            self._buffer,
            self._writer,
            self._dispatcher,
            self._queue,
        )
        staged = self._staged
        is_drained = False
        while not (self._exclusive or self._write_paused or self.closed):
            if len(queue) + len(staged) >= PIPELINE_MAX and self._is_pipeline_full():
                break
            frame = buffer.next_frame()
            if frame is None:
                is_drained = not buffer.wanted_bytes
                break
            if (queue and not dispatcher.may_overtake_waiting(frame, queue[-1].pipelined)) or (
                len(frame) > LARGE_FROM_BYTES and self._is_put_off(frame)
            ):
                buffer.push_back(frame)
                break
            answer = dispatcher.submit(self, frame)
            if isinstance(answer, StagedAnswer):
                if not (staged and staged[-1] is answer):  # it takes several requests
                    staged.append(answer)
                continue
            if staged:
                self._finish_staged()
            if type(answer) is list and not queue:
                writer.add(answer)
            else:
                self._take(answer)
            if writer.file_bytes >= GATHER_BYTES and self._flush():
                return
        if self._flush():
            return
        if (
            not is_drained
            or self._reading_paused
            or self._low_water > 1
            or self._listener.receive_budget.is_short
        ):
            self._govern_reading()

    def _is_put_off(self, frame: memoryview) -> bool:
        """Whether a large request has to wait for those that its user has sent before."""
        wait_ms = self._live_dispatcher.wait_before(self, frame)
        if wait_ms:
            self._finish_staged()
            self._listener.metrics.large_requests_put_off.inc()
            self.mute(wait_ms)
        return bool(wait_ms)

    def _is_pipeline_full(self) -> bool:
        """Whether as many requests wait as may, once what is staged has been appended."""
        self._finish_staged()
        if len(self._queue) < PIPELINE_MAX:
            return False
        self._listener.metrics.full_pipelines.inc()
        return True

    def _take(self, answer: Answer) -> None:
        """Put an answer in its turn. None: there is nothing to answer (Produce with acks=0)."""
        if type(answer) is Deferred:
            if answer.done and not self._queue:
                self._queue_reply(answer.value)
            else:
                self._wait_for(answer, exclusive=answer.pipelined is None)
        elif answer is None:
            return
        elif self._queue:
            self._wait_for(_completed(answer, self._queue[-1].pipelined), exclusive=False)
        else:
            self._writer.add(cast("Reply", answer))

    def _finish_staged(self) -> None:
        """Have the batches of the Produces in work appended; answer them in their order."""
        staged = self._staged
        try:
            for answer in staged:
                finished = answer.finish()
                self._take(finished if answer.timing is None else answer.timing(finished))
        finally:
            staged.clear()

    def _flush(self) -> bool:
        """Write what has been answered. True when it goes on leaving by itself."""
        if self._staged:
            self._finish_staged()
        if self._writer.flush(self._streamed):
            self._exclusive = True
            return True
        return False

    def _finish(self) -> None:
        """Close, after the answers to what came before have left."""
        try:
            self._finish_staged()
        except CloseConnection:
            pass  # that is under way
        except Exception:  # noqa: BLE001 - what was answered before it shall leave
            _log.exception("closing %s: its request broke the connection", self.info.client_host)
        if self._flush():
            self._closes_when_streamed = True
        else:
            self.close()

    def _queue_reply(self, reply: Reply | None) -> None:
        if reply is not None:
            self._writer.add(reply)

    def _wait_for(self, answer: Deferred[Any], *, exclusive: bool) -> None:
        self._queue.append(answer)
        self._exclusive = exclusive
        answer.when_done(self._answered)

    def _answered(self, _reply: Reply | None) -> None:
        """Something that was waited for is there: write what is in turn, go on."""
        if self.closed or not self._queue or not self._queue[0].done:
            return
        if self._writer.is_streaming:
            return
        queue = self._queue
        while queue and queue[0].done:
            self._queue_reply(queue.popleft().value)
        if not queue:
            self._exclusive = False
        if not (self._processing or self._resumes):
            # Several answers often come due in one step of the loop: one write for all of them.
            self._resumes = True
            self.loop.call_soon(self._resume)

    def _resume(self) -> None:
        self._resumes = False
        self._process()

    def _unreadable(self, error: OSError) -> None:
        """Its answer stays unfinished; a consumer that comes again at once may not fill the log."""
        host = self.info.client_host
        self._listener.rate_limited_log.warn(
            host, "closing %s: cannot send its answer: %s", host, error
        )

    def _streamed(self) -> None:
        """A large answer has left through the socket."""
        self._exclusive = False
        self.last_active_s = self.loop.time()
        if self._closes_when_streamed:
            self.close()
        if self._queue and self._queue[0].done:
            self._answered(None)
            self._exclusive = bool(self._queue)
        if not self.closed:
            self._process()

    def _govern_reading(self) -> None:
        """Stop reading when a blocked connection's buffer is full; wake late for large frames."""
        buffer = self._buffer
        if self.closed:
            return
        if self._listener.receive_budget.is_short:
            buffer.shrink()
        full = buffer.capacity_bytes - buffer.buffered_bytes < 2 * SPACE_MIN_BYTES
        blocked = self._exclusive or self._write_paused or bool(self._queue)
        if blocked and full:
            self._reading_paused = True
            self._transport.pause_reading()
        elif self._reading_paused and not (self._writer.is_streaming or buffer.is_starved):
            self._reading_paused = False
            self._transport.resume_reading()
        missing = buffer.missing_bytes
        if self._socket is not None and (missing >= LOW_WATER_FROM_BYTES or self._low_water > 1):
            wanted = min(missing, LOW_WATER_FROM_BYTES) if missing >= LOW_WATER_FROM_BYTES else 1
            if wanted != self._low_water:
                self._low_water = wanted
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, wanted)

    # -- the listener's and the dispatcher's calls

    def authenticated(self) -> None:
        """SASL succeeded: requests of the full size are allowed from here on."""
        self._buffer.frame_bytes_max = self._listener.frame_bytes_max
        self._buffer.bound_requests(
            other_bytes_max=REQUEST_BYTES_MAX, list_bytes_max=LIST_BYTES_MAX
        )

    def session_lasts(self, lifetime_ms: int | None) -> None:
        """SASL succeeded, perhaps again: the session ends after so long, None is never."""
        if self._session_timer is not None:
            self._session_timer.cancel()
            self._session_timer = None
        self._dispatcher = self._live_dispatcher
        # One that was closed while it logged in would be kept by the timer until the session's end.
        if lifetime_ms is not None and not self.closed:
            self._session_timer = self.loop.call_later(lifetime_ms / 1000, self._end_session)

    def _end_session(self) -> None:
        self._dispatcher = EndedSession(self._live_dispatcher, self._listener.metrics)

    def close_after_answer(self) -> None:
        """SASL failed: the answer that says so is the last one."""
        self.loop.call_soon(self.loop.call_soon, self.close)

    def mute(self, pause_ms: int) -> None:
        """Its client is over a quota: no request is looked at for so long, answers leave."""
        if self.closed:
            return
        metrics = self._listener.metrics
        pause: Deferred[Reply | None] = Deferred()
        timer = self.loop.call_later(pause_ms / 1000, _end_pause, metrics, pause)

        def abandon() -> None:
            timer.cancel()
            metrics.muted_connections -= 1

        pause.on_abandoned = abandon
        metrics.muted_connections += 1
        self._wait_for(pause, exclusive=True)

    def tidy(self) -> None:
        """Give back what an idle connection does not need."""
        self._buffer.shrink()

    # -- the receive budget's calls

    def pause(self) -> None:
        self._reading_paused = True
        self._transport.pause_reading()

    def resume(self) -> None:
        self.last_active_s = self.loop.time()  # that it sent nothing so far is not its fault
        self._govern_reading()

    def abort_unfinished(self) -> None:
        host = self.info.client_host
        self._listener.rate_limited_log.warn(
            host, "closing %s: no memory for its unfinished frame", host
        )
        self.abort()
        self._buffer.release()

    @property
    def requests_in_work(self) -> int:
        """Those whose answers are waited for, this connection's bound is `PIPELINE_MAX`."""
        return len(self._queue)

    @property
    def unsent_bytes(self) -> int:
        """Answers that its client has not read."""
        return 0 if self.closed else self._writer.unsent_bytes

    @property
    def is_waiting(self) -> bool:
        return bool(self._queue) or self._exclusive

    def close(self) -> None:
        """Close after what is written has left."""
        if not self.closed:
            self.closed = True
            self._transport.close()

    def abort(self) -> None:
        self.closed = True
        self._transport.abort()


def _end_pause(metrics: Metrics, pause: Deferred[Reply | None]) -> None:
    metrics.muted_connections -= 1
    pause.complete(None)


def _completed(reply: Any, pipelined: int | None) -> Deferred[Any]:
    deferred: Deferred[Any] = Deferred(pipelined=pipelined)
    deferred.complete(reply)
    return deferred
