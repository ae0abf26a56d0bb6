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

Read = Callable[[], Any]

THREAD = ThreadPoolExecutor(1, thread_name_prefix="live-feed")


class TooManyFeeds(Exception):  # noqa: N818 - a refusal, not a fault
    """FEEDS_MAX is reached."""


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
    """All feeds of this process, by key."""

    def __init__(self) -> None:
        self._feeds: dict[str, Feed] = {}

    def get(self, key: str, read: Read) -> Feed:
        """The feed of `key`; `read` is used only when it is new."""
        for gone in [name for name, feed in self._feeds.items() if feed.listeners == 0]:
            del self._feeds[gone]
        found = self._feeds.get(key)
        if found is None:
            if len(self._feeds) >= FEEDS_MAX:
                raise TooManyFeeds
            found = self._feeds[key] = Feed(read)
        return found


FEEDS = Feeds()
