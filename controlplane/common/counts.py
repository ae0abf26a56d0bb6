"""Counting what happens within a window of time, as one number for all processes.

The numbers lie in Django's shared cache, Redis. While Redis is away each process counts for
itself: nobody is shut out by that, and nobody goes uncounted. A Redis that hangs is asked again
only every `ASK_AGAIN_S`, so that it does not delay each request.
"""

import logging
import time
from collections.abc import Callable

from django.core.cache import caches
from redis.exceptions import RedisError

from controlplane.common.metrics import COUNTED_ALONE

log = logging.getLogger(__name__)

SHARED, OWN = "default", "process"
"""Names in `settings.CACHES`: the one of all processes, and what takes its place."""
ASK_AGAIN_S = 2.0


class Counts:
    """Numbers by key. One per process."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._ask_again_at_s = 0.0

    def add(self, key: str, window_s: int) -> int:
        """Raise the number of `key`, which lives for `window_s`, and answer it."""
        for name in self._caches():
            cache = caches[name]
            try:
                cache.add(key, 0, timeout=window_s)
                return cache.incr(key)
            except RedisError as error:
                self._is_away(error)
            except ValueError:
                return 1  # it ran out, or was pushed out, between the two
        raise RuntimeError("the cache of this process is no Redis")

    def forget(self, key: str) -> None:
        for name in {*self._caches(), OWN}:
            try:
                caches[name].delete(key)
            except RedisError as error:
                self._is_away(error)

    def ask_again(self) -> None:
        """Whatever was found out about the shared cache is forgotten."""
        self._ask_again_at_s = 0.0

    def _caches(self) -> list[str]:
        if self._monotonic() < self._ask_again_at_s:
            COUNTED_ALONE.inc()
            return [OWN]
        return [SHARED, OWN]

    def _is_away(self, error: RedisError) -> None:
        log.warning("counts are per process for %s s: %s", ASK_AGAIN_S, error)
        COUNTED_ALONE.inc()
        self._ask_again_at_s = self._monotonic() + ASK_AGAIN_S


COUNTS = Counts()
