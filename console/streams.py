"""Who may go on listening: live streams end with the right to them.

Opening a stream asks who is there once, and it may stay open for minutes. So one task asks again
every `CHECK_S`, in a few statements for all streams of the process (`tenants/standing`): is the
session still there and the user's own, is the user active, still a member, and with the same
grants. What cannot be found out ends the streams; the browser opens them again, and is asked as at
first.
"""

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from django.conf import settings
from django.db import connection
from django.http import StreamingHttpResponse

from controlplane.common.metrics import STREAMS_ENDED, STREAMS_OPEN, STREAMS_REFUSED
from controlplane.common.problems import TooManyRequests
from controlplane.tenants.standing import SignedIn, scopes_now

log = logging.getLogger(__name__)

CHECK_S = 1.0
STREAMS_MAX = 512
"""In this process, over all users; `settings` has how many of them a tenant and a user may hold."""
RETRY_AFTER_S = 10

_THREAD = ThreadPoolExecutor(1, thread_name_prefix="live-rights")


@dataclass(frozen=True, slots=True)
class Ticket:
    """By what right a stream is open."""

    session_key: str
    user_id: int
    tenant_id: str
    scope_mark: str
    """Of the grants that it was opened with."""

    @property
    def signed_in(self) -> SignedIn:
        return SignedIn(self.session_key, self.user_id, self.tenant_id)


def too_many(whose: str) -> TooManyRequests:
    """The refusal, counted; `whose`: the share that is taken, of a user, tenant or the process."""
    STREAMS_REFUSED.labels(whose).inc()
    return TooManyRequests(
        f"Too many live streams of this {whose} are open.",
        code="too-many-streams",
        retry_after_s=RETRY_AFTER_S,
    )


Check = Callable[[Collection[Ticket]], set[Ticket]]


class Stream:
    """One open stream; `ended` is set when its right is gone."""

    def __init__(self, streams: "Streams", ticket: Ticket) -> None:
        self.ticket = ticket
        self.ended = asyncio.Event()
        self._streams = streams

    def close(self) -> None:
        """May be called more than once, and from any thread."""
        self._streams.leave(self)

    async def while_allowed(self, source: AsyncGenerator[str, None]) -> AsyncIterator[str]:
        """What `source` gives, until it ends or the right to it does."""
        ending = asyncio.create_task(self.ended.wait())
        self._streams.watch()
        try:
            while True:
                coming = asyncio.create_task(_next(source))
                try:
                    await asyncio.wait({coming, ending}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not coming.done():
                        coming.cancel()
                        await asyncio.gather(coming, return_exceptions=True)
                if ending.done() or (text := coming.result()) is None:
                    return
                yield text
        finally:
            ending.cancel()
            await source.aclose()
            self.close()


async def _next(source: AsyncGenerator[str, None]) -> str | None:
    return await anext(source, None)


class Streams:
    """All streams of this process."""

    def __init__(self, check: Check, check_s: float = CHECK_S) -> None:
        self._check, self._check_s = check, check_s
        self._open: set[Stream] = set()
        self._lock = threading.Lock()
        self._task: asyncio.Task[None] | None = None

    def join(self, ticket: Ticket) -> Stream:
        """Raises TooManyRequests when the user, the tenant or the process has its share."""
        with self._lock:
            full = self._full_for(ticket)
            if full is not None:
                raise too_many(full)
            stream = Stream(self, ticket)
            self._open.add(stream)
        STREAMS_OPEN.inc()
        return stream

    def _full_for(self, ticket: Ticket) -> str | None:
        """Whose share is taken; a user counts over all tenants, a tenant over all users."""
        tickets = [stream.ticket for stream in self._open]
        if sum(one.user_id == ticket.user_id for one in tickets) >= settings.STREAMS_PER_USER:
            return "user"
        if sum(one.tenant_id == ticket.tenant_id for one in tickets) >= settings.STREAMS_PER_TENANT:
            return "tenant"
        return "process" if len(tickets) >= STREAMS_MAX else None

    def leave(self, stream: Stream) -> None:
        with self._lock:
            if stream not in self._open:
                return
            self._open.remove(stream)
        STREAMS_OPEN.dec()

    def watch(self) -> None:
        """See to it that rights are looked at while streams are open."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._keep_checking())

    async def _keep_checking(self) -> None:
        loop = asyncio.get_running_loop()
        while streams := self._present():
            await asyncio.sleep(self._check_s)
            tickets = {stream.ticket for stream in streams}
            try:
                allowed = await loop.run_in_executor(_THREAD, self._check, tickets)
            except Exception:
                log.exception("live streams end: their rights cannot be looked at")
                allowed = set()
            for stream in streams:
                if stream.ticket not in allowed and not stream.ended.is_set():
                    STREAMS_ENDED.inc()
                    stream.ended.set()

    def _present(self) -> list[Stream]:
        with self._lock:
            return list(self._open)


def allowed(tickets: Collection[Ticket]) -> set[Ticket]:
    """Those of `tickets` that still hold; three statements, whatever their number."""
    try:
        return _allowed(tickets)
    finally:
        connection.close()  # the thread may have nothing to do for hours


def _allowed(tickets: Collection[Ticket]) -> set[Ticket]:
    now = scopes_now({ticket.signed_in for ticket in tickets})
    # With other grants the browser opens it again, and sees what they cover.
    return {
        ticket
        for ticket in tickets
        if (scope := now.get(ticket.signed_in)) is not None and scope.mark == ticket.scope_mark
    }


class EventStream(StreamingHttpResponse):
    """Server-sent events; its place is free again when the response is closed, begun or not."""

    def __init__(self, stream: Stream, source: AsyncGenerator[str, None]) -> None:
        super().__init__(stream.while_allowed(source), content_type="text/event-stream")
        self["Cache-Control"] = "no-store"
        self["X-Accel-Buffering"] = "no"  # a proxy in front must not hold events back
        self._stream = stream

    def close(self) -> None:
        super().close()
        self._stream.close()


STREAMS = Streams(allowed)
