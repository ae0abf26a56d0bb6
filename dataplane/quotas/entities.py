"""Whom a quota is for: users, client ids, both together, or addresses; and where it is kept.

The layout is Kafka's: `/config/users/U`, `/config/users/U/clients/C`, `/config/clients/C` and
`/config/ips/I`, the names sanitised, `<default>` for those that have none of their own.
"""

from __future__ import annotations

import enum
import ipaddress
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from dataplane.cluster.znodes import DEFAULT_ENTITY, desanitize, sanitize
from dataplane.model.errors import ErrorCode, KafkaError


class Unnamed(enum.Enum):
    """What stands in a name's place: ABSENT = not part of the entity, DEFAULT = all the others."""

    ABSENT = enum.auto()
    DEFAULT = enum.auto()


ABSENT, DEFAULT = Unnamed.ABSENT, Unnamed.DEFAULT
Name: TypeAlias = "str | Unnamed"

USER, CLIENT_ID, IP = "user", "client-id", "ip"


class Entity(NamedTuple):
    """One entity. An address stands alone; a user and a client id may be together."""

    user: Name = ABSENT
    client_id: Name = ABSENT
    ip: Name = ABSENT

    def parts(self) -> list[tuple[str, str | None]]:
        """Types and names as requests spell them, None for the default."""
        named = ((USER, self.user), (CLIENT_ID, self.client_id), (IP, self.ip))
        return [
            (kind, None if isinstance(name, Unnamed) else name)
            for kind, name in named
            if name is not ABSENT
        ]

    @classmethod
    def from_parts(cls, parts: Iterable[tuple[str, str | None]]) -> Entity:
        """Raises KafkaError(INVALID_REQUEST) when that is not an entity."""
        named: dict[str, Name] = {}
        for kind, name in parts:
            if kind not in (USER, CLIENT_ID, IP):
                raise _invalid(f"Unhandled client quota entity type: {kind}")
            if kind in named:
                raise _invalid(f"Invalid client quota entity, duplicate entity entry {kind}")
            if name is not None and not name:
                raise _invalid(f"Empty {kind} not supported")
            named[kind] = DEFAULT if name is None else name
        if not named:
            raise _invalid("Invalid empty client quota entity")
        entity = cls(named.get(USER, ABSENT), named.get(CLIENT_ID, ABSENT), named.get(IP, ABSENT))
        if entity.ip is not ABSENT:
            _check_address(entity)
        return entity


def place_of(entity: Entity) -> tuple[str, str]:
    """The type and the node's name below `/config`, such as `users/U/clients` and `C`."""
    if entity.ip is not ABSENT:
        return "ips", _node(entity.ip)
    if entity.user is ABSENT:
        return "clients", _node(entity.client_id)
    if entity.client_id is ABSENT:
        return "users", _node(entity.user)
    return f"users/{_node(entity.user)}/clients", _node(entity.client_id)


def entity_at(entity_type: str, node: str) -> Entity | None:
    """Whose overrides those are; None for topics, brokers and what is not known."""
    match entity_type.split("/"):
        case ["ips"]:
            return Entity(ip=_name(node))
        case ["clients"]:
            return Entity(client_id=_name(node))
        case ["users"]:
            return Entity(user=_name(node))
        case ["users", user, "clients"]:
            return Entity(user=_name(user), client_id=_name(node))
    return None


def _node(name: Name) -> str:
    return DEFAULT_ENTITY if isinstance(name, Unnamed) else sanitize(name)


def _name(node: str) -> Name:
    return DEFAULT if node == DEFAULT_ENTITY else desanitize(node)


def _check_address(entity: Entity) -> None:
    """Kafka takes names of hosts too; resolving one here would decide by whoever answers then."""
    if entity.user is not ABSENT or entity.client_id is not ABSENT:
        raise _invalid(
            "Invalid quota entity combination, IP entity should not be used with user/client ID "
            "entity."
        )
    if isinstance(entity.ip, Unnamed):
        return
    try:
        ipaddress.ip_address(entity.ip)
    except ValueError as error:
        raise _invalid(f"{entity.ip} is not a valid IP address.") from error


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
