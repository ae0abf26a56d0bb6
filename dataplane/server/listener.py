"""One listening socket and the connections it has accepted."""

from __future__ import annotations

import asyncio
import collections
import logging
import socket
from typing import TYPE_CHECKING

from dataplane.broker.context import ConnectionInfo
from dataplane.broker.networking.receive_budget import ReceiveBudget
from dataplane.security.certificate import CertificateError, subject_name
from dataplane.security.principal import ANONYMOUS, Principal
from dataplane.security.principal_mapping import NoMappingError
from dataplane.server.connection import Connection
from dataplane.server.rate_limited_log import RateLimitedLog

if TYPE_CHECKING:
    import ssl

    from dataplane.broker.metrics import Metrics
    from dataplane.security.principal_mapping import PrincipalMapping
    from dataplane.server.dispatch import Dispatcher
    from dataplane.server.listener_limits import ListenerLimits

_log = logging.getLogger(__name__)

RECEIVE_BYTES_MAX = 512 * 1024 * 1024


class Listener:
    """Accepts on one endpoint under one security protocol."""

    def __init__(
        self,
        *,
        name: str,
        security_protocol: str,
        dispatcher: Dispatcher,
        metrics: Metrics,
        limits: ListenerLimits,
        tls: ssl.SSLContext | None = None,
        principal_mapping: PrincipalMapping | None = None,
        receive_budget: ReceiveBudget | None = None,
    ) -> None:
        self.name = name
        self.receive_budget = receive_budget or ReceiveBudget(RECEIVE_BYTES_MAX)
        self.security_protocol = security_protocol
        self.metrics = metrics
        self.limits = limits
        self.rate_limited_log = RateLimitedLog(_log)
        self._dispatcher = dispatcher
        self._tls = tls
        self._principal_mapping = principal_mapping
        self._server: asyncio.Server | None = None
        self._connections: dict[Connection, None] = {}  # in the order of their coming
        self._per_ip: collections.Counter[str] = collections.Counter()

    @property
    def frame_bytes_max(self) -> int:
        return self.limits.frame_bytes_max

    @property
    def connection_count(self) -> int:
        return len(self._connections)

    async def open(self, bound: socket.socket) -> None:
        """Accept connections on a bound socket, which this listener owns from here on."""
        loop = asyncio.get_running_loop()
        if self.limits.receive_buffer_bytes >= 0:
            # Before `listen`: the window's scale is agreed on while a connection opens.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.limits.receive_buffer_bytes)
        self._server = await loop.create_server(
            lambda: Connection(self, self._dispatcher),
            sock=bound,
            backlog=self.limits.backlog,
            ssl=self._tls,
        )

    def stop_accepting(self) -> None:
        if self._server is not None:
            self._server.close()

    def close_connections(self) -> None:
        for connection in list(self._connections):
            connection.close()

    # -- the connections' calls

    def connection_info(self, client_host: str) -> ConnectionInfo:
        return ConnectionInfo(
            listener_name=self.name,
            security_protocol=self.security_protocol,
            client_host=client_host,
            principal=ANONYMOUS,
            authenticated=not self.security_protocol.startswith("SASL"),
        )

    def identify(self, info: ConnectionInfo, tls: ssl.SSLObject) -> bool:
        """The principal of the certificate that a client of an SSL listener has shown.

        Who shows none is anonymous, as in Kafka; who shows one that no rule maps is nobody.
        """
        mapping = self._principal_mapping
        shown = tls.getpeercert(binary_form=True) if mapping is not None else None
        if mapping is None or shown is None or not tls.context.verify_mode:
            return True
        try:
            info.principal = Principal.user(mapping.name(subject_name(shown)))
        except (CertificateError, NoMappingError) as error:
            self.metrics.refused_certificates.inc()
            host = info.client_host
            self.rate_limited_log.warn(
                host, "closing %s: its certificate stands for no principal: %s", host, error
            )
            return False
        return True

    def admit(self, connection: Connection) -> bool:
        """Take a new connection in, unless the listener or its address is full."""
        host = connection.info.client_host
        self._connections[connection] = None
        self._per_ip[host] += 1
        if (
            len(self._connections) > self.limits.connections_max
            or self._per_ip[host] > self.limits.connections_per_ip_max
        ):
            self.metrics.refused_connections.inc()
            self.rate_limited_log.warn(
                host, "listener %s is full: refusing a connection from %s", self.name, host
            )
            return False
        return True

    def forget(self, connection: Connection) -> None:
        if connection in self._connections:
            del self._connections[connection]
            host = connection.info.client_host
            self._per_ip[host] -= 1
            if self._per_ip[host] <= 0:
                del self._per_ip[host]

    def forget_routes(self) -> None:
        """Quotas have changed: the next request of every connection goes the long way."""
        for connection in self._connections:
            info = connection.info
            info.produce_route = info.fetch_route = None

    def sweep(self, now_s: float) -> None:
        """Close idle connections and give back the buffers of quiet ones."""
        idle_s = self.limits.idle_ms_max / 1000 if self.limits.idle_ms_max >= 0 else None
        for connection in list(self._connections):
            quiet_s = now_s - connection.last_active_s
            if connection.is_waiting:
                continue
            if idle_s is not None and quiet_s > idle_s:
                self.metrics.idle_closed.inc()
                connection.close()
            elif quiet_s > 10:
                connection.tidy()
