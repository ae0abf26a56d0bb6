"""So many requests in each window, per address, user and key: 429 with Retry-After beyond."""

import hashlib
import ipaddress
import math
import time
from dataclasses import dataclass

from django.conf import settings
from rest_framework.throttling import SimpleRateThrottle

from controlplane.common.counts import COUNTS
from controlplane.common.metrics import RATE_LIMITED

ADDRESS, USER, KEY, SIGN_IN = "address", "user", "key", "sign_in"
REFUSALS, REFUSALS_OF_ALL = "refusals", "refusals_of_all"
EXPORTS = "exports"
DESTINATION_TESTS = "destination_tests"
"""What is limited: names in `settings.RATE_LIMITS`, whose values read `600/min`."""
IPV6_PREFIX = 64
"""A household or a machine has that many addresses: they count as one."""


@dataclass(frozen=True, slots=True)
class Rate:
    count: int
    window_s: int


def rate_of(scope: str) -> Rate | None:
    """The configured rate; None when there is no limit."""
    text = settings.RATE_LIMITS.get(scope)
    if not text:
        return None
    count, window_s = SimpleRateThrottle.parse_rate(_PARSER, text)
    return Rate(count, window_s) if count is not None and window_s is not None else None


_PARSER = SimpleRateThrottle.__new__(SimpleRateThrottle)


def seconds_to_wait(scope: str, who: str) -> int | None:
    """Count one request of `who`; None when it may pass, else after how long one may."""
    rate = rate_of(scope)
    if rate is None:
        return None
    window, passed_s = divmod(time.time(), rate.window_s)
    digest = hashlib.sha256(who.encode(errors="surrogatepass")).hexdigest()[:32]
    count = COUNTS.add(f"rate_{scope}_{digest}_{int(window)}", rate.window_s)
    if count <= rate.count:
        return None
    RATE_LIMITED.labels(scope).inc()
    return math.ceil(rate.window_s - passed_s)


def network_of(address: str) -> str:
    """What counts as one address."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, IPV6_PREFIX), strict=False))
