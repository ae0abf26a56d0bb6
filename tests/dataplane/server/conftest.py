from __future__ import annotations

import asyncio

import pytest

from dataplane.server.connection import Connection


@pytest.fixture
def accepted(monkeypatch: pytest.MonkeyPatch) -> list[asyncio.Transport]:
    """The transports of the connections that listeners accept, in their order."""
    transports: list[asyncio.Transport] = []
    made = Connection.connection_made

    def noted(self: Connection, transport: asyncio.Transport) -> None:
        transports.append(transport)
        made(self, transport)

    monkeypatch.setattr(Connection, "connection_made", noted)
    return transports
