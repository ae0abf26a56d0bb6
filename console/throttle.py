"""Guessing passwords is slowed down, per user name and address, by DRF's throttling.

Every attempt counts before the password is looked at, so that attempts beside each other count
too; signing in forgets them. `common.counts` keeps the number, one for all web processes.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from rest_framework.throttling import SimpleRateThrottle

from controlplane.common.counts import COUNTS
from controlplane.common.ratelimit import network_of

if TYPE_CHECKING:
    from django.http import HttpRequest
    from rest_framework.request import Request
    from rest_framework.views import APIView

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

        The address is that of the connection, or the one that a trusted proxy forwards; of IPv6
        the network that one machine has to itself counts as one.
        """
        who = f"{self._username}\n{network_of(str(request.META.get('REMOTE_ADDR', '')))}"
        digest = hashlib.sha256(who.encode(errors="surrogatepass")).hexdigest()
        window = int(self.timer() // self.duration)
        return self.cache_format % {"scope": self.scope, "ident": f"{digest}_{window}"}

    def allow_request(self, request: HttpRequest | Request, view: APIView | None = None) -> bool:
        return COUNTS.add(self.get_cache_key(request, view), self.duration) <= self.num_requests

    def wait(self) -> float:
        """Seconds to the next window."""
        return self.duration - self.timer() % self.duration

    def forget(self, request: HttpRequest) -> None:
        """The user has signed in."""
        COUNTS.forget(self.get_cache_key(request, None))


class LoginBurstThrottle(LoginThrottle):
    scope = "login_burst"


class LoginSustainedThrottle(LoginThrottle):
    scope = "login_sustained"


def login_throttles(username: str) -> list[LoginThrottle]:
    """In the order in which they are asked: what one refuses does not count for the next."""
    return [LoginBurstThrottle(username), LoginSustainedThrottle(username)]
