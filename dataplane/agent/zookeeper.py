"""How an agent logs in to ZooKeeper, for itself and for the brokers that it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from zookeeper_access import files, keys
from zookeeper_access.settings import Login, ZooKeeperAccess


async def _open_to_all(_login: Login) -> None:
    """A ZooKeeper without ACLs asks for nobody's identity."""


@dataclasses.dataclass(frozen=True, slots=True)
class AgentZooKeeper:
    """What a broker's files get of the agent's own way in, and the agent's second identity.

    `connection` lets a broker in: host-wide, without a right to any node. It never holds the host's
    own identity, so a broker cannot write what this host reports.
    """

    connection: Mapping[str, str] = dataclasses.field(default_factory=dict, repr=False)
    authenticate: Callable[[Login], Awaitable[None]] = _open_to_all

    async def log_in_for(self, secret: Mapping[str, str]) -> None:
        """Let the agent act as the broker's cluster, so that it can fence. CoordinatorError."""
        username = secret.get(keys.ACL_USERNAME)
        if username:
            await self.authenticate(Login(username, secret.get(keys.ACL_PASSWORD, "")))


def read_access(file: str | None) -> tuple[ZooKeeperAccess, dict[str, str]]:
    """The agent's own access, and what of it brokers get; no file is no login. AccessError."""
    if not file:
        return ZooKeeperAccess(), {}
    settings = files.read_login(Path(file))
    access = ZooKeeperAccess.parse(settings)
    return access, {key: settings[key] for key in settings.keys() & keys.CONNECTION}
