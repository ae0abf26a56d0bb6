"""Counters that every process adds to and `/metrics` shows as one.

Adding is a dictionary of this process; a thread hands the sums to Redis every `FLUSH_INTERVAL_S`,
so nothing that counts waits for Redis. While Redis is away the sums grow here and go later. What a
killed process had not handed over is lost, at most `FLUSH_INTERVAL_S` of it.
"""

import json
import threading
import time
from collections.abc import Callable
from typing import Any

from redis.exceptions import RedisError

from controlplane.common.redis_link import LINK, PREFIX, RedisLink

FLUSH_INTERVAL_S = 2.0
SERIES_MAX = 5_000
"""Series that wait here for Redis; new ones beyond are counted as one, `DROPPED`."""
DROPPED = "penstock_series_dropped"
COUNTERS, TIMES = f"{PREFIX}tally", f"{PREFIX}times"

Series = tuple[str, tuple[tuple[str, str], ...]]
"""A name and its labels, sorted."""


class Tally:
    """One per process; thread-safe."""

    def __init__(self, link: RedisLink, *, wall_s: Callable[[], float] = time.time) -> None:
        self._link = link
        self._wall_s = wall_s
        self._lock = threading.Lock()
        self._waiting: dict[Series, float] = {}

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        series = (name, tuple(sorted(labels.items())))
        with self._lock:
            if series not in self._waiting and len(self._waiting) >= SERIES_MAX:
                series = (DROPPED, ())
            self._waiting[series] = self._waiting.get(series, 0) + amount

    def flush(self) -> bool:
        """Hand the sums to Redis. False: it is away, and they wait."""
        with self._lock:
            sums, self._waiting = self._waiting, {}
        if not sums:
            return True
        try:
            self._link.call(lambda client: _add_all(client, sums))
        except RedisError:
            with self._lock:
                for series, amount in sums.items():
                    self._waiting[series] = self._waiting.get(series, 0) + amount
            return False
        return True

    def read(self) -> dict[Series, float]:
        """Every series of every process.

        Raises:
            RedisError: Redis is away; nothing is known then.
        """
        rows = self._link.call(lambda client: client.hgetall(COUNTERS))
        return {_series(field): float(value) for field, value in rows.items()}

    def mark(self, name: str) -> None:
        """Keep that this has just been done, by whichever process.

        Raises:
            RedisError: Redis is away.
        """
        self._link.call(lambda client: client.hset(TIMES, name, self._wall_s()))

    def marked_at_s(self, name: str) -> float | None:
        """When it was done last, in seconds since 1970; None: not since Redis was empty.

        Raises:
            RedisError: Redis is away.
        """
        found = self._link.call(lambda client: client.hget(TIMES, name))
        return None if found is None else float(found)

    def forget(self, label: str, value: str) -> None:
        """Remove every series with this label: what it was about is gone.

        Raises:
            RedisError: Redis is away.
        """
        gone = [series for series in self.read() if (label, value) in series[1]]
        if gone:
            self._link.call(lambda client: client.hdel(COUNTERS, *map(_field, gone)))


def _add_all(client: Any, sums: dict[Series, float]) -> None:
    pipe = client.pipeline(transaction=True)
    for series, amount in sums.items():
        pipe.hincrbyfloat(COUNTERS, _field(series), amount)
    pipe.execute()


def _field(series: Series) -> str:
    name, labels = series
    return json.dumps([name, dict(labels)], sort_keys=True)


def _series(field: bytes) -> Series:
    name, labels = json.loads(field)
    return name, tuple(sorted(labels.items()))


TALLY = Tally(LINK)
