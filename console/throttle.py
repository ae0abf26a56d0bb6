"""Guessing passwords is slowed down, per user name and address, by DRF's throttling.

Every attempt counts before the password is looked at, so that attempts beside each other count
too; signing in forgets them. The count lies in Django's shared cache, Redis, and so is one for all
web processes. While Redis is away each process counts for itself: nobody is locked out by that,
and nobody guesses freely.
"""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING

from django.core.cache import caches
from redis.exceptions import RedisError
from rest_framework.throttling import SimpleRateThrottle

if TYPE_CHECKING:
    from django.http import HttpRequest
    from rest_framework.request import Request
    from rest_framework.views import APIView

log = logging.getLogger(__name__)

SHARED, OWN = "default", "process"
"""Names in `settings.CACHES`: the one of all processes, and what takes its place."""
USERNAME_MAX = 150


class LoginThrottle(SimpleRateThrottle):
    """At most so many attempts in each window of the rate.

    DRF keeps a list of times, which it reads and writes in two steps: attempts beside each other
    would count as one. Here a number is raised in one step.
    """

    # Out of the scope's rate in `settings.REST_FRAMEWORK`; the duration in seconds.
    num_requests: int
    duration: int

    def __init__(self, username: str) -> None:
        super().__init__()
        self._username = username[:USERNAME_MAX].lower()

    def get_cache_key(
        self,
        request: HttpRequest | Request,
        view: APIView | None,  # noqa: ARG002 - DRF's signature
    ) -> str:
        """Of the name, the address and the present window; whatever it is that was typed.

        The address is that of the connection: a forwarded one is the client's own claim.
        """
        who = f"{self._username}\n{request.META.get('REMOTE_ADDR', '')}"
        digest = hashlib.sha256(who.encode(errors="surrogatepass")).hexdigest()
        window = int(self.timer() // self.duration)
        return self.cache_format % {"scope": self.scope, "ident": f"{digest}_{window}"}

    def allow_request(self, request: HttpRequest | Request, view: APIView | None = None) -> bool:
        count = _count(self.get_cache_key(request, view), self.duration)
        return count <= self.num_requests

    def wait(self) -> float:
        """Seconds to the next window."""
        return self.duration - self.timer() % self.duration

    def forget(self, request: HttpRequest) -> None:
        """The user has signed in."""
        key = self.get_cache_key(request, None)
        for name in (SHARED, OWN):
            try:
                caches[name].delete(key)
            except RedisError as error:
                log.warning("sign-in attempts are not forgotten: %s", error)


class LoginBurstThrottle(LoginThrottle):
    scope = "login_burst"


class LoginSustainedThrottle(LoginThrottle):
    scope = "login_sustained"


def login_throttles(username: str) -> list[LoginThrottle]:
    """In the order in which they are asked: what one refuses does not count for the next."""
    return [LoginBurstThrottle(username), LoginSustainedThrottle(username)]


def _count(key: str, period_s: int) -> int:
    """Raise the count of `key`, and answer it."""
    for name in (SHARED, OWN):
        cache = caches[name]
        try:
            cache.add(key, 0, timeout=period_s)
            return cache.incr(key)
        except RedisError as error:
            log.warning("sign-in attempts are counted per process: %s", error)
        except ValueError:
            return 1  # it ran out, or was pushed out, between the two
    raise RuntimeError("the cache of this process is no Redis")
