"""kazoo's clients behind the broker's ZooKeeper sessions, for tests of what the port does not show."""

from __future__ import annotations

from typing import Any

import pytest

from dataplane.runtime import zookeeper
from zookeeper_access.client import AccessClient


def note_clients(monkeypatch: pytest.MonkeyPatch) -> list[AccessClient]:
    """Every client that `ZooKeeperCoordinator.connect` makes from now on, in their order."""
    made: list[AccessClient] = []

    def make(*args: object, **keywords: object) -> AccessClient:
        made.append(AccessClient(*args, **keywords))
        return made[-1]

    monkeypatch.setattr(zookeeper, "AccessClient", make)
    return made


def connection_of(client: AccessClient) -> Any:
    return client._connection  # noqa: SLF001 - kazoo shows it nowhere else


def socket_of(client: AccessClient) -> Any:
    return connection_of(client)._socket  # noqa: SLF001 - kazoo shows it nowhere else
