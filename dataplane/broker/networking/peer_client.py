"""Connections to the other brokers of the cluster, opened when first used."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from dataplane.broker.networking.peer_connection import PeerConnection, PeerUnavailableError
from dataplane.broker.networking.peer_login import log_in
from dataplane.broker.networking.peer_socket import connect

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.networking.peer_login import PeerCredentials
    from dataplane.cluster.image import Endpoint
    from dataplane.wire.schema import Message

__all__ = ["PeerConnection", "PeerPool", "PeerUnavailableError"]

_log = logging.getLogger(__name__)

CONNECT_TIMEOUT_MS = 5_000
FETCH_CHANNEL = "fetch"
"""What the names of channels that followers fetch over begin with."""


class PeerPool:
    """One connection per peer and channel.

    Channels keep unlike traffic apart: a replica fetch that is parked at the leader must not hold
    back a LeaderAndIsr behind it, because a broker answers one connection in order.
    """

    def __init__(
        self,
        *,
        client_id: str,
        listener_name: str,
        metadata_cache: MetadataCache,
        credentials: PeerCredentials | None = None,
        tls: Callable[[], ssl.SSLContext] | None = None,
        fetch_receive_buffer_bytes: int = -1,
    ) -> None:
        """`fetch_receive_buffer_bytes`: SO_RCVBUF of fetch channels; -1 is the system's choice.

        `tls` gives the context of a new connection, as certificates change.
        """
        self._client_id = client_id
        self._listener_name = listener_name
        self._metadata_cache = metadata_cache
        self._credentials = credentials
        self._tls = tls
        self._fetch_receive_buffer_bytes = fetch_receive_buffer_bytes
        self._connections: dict[tuple[str, int, str], PeerConnection] = {}
        self._opening: dict[tuple[str, int, str], asyncio.Task[PeerConnection]] = {}
        self._closed = False

    async def request(
        self,
        broker_id: int,
        message: Message,
        version: int,
        *,
        timeout_ms: int = 30_000,
        channel: str = "control",
    ) -> Any:
        """Ask a broker of the present image.

        Raises PeerUnavailableError (unknown, refused, broken), TimeoutError, WireError.
        """
        return await self.request_to(
            self.endpoint(broker_id), message, version, timeout_ms=timeout_ms, channel=channel
        )

    async def request_to(
        self,
        endpoint: Endpoint,
        message: Message,
        version: int,
        *,
        timeout_ms: int = 30_000,
        channel: str = "control",
    ) -> Any:
        """Ask whoever listens at `endpoint`; errors as in `request`.

        A timeout ends the connection, as in Kafka: it may have lost its other end without a word,
        and a peer that is stuck answers nothing behind what it is stuck at.
        """
        connection = await self.connection(endpoint, channel=channel)
        try:
            return await connection.request(message, version, timeout_ms=timeout_ms)
        except TimeoutError:
            connection.close()
            raise

    def endpoint(self, broker_id: int) -> Endpoint:
        """Where a live broker listens for its peers. PeerUnavailableError when it is not known."""
        broker = self._metadata_cache.image.brokers.get(broker_id)
        endpoint = broker.listeners.get(self._listener_name) if broker is not None else None
        if endpoint is None:
            raise PeerUnavailableError(f"broker {broker_id} is not in the cluster's image")
        return endpoint

    async def connection(self, endpoint: Endpoint, *, channel: str = "control") -> PeerConnection:
        """The open, logged-in connection of a channel, opening it if need be."""
        if self._closed:
            raise PeerUnavailableError("this broker is stopping")
        key = (endpoint.host, endpoint.port, channel)
        connection = self._connections.get(key)
        if connection is not None and not connection.closed:
            return connection
        opening = self._opening.get(key)
        if opening is None:
            opening = asyncio.get_running_loop().create_task(self._open(endpoint, channel))
            self._opening[key] = opening
            opening.add_done_callback(lambda task: self._opened(key, task))
        return await asyncio.shield(opening)

    def _opened(self, key: tuple[str, int, str], task: asyncio.Task[PeerConnection]) -> None:
        """Keep the connection; an error is raised to those who wait, if anybody still does."""
        self._opening.pop(key, None)
        if task.cancelled() or task.exception() is not None:
            return
        connection = task.result()
        if self._closed:
            connection.close()
        else:
            self._connections[key] = connection

    async def _open(self, endpoint: Endpoint, channel: str) -> PeerConnection:
        where = f"{endpoint.host}:{endpoint.port}"
        protocol = endpoint.security_protocol
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_MS / 1000):
                connection = await self._connect(endpoint, channel)
        except (OSError, TimeoutError) as error:
            raise PeerUnavailableError(f"cannot connect to {where}: {error}") from error
        if protocol.startswith("SASL"):
            try:
                if self._credentials is None:
                    raise PeerUnavailableError(
                        f"{where} asks for SASL, but penstock.inter.broker.username is not set"
                    )
                await log_in(connection, self._credentials)
            except BaseException:
                connection.close()
                raise
        return connection

    async def _connect(self, endpoint: Endpoint, channel: str) -> PeerConnection:
        loop = asyncio.get_running_loop()
        uses_tls = endpoint.security_protocol in ("SSL", "SASL_SSL")
        tls = self._tls() if self._tls is not None and uses_tls else None
        if self._fetch_receive_buffer_bytes < 0 or not channel.startswith(FETCH_CHANNEL):
            _transport, connection = await loop.create_connection(
                lambda: PeerConnection(self._client_id), endpoint.host, endpoint.port, ssl=tls
            )
            return connection
        opened = await connect(endpoint.host, endpoint.port, self._fetch_receive_buffer_bytes)
        try:
            _transport, connection = await loop.create_connection(
                lambda: PeerConnection(self._client_id),
                sock=opened,
                ssl=tls,
                server_hostname=endpoint.host if tls is not None else None,
            )
        except BaseException:
            opened.close()
            raise
        return connection

    async def close(self) -> None:
        self._closed = True
        for task in list(self._opening.values()):
            task.cancel()
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()
