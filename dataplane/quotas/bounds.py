"""Which bound applies to a client, and with whom it shares it: Kafka's precedence.

The most special entity that has a quota counts, and no other:
user and client id, user and any client id, user, any user and the client id, any user and any
client id, any user, client id, any client id. A quota of any user is each user's own, not one that
they share; a quota of a client id alone is shared by all users of that id.
"""

from __future__ import annotations

import ipaddress
from typing import NamedTuple, TypeVar

from dataplane.quotas.entities import Entity, Name, Unnamed

K = TypeVar("K")


class Holder(NamedTuple):
    """Who uses a bound up together; None where that does not matter."""

    user: str | None
    client_id: str | None


class Bounds:
    """The bounds of one key, by entity of users and client ids."""

    def __init__(self) -> None:
        self._named: dict[tuple[str, str], float] = {}
        self._user_any: dict[str, float] = {}
        self._users: dict[str, float] = {}
        self._any_client: dict[str, float] = {}
        self._any_any: float | None = None
        self._any_user: float | None = None
        self._clients: dict[str, float] = {}
        self._any_client_alone: float | None = None

    @property
    def is_empty(self) -> bool:
        """Nobody is bounded."""
        tables = (self._named, self._user_any, self._users, self._any_client, self._clients)
        rest = (self._any_any, self._any_user, self._any_client_alone)
        return not any(tables) and all(bound is None for bound in rest)

    def set(self, entity: Entity, bound: float | None) -> None:
        """The entity's bound from here on; None is none."""
        match entity.user, entity.client_id:
            case str(user), str(client):
                _put(self._named, (user, client), bound)
            case str(user), Unnamed.DEFAULT:
                _put(self._user_any, user, bound)
            case str(user), Unnamed.ABSENT:
                _put(self._users, user, bound)
            case Unnamed.DEFAULT, str(client):
                _put(self._any_client, client, bound)
            case Unnamed.DEFAULT, Unnamed.DEFAULT:
                self._any_any = bound
            case Unnamed.DEFAULT, Unnamed.ABSENT:
                self._any_user = bound
            case Unnamed.ABSENT, str(client):
                _put(self._clients, client, bound)
            case Unnamed.ABSENT, Unnamed.DEFAULT:
                self._any_client_alone = bound

    def find(
        self, user: str, client_id: str, *, by_name: bool = False
    ) -> tuple[Holder, float] | None:
        """Who shares the bound of this client, and the bound; None when it has none.

        A client without an id counts as one that is named by the empty string. `by_name`: only what
        names the user counts, neither defaults of users nor what is for client ids.
        """
        bound = self._named.get((user, client_id))
        if bound is None:
            bound = self._user_any.get(user)
        if bound is not None:
            return Holder(user, client_id), bound
        bound = self._users.get(user)
        if bound is not None:
            return Holder(user, None), bound
        if by_name:
            return None
        bound = self._any_client.get(client_id)
        if bound is None:
            bound = self._any_any
        if bound is not None:
            return Holder(user, client_id), bound
        if self._any_user is not None:
            return Holder(user, None), self._any_user
        bound = self._clients.get(client_id)
        if bound is None:
            bound = self._any_client_alone
        return None if bound is None else (Holder(None, client_id), bound)


def _put(table: dict[K, float], key: K, bound: float | None) -> None:
    if bound is None:
        table.pop(key, None)
    else:
        table[key] = bound


class AddressBounds:
    """Connections a second that each address may open: its own bound, or that of all others."""

    def __init__(self) -> None:
        self._by_ip: dict[str, float] = {}
        self._others: float | None = None

    @property
    def is_empty(self) -> bool:
        return not self._by_ip and self._others is None

    def set(self, ip: Name, bound: float | None) -> None:
        """Raises ValueError for a name that is no address."""
        if isinstance(ip, str):
            _put(self._by_ip, str(ipaddress.ip_address(ip)), bound)
        else:
            self._others = bound

    def find(self, ip: str) -> float | None:
        return self._by_ip.get(ip, self._others)
