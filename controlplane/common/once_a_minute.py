"""One log line a minute about one thing, whichever process meets it."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from redis.exceptions import RedisError

from controlplane.common.redis_link import PREFIX, RedisLink

INTERVAL_S = 60
THINGS_MAX = 1024
"""Things that a process remembers by itself while Redis is away."""


class OnceAMinute:
    """Redis says it for all processes; without it each has a line a minute of its own.

    Without a `link` Redis is not asked at all: for what each process's own log has to say.
    """

    def __init__(
        self, link: RedisLink | None, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._link = link
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._last_s: OrderedDict[str, float] = OrderedDict()

    def may(self, thing: str) -> bool:
        """Whether the caller is the one to say it in this minute."""
        if self._link is None:
            return self._may_here(thing)
        try:
            return bool(
                self._link.call(
                    lambda client: client.set(f"{PREFIX}said:{thing}", 1, nx=True, ex=INTERVAL_S)
                )
            )
        except RedisError:
            return self._may_here(thing)

    def _may_here(self, thing: str) -> bool:
        now_s = self._monotonic()
        with self._lock:
            last_s = self._last_s.get(thing)
            if last_s is not None and now_s - last_s < INTERVAL_S:
                return False
            self._last_s[thing] = now_s
            self._last_s.move_to_end(thing)
            while len(self._last_s) > THINGS_MAX:
                self._last_s.popitem(last=False)
            return True
