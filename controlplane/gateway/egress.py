"""Which addresses the control plane connects to on a tenant's word, and the connecting.

A tenant names hosts, and a Kafka that a tenant names advertises more of them; so may a token
endpoint. Every name is resolved once, every address that it has is checked, and the connection is
made to an address that was checked: no second look at the name service, which may answer
otherwise. What may be connected to is an allow list: the public unicast space, by the registries of
RFC 6890, and the networks that the operator names. A port is no matter of the policy: Kafka is
offered on any, 443 among them, and what is sent is frames whose texts hold no control characters.
"""

import contextlib
import ipaddress
import socket
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from controlplane.gateway.errors import EGRESS_REFUSED, GatewayError

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

DNS_FAILED = "dns-failed"
CONNECT_REFUSED = "connect-refused"
CONNECT_TIMEOUT = "connect-timeout"
RESOLVE_S_MAX = 5.0
ADDRESSES_MAX = 8
# A look-up cannot be cancelled: one that hangs keeps its thread until the resolver gives up.
LOOKUPS_AT_ONCE = 64
_lookups = threading.BoundedSemaphore(LOOKUPS_AT_ONCE)

_V4_NOT_PUBLIC = {
    "0.0.0.0/8": "unspecified",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "carrier-grade NAT",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "cloud metadata",
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "reserved",
    "192.0.2.0/24": "documentation",
    "192.88.99.0/24": "reserved",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "benchmarking",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
}
# Of IPv6 only 2000::/3 is public, less these.
_V6_PUBLIC = ipaddress.IPv6Network("2000::/3")
_V6_NOT_PUBLIC = {
    "2001::/23": "reserved",
    "2001:db8::/32": "documentation",
    "3fff::/20": "documentation",
}
# Outside of it everything is refused; these have a word of their own.
_V6_WORDS = {
    "::/128": "unspecified",
    "::1/128": "loopback",
    "fc00::/7": "private",
    "fe80::/10": "link-local",
    "fec0::/10": "private",
    "ff00::/8": "multicast",
}
_SPECIAL: dict[IPNetwork, str] = {
    ipaddress.ip_network(text): word
    for text, word in (_V4_NOT_PUBLIC | _V6_NOT_PUBLIC | _V6_WORDS).items()
}
# IPv6 addresses that stand for an IPv4 one: where its 32 bits begin, counted from the left.
_EMBEDDING = {
    ipaddress.IPv6Network("::ffff:0:0/96"): 96,
    ipaddress.IPv6Network("::/96"): 96,
    ipaddress.IPv6Network("64:ff9b::/96"): 96,
    ipaddress.IPv6Network("2002::/16"): 16,
}
_OWN_WORDS = frozenset(ipaddress.IPv6Address(text) for text in ("::", "::1"))


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressPolicy:
    """Where connections may go.

    Attributes:
        allowed: networks that the operator allows besides the public ones.
        anywhere: no limit at all: the address is the operator's own, not a tenant's word.
    """

    allowed: tuple[IPNetwork, ...] = ()
    anywhere: bool = False

    def objection(self, address: IPAddress) -> str:
        """What kind of address it is that is refused; empty when it may be connected to."""
        meant = _meant(address)
        if self.anywhere or any(_within(meant, network) for network in self.allowed):
            return ""
        for network, word in _SPECIAL.items():
            if _within(meant, network):
                return word
        if isinstance(meant, ipaddress.IPv6Address) and meant not in _V6_PUBLIC:
            return "reserved"
        return ""


ANYWHERE = EgressPolicy(anywhere=True)
PUBLIC_ONLY = EgressPolicy()


def policy_of(networks: Iterable[str]) -> EgressPolicy:
    """The public addresses and these networks, as `10.0.0.0/8`.

    Raises:
        ValueError: a text that is no network.
    """
    return EgressPolicy(allowed=tuple(ipaddress.ip_network(text) for text in networks))


