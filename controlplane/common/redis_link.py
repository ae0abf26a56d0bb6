"""Redis for what all processes share and each can do without.

A Redis that hangs costs one short timeout every `ASK_AGAIN_S`, not one a call; meanwhile whoever
asks is refused at once and goes on by itself.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisAwayError
from redis.exceptions import RedisError
from redis.retry import Retry

log = logging.getLogger(__name__)
R = TypeVar("R")
ASK_AGAIN_S = 2.0
TIMEOUT_S = 0.5
PREFIX = "penstock:"
"""Of every key that is written through a link, beside those of Celery and of Django's cache."""


class RedisLink:
    """Thread-safe. `url` empty: the service's own Redis."""

    def __init__(self, url: str = "", *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._client: Any = None
        self._ask_again_at_s = 0.0

    def call(self, work: Callable[[Any], R]) -> R:
        """`work(client)`.

        Raises:
            RedisError: Redis is away, or was so a moment ago.
        """
        if self._monotonic() < self._ask_again_at_s:
            raise RedisAwayError("Redis did not answer a moment ago")
        try:
            return work(self._connected())
        except RedisError:
            self._ask_again_at_s = self._monotonic() + ASK_AGAIN_S
            raise

    def ask_again(self) -> None:
        """Whatever was found out about Redis is forgotten, its address as well."""
        self._ask_again_at_s = 0.0
        self._client = None

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = Redis.from_url(
                    self._url or settings.REDIS_URL,
                    socket_connect_timeout=TIMEOUT_S,
                    socket_timeout=TIMEOUT_S,
                    retry=Retry(NoBackoff(), 0),
                )
            return self._client


LINK = RedisLink()
"""This process's own, for everything that is shared that way."""
