"""One listening socket and the connections it has accepted."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import TYPE_CHECKING

from dataplane.broker.context import ConnectionInfo
from dataplane.broker.networking.receive_budget import ReceiveBudget
from dataplane.quotas.connections import ADMITTED, ConnectionQuotas, Limits
from dataplane.security.certificate import CertificateError, subject_name
from dataplane.security.principal import ANONYMOUS, Principal
from dataplane.security.principal_mapping import NoMappingError
from dataplane.server.connection import Connection
from dataplane.server.rate_limited_log import RateLimitedLog

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    from dataplane.broker.metrics import Metrics
    from dataplane.broker.security.audit_log import AuditLog
    from dataplane.quotas.connections import Verdict
    from dataplane.security.principal_mapping import PrincipalMapping
    from dataplane.server.dispatch import Dispatcher
    from dataplane.server.listener_limits import ListenerLimits
    from dataplane.server.tls_acceptor import TlsAcceptor

_log = logging.getLogger(__name__)

RECEIVE_BYTES_MAX = 512 * 1024 * 1024
CLOSING_LATE_MAX = 1_000
"""Connections that may wait to be closed because their address opens too many."""


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
        quotas: ConnectionQuotas | None = None,
        tls: Callable[[], ssl.SSLContext] | None = None,
        principal_mapping: PrincipalMapping | None = None,
        audit: AuditLog | None = None,
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
        self._audit = audit
        self._server: asyncio.Server | None = None
        self._acceptor: TlsAcceptor | None = None
        self._connections: dict[Connection, None] = {}  # in the order of their coming
        self._quotas = quotas or ConnectionQuotas(Limits())
        self._closing_late = 0

    @property
    def frame_bytes_max(self) -> int:
        return self.limits.frame_bytes_max

    @property
    def connection_count(self) -> int:
        return len(self._connections)

    @property
    def requests_in_work(self) -> int:
        """Requests whose answers are waited for, of all connections."""
        return sum(connection.requests_in_work for connection in self._connections)

    @property
    def unread_answers(self) -> int:
        """Connections whose clients have not read all that was answered."""
        return sum(1 for connection in self._connections if connection.unsent_bytes)

    @property
    def handshakes(self) -> int:
        """TLS handshakes under way."""
        return self._acceptor.handshakes if self._acceptor is not None else 0

    async def open(self, bound: socket.socket) -> None:
        """Accept connections on a bound socket, which this listener owns from here on."""
        loop = asyncio.get_running_loop()
        if self.limits.receive_buffer_bytes >= 0:
            # Before `listen`: the window's scale is agreed on while a connection opens.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.limits.receive_buffer_bytes)
        if self._tls is not None:
            # Here and not above: a broker without TLS does not load the library.
            from dataplane.server.tls_acceptor import TlsAcceptor

            self._acceptor = TlsAcceptor(
                self._tls,
                lambda: Connection(self, self._dispatcher),
                self._handshake_failed,
                self._arrived,
                handshakes_max=self.limits.handshakes_max,
            )
            self._acceptor.open(bound, self.limits.backlog)
            return
        self._server = await loop.create_server(
            lambda: Connection(self, self._dispatcher), sock=bound, backlog=self.limits.backlog
        )

    def stop_accepting(self) -> None:
        if self._server is not None:
            self._server.close()
        if self._acceptor is not None:
            self._acceptor.close()

    def _handshake_failed(self, host: str, reason: str, text: str) -> None:
        self.metrics.count_failed_handshake(reason)
        if self._audit is not None:
            self._audit.handshake_failed(host, self.name, reason=reason, detail=text)
        self.rate_limited_log.warn(
            host,
            "listener %s: TLS handshake with %s failed (%s): %s",
            self.name,
            host,
            reason,
            text,
        )

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
            if self._audit is not None:
                self._audit.handshake_failed(
                    host, self.name, reason="no principal", detail=str(error)
                )
            self.rate_limited_log.warn(
                host, "closing %s: its certificate stands for no principal: %s", host, error
            )
            return False
        return True

    def admit(self, connection: Connection) -> Verdict:
        """Take a new connection in, unless too many are there or come.

        How fast they come has been asked already where TLS was agreed on first.
        """
        host = connection.info.client_host
        if self._acceptor is not None:
            verdict = self._quotas.enter(self.name, host)
        else:
            verdict = self._quotas.open(self.name, host, int(1000 * connection.loop.time()))
        if verdict.is_admitted:
            self._connections[connection] = None
        return self._noted(host, verdict)

    def _arrived(self, host: str) -> Verdict:
        """Whether a handshake may begin, and when."""
        now_ms = int(1000 * asyncio.get_running_loop().time())
        return self._noted(host, self._quotas.arrive(self.name, host, now_ms))

    def _noted(self, host: str, verdict: Verdict) -> Verdict:
        if verdict is ADMITTED:
            return verdict
        if verdict.wait_ms:
            self.metrics.count_delayed_connection(verdict.reason)
        else:
            self.metrics.refused_connections.inc()
            self.rate_limited_log.warn(
                host,
                "refusing a connection from %s on listener %s: %s is full",
                host,
                self.name,
                verdict.reason,
            )
        return verdict

    def close_late(self, connection: Connection, wait_ms: int) -> None:
        """Close a connection that was refused, not at once; at once if many wait for that."""
        if self._closing_late >= CLOSING_LATE_MAX:
            connection.abort()
            return
        self._closing_late += 1
        connection.loop.call_later(wait_ms / 1000, self._close_now, connection)

    def _close_now(self, connection: Connection) -> None:
        self._closing_late -= 1
        connection.abort()

    def forget(self, connection: Connection) -> None:
        if connection in self._connections:
            del self._connections[connection]
            self._quotas.close(self.name, connection.info.client_host)

    def forget_routes(self) -> None:
        """Quotas have changed: the next request of every connection goes the long way."""
        for connection in self._connections:
            info = connection.info
            info.produce_route = info.fetch_route = None

    def sweep(self, now_s: float) -> None:
        """Close idle connections and give back the buffers of quiet ones."""
        idle_s = self.limits.idle_ms_max / 1000 if self.limits.idle_ms_max >= 0 else None
        for connection in list(self._connections):
            if self._is_read_on(connection, now_s):
                continue
            quiet_s = now_s - connection.last_active_s
            is_idle = idle_s is not None and quiet_s > idle_s
            if connection.unsent_seen:
                if is_idle:
                    self.metrics.idle_closed.inc()
                    connection.abort()  # what is never read cannot leave first
            elif connection.is_waiting:
                continue
            elif is_idle:
                self.metrics.idle_closed.inc()
                connection.close()
            elif quiet_s > 10:
                connection.tidy()

    @staticmethod
    def _is_read_on(connection: Connection, now_s: float) -> bool:
        """Whether its client has read of what waits for it, to the end too, since the last look."""
        before, unsent = connection.unsent_seen, connection.unsent_bytes
        connection.unsent_seen = unsent
        if unsent == before:
            return False
        connection.last_active_s = now_s
        return True
