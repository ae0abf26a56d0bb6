"""Live feeds: one poller per thing watched, however many browsers watch it.

A feed reads its subject twice a second in one shared thread (so one database connection) and
hands every change to its subscribers. It lives as long as somebody listens.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import close_old_connections

log = logging.getLogger(__name__)

POLL_S = 0.5
FEEDS_MAX = 256
"""Feeds at the same time in this process; one more is refused and the browser polls."""
FEEDS_PER_TENANT_MAX = 64
"""Of these: a tenant that watches each of its operations leaves the others theirs."""

Read = Callable[[], Any]

THREAD = ThreadPoolExecutor(1, thread_name_prefix="live-feed")


class TooManyFeeds(Exception):  # noqa: N818 - a refusal, not a fault
    """FEEDS_MAX or FEEDS_PER_TENANT_MAX is reached.

    Attributes:
        whose: the share that is taken, `tenant` or `process`.
    """

    def __init__(self, whose: str) -> None:
        super().__init__(whose)
        self.whose = whose


def _read(read: Read) -> str:
    close_old_connections()
    return json.dumps(read(), sort_keys=True, default=str)


class Feed:
    """The changes of one subject, as JSON texts."""

    def __init__(self, read: Read, poll_s: float = POLL_S) -> None:
        self._read = read
        self._poll_s = poll_s
        self._latest: str | None = None
        self._changed = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None
        self.listeners = 0

    async def subscribe(self) -> AsyncIterator[str | None]:
        """Every new value; None when nothing came for a while, so that the caller can ping."""
        self.listeners += 1
        if self._task is None:
            self._task = asyncio.create_task(self._poll())
        seen: str | None = None
        try:
            while True:
                seen, fresh = await self._next(seen)
                yield seen if fresh else None
        finally:
            self.listeners -= 1
            if self.listeners == 0 and self._task is not None:
                self._task.cancel()
                self._task = None

    async def _next(self, seen: str | None, patience_s: float = 10.0) -> tuple[str | None, bool]:
        async with self._changed:
            try:
                async with asyncio.timeout(patience_s):
                    await self._changed.wait_for(lambda: self._latest not in {None, seen})
            except TimeoutError:
                return seen, False
            return self._latest, True

    async def _poll(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                value = await loop.run_in_executor(THREAD, _read, self._read)
            except Exception:
                log.exception("a live feed could not read its subject")
            else:
                if value != self._latest:
                    async with self._changed:
                        self._latest = value
                        self._changed.notify_all()
            await asyncio.sleep(self._poll_s)


class Feeds:
    """All feeds of this process, by tenant id and what they are about."""

    def __init__(self) -> None:
        self._feeds: dict[tuple[str, str], Feed] = {}

    def get(self, tenant_id: str, about: str, read: Read) -> Feed:
        """The tenant's feed of `about`; `read` is used only when it is new.

        Raises:
            TooManyFeeds: it would be new, and the tenant or the process has its share.
        """
        key = (tenant_id, about)
        for gone in [name for name, feed in self._feeds.items() if feed.listeners == 0]:
            del self._feeds[gone]
        found = self._feeds.get(key)
        if found is None:
            if sum(owner == tenant_id for owner, _ in self._feeds) >= FEEDS_PER_TENANT_MAX:
                raise TooManyFeeds("tenant")
            if len(self._feeds) >= FEEDS_MAX:
                raise TooManyFeeds("process")
            found = self._feeds[key] = Feed(read)
        return found


FEEDS = Feeds()