def _meant(address: IPAddress) -> IPAddress:
    """The address that a packet for `address` ends at: an IPv4 one may be written as IPv6."""
    if isinstance(address, ipaddress.IPv4Address) or address in _OWN_WORDS:
        return address
    for network, first_bit in _EMBEDDING.items():
        if address in network:
            bits = (int(address) >> (128 - first_bit - 32)) & 0xFFFF_FFFF
            return ipaddress.IPv4Address(bits)
    return address


def _within(address: IPAddress, network: IPNetwork) -> bool:
    return address.version == network.version and address in network


class Deadline:
    """How long a whole exchange may take, however many waits it is made of."""

    def __init__(self, timeout_s: float) -> None:
        self._ends_s = time.monotonic() + timeout_s

    def left_s(self) -> float:
        """Seconds left, never 0: a socket takes 0 for not blocking."""
        return max(self._ends_s - time.monotonic(), 0.001)

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._ends_s


AddressInfo = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]
"""As `socket.getaddrinfo` gives it."""


def checked_addresses(
    host: str, port: int, policy: EgressPolicy, *, timeout_s: float = RESOLVE_S_MAX
) -> list[AddressInfo]:
    """The addresses of `host`, every one of which may be connected to.

    A name with one address that is refused is refused whole: which one is taken is chance. The
    refusal names the kind of address, not the address: names of the service's own network are
    nothing that a tenant should learn by asking.

    Raises:
        GatewayError: retriable `dns-failed`: a name may come back; `egress-refused`.
    """
    found = _resolved(host, port, min(timeout_s, RESOLVE_S_MAX))
    for _, _, _, _, address in found:
        objection = policy.objection(ipaddress.ip_address(str(address[0])))
        if objection:
            raise GatewayError(
                EGRESS_REFUSED,
                f"{host} is a {objection} address, or has one. This service connects to public"
                " addresses and to networks that its operator allows.",
            )
    return found[:ADDRESSES_MAX]


def _resolved(host: str, port: int, timeout_s: float) -> list[AddressInfo]:
    """Raises GatewayError: `dns-failed`."""
    if not 0 < port < 65_536:
        raise GatewayError(DNS_FAILED, f"{port} is no port", retriable=True)
    if not _lookups.acquire(blocking=False):
        raise GatewayError(DNS_FAILED, "too many names are being resolved", retriable=True)
    answers: list[list[AddressInfo] | Exception] = []
    answered = threading.Event()

    def look_up() -> None:
        try:
            answers.append([*socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)])
        except (OSError, ValueError) as error:  # ValueError: a name that no encoding takes
            answers.append(error)
        finally:
            _lookups.release()
            answered.set()

    threading.Thread(target=look_up, name="resolve", daemon=True).start()
    if not answered.wait(timeout_s):
        raise GatewayError(
            DNS_FAILED, f"the name {host} was not resolved in {timeout_s:.0f} s", retriable=True
        )
    (answer,) = answers
    if isinstance(answer, Exception):
        raise GatewayError(
            DNS_FAILED, f"the name {host} cannot be resolved: {_text(answer)}", retriable=True
        ) from answer
    return answer


def open_socket(host: str, port: int, policy: EgressPolicy, deadline: Deadline) -> socket.socket:
    """A connection to the first of the host's checked addresses that takes one.

    Raises:
        GatewayError: `dns-failed`, `egress-refused`; retriable `connect-refused` and
            `connect-timeout`.
    """
    addresses = checked_addresses(host, port, policy, timeout_s=deadline.left_s())
    last: OSError | None = None
    for index, (family, kind, protocol, _, address) in enumerate(addresses):
        made = socket.socket(family, kind, protocol)
        try:
            made.settimeout(deadline.left_s() / (len(addresses) - index))
            made.connect(address)
        except OSError as error:
            made.close()
            last = error
        else:
            made.settimeout(deadline.left_s())
            with contextlib.suppress(OSError):
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return made
    where = f"{host}:{port}"
    if isinstance(last, TimeoutError):
        raise GatewayError(
            CONNECT_TIMEOUT, f"{where} does not take a connection in time", retriable=True
        ) from last
    raise GatewayError(
        CONNECT_REFUSED, f"{where}: {_text(last) if last else 'no address'}", retriable=True
    ) from last


def _text(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
