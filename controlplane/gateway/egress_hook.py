"""Where the Kafka library connects, every time: at the start and to each broker that a Kafka's
metadata names, whenever it does.

The library lets a class of its own make the sockets for a scheme of `proxy_url`. Ours is no proxy:
it resolves by `egress`, and the library connects to what that answered and to nothing else. A
certificate is still checked against the host's name, which the library keeps apart.
"""

import urllib.parse
from typing import Any

from kafka.net.inet import KafkaNetSocket

from controlplane.gateway.egress import (
    ANYWHERE,
    AddressInfo,
    EgressPolicy,
    checked_addresses,
    policy_of,
)

SCHEME = "penstock-egress"


class CheckedSocket(KafkaNetSocket):  # type: ignore[misc] # the library has no types
    """Made by the library for each connection, out of the text that `proxy_url` made."""

    SCHEMES = (SCHEME,)

    def __init__(self, proxy_url: str) -> None:
        super().__init__()
        self._policy = _policy(proxy_url)

    def dns_lookup(self, host: str, port: int, **_: Any) -> list[AddressInfo]:
        """Raises GatewayError: the connection fails with it, and the call that needed it."""
        return checked_addresses(host, port, self._policy)


def proxy_url(policy: EgressPolicy) -> str:
    """The policy as the one text that the library hands on."""
    networks = "anywhere" if policy.anywhere else ",".join(map(str, policy.allowed))
    return f"{SCHEME}://egress?{urllib.parse.urlencode({'allowed': networks})}"


def _policy(url: str) -> EgressPolicy:
    (networks,) = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query, keep_blank_values=True)[
        "allowed"
    ]
    if networks == "anywhere":
        return ANYWHERE
    return policy_of(filter(None, networks.split(",")))
