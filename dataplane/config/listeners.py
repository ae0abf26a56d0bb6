"""Listeners: `NAME://host:port` lists, and which security protocol each name has."""

from __future__ import annotations

import enum
from typing import NamedTuple

from dataplane.config.key import ConfigError


class SecurityProtocol(enum.IntEnum):
    """Kafka's numbers, as sent in UpdateMetadata."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3

    @property
    def uses_tls(self) -> bool:
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def uses_sasl(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class Listener(NamedTuple):
    """One listener. An empty host means every interface; port 0 lets the system choose."""

    name: str
    host: str
    port: int
    protocol: SecurityProtocol

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


def parse_protocol_map(key: str, text: str) -> dict[str, SecurityProtocol]:
    """`NAME:PROTOCOL,…` as a mapping. Raises ConfigError."""
    found: dict[str, SecurityProtocol] = {}
    for item in _items(text):
        name, separator, protocol = (part.strip() for part in item.partition(":"))
        if not separator or not name or protocol.upper() not in SecurityProtocol.__members__:
            allowed = ", ".join(SecurityProtocol.__members__)
            raise ConfigError(key, text, f"'{item}' is not NAME:PROTOCOL with one of {allowed}")
        if name.upper() in found:
            raise ConfigError(key, text, f"listener {name} occurs twice")
        found[name.upper()] = SecurityProtocol[protocol.upper()]
    return found


def parse_listeners(
    key: str, text: str, protocols: dict[str, SecurityProtocol], *, unique_ports: bool
) -> tuple[Listener, ...]:
    """`NAME://host:port,…` in order. Raises ConfigError naming the item that is wrong."""
    found: list[Listener] = []
    for item in _items(text):
        listener = _parse_one(key, text, item, protocols)
        if any(other.name == listener.name for other in found):
            raise ConfigError(key, text, f"listener {listener.name} occurs twice")
        same = any(
            other.port == listener.port != 0 and other.host == listener.host for other in found
        )
        if unique_ports and same:
            raise ConfigError(key, text, f"port {listener.port} is used twice")
        found.append(listener)
    if not found:
        raise ConfigError(key, text, "at least one listener is needed")
    return tuple(found)


def _parse_one(key: str, text: str, item: str, protocols: dict[str, SecurityProtocol]) -> Listener:
    name, separator, address = item.partition("://")
    name = name.strip().upper()
    host, colon, port_text = address.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    if not separator or not colon or not name or not port_text.isascii():
        raise ConfigError(key, text, f"'{item}' is not NAME://host:port")
    if not port_text.isdigit() or int(port_text) > 65_535:
        raise ConfigError(key, text, f"'{item}' has no port between 0 and 65535")
    if name not in protocols:
        raise ConfigError(
            key, text, f"listener {name} has no entry in listener.security.protocol.map"
        )
    return Listener(name, host, int(port_text), protocols[name])


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
