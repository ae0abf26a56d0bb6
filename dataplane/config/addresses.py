"""`max.connections.per.ip.overrides`: how many connections single addresses may have."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.config.key import Value


def connections_by_address(text: str) -> dict[str, int]:
    """From `address:count,…`; the address may hold colons. ValueError says what is wrong.

    Kafka takes names of hosts as well. A bound that depends on what a name server says at the
    start of a broker, and differs between brokers, is no bound.
    """
    found = {}
    for item in text.split(","):
        if not item.strip():
            continue
        address, _, count = item.strip().rpartition(":")
        try:
            found[str(ipaddress.ip_address(address.strip("[]")))] = int(count)
        except ValueError:
            raise ValueError(f"{item.strip()!r} is not address:count") from None
        if int(count) < 0:
            raise ValueError(f"{item.strip()!r}: a count cannot be below 0")
    return found


def check_connections_by_address(value: Value) -> None:
    """For the key's declaration."""
    connections_by_address(str(value))
