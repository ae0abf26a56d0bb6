"""The listeners of one broker: bound early, served once the components are there."""

from __future__ import annotations

import asyncio
import resource
import socket
from typing import TYPE_CHECKING, cast

from dataplane.broker.networking.receive_budget import ReceiveBudget
from dataplane.config.addresses import connections_by_address
from dataplane.config.listeners import SecurityProtocol
from dataplane.quotas.connections import Bounds, ConnectionQuotas, Limits
from dataplane.server.listener import RECEIVE_BYTES_MAX, Listener
from dataplane.server.listener_limits import ListenerLimits

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Collection, Iterator

    from dataplane.broker.metrics import Metrics
    from dataplane.broker.security.audit_log import AuditLog
    from dataplane.config import BrokerConfig
    from dataplane.config.listeners import Listener as ListenerSetting
    from dataplane.quotas.bounds import AddressBounds
    from dataplane.security.principal_mapping import PrincipalMapping
    from dataplane.server.dispatch import Dispatcher
    from dataplane.server.metrics_page import MetricsPage
    from dataplane.server.tls import TlsContexts

_CONNECTIONS, _CREATION_RATE = "max.connections", "max.connection.creation.rate"


HANDSHAKES_MAX = 1024
"""TLS handshakes under way at one listener; fewer where the process has few descriptors."""


class Listeners:
    """Binding first finds a taken port before anything else has been started."""

    def __init__(
        self,
        config: BrokerConfig,
        metrics: Metrics,
        bind: Callable[[str, str, int], socket.socket],
    ) -> None:
        self._bind = bind
        self._config = config
        self._metrics = metrics
        self._sockets: dict[str, socket.socket] = {}
        self._listeners: list[Listener] = []
        self._page: MetricsPage | None = None
        self._tls: TlsContexts | None = None
        self.connection_quotas = ConnectionQuotas(limits_from(config))
        asked = config.get_int("queued.max.request.bytes")
        self.receive_budget = ReceiveBudget(asked if asked > 0 else RECEIVE_BYTES_MAX)

    async def bind(self) -> None:
        """Bind every port. OSError names listener and port; nothing stays bound then."""
        config = self._config
        try:
            for wanted in config.listeners:
                self._sockets[wanted.name] = self._bind(wanted.name, wanted.host, wanted.port)
            metrics_port = config.get_int("penstock.metrics.port")
            if metrics_port:
                # Here and not above: it takes 3 MiB that a broker without the page has no use for.
                from dataplane.server.metrics_page import MetricsPage

                self._page = MetricsPage(self._metrics, metrics_port)
                await self._page.open()
        except OSError:
            self.close()
            raise

    async def serve(
        self,
        dispatcher: Dispatcher,
        current: BrokerConfig,
        addresses: AddressBounds,
        audit: AuditLog | None = None,
    ) -> None:
        """Accept connections on every bound socket, within the bounds of `current` and of their
        `addresses`. ConfigError when TLS is not set up right.
        """
        config = self._config
        self.connection_quotas = ConnectionQuotas(
            limits_from(current),
            addresses,
            samples=config.get_int("quota.window.num"),
            sample_ms=1000 * config.get_int("quota.window.size.seconds"),
        )
        limits = ListenerLimits(
            frame_bytes_max=config.get_int("socket.request.max.bytes"),
            idle_ms_max=config.get_int("connections.max.idle.ms"),
            backlog=config.get_int("socket.listen.backlog.size"),
            send_buffer_bytes=config.get_int("socket.send.buffer.bytes"),
            receive_buffer_bytes=config.get_int("socket.receive.buffer.bytes"),
            handshakes_max=min(HANDSHAKES_MAX, _connections_bearable() // 6),
        )
        for wanted in config.listeners:
            listener = Listener(
                name=wanted.name,
                security_protocol=wanted.protocol.name,
                dispatcher=dispatcher,
                metrics=self._metrics,
                limits=limits,
                quotas=self.connection_quotas,
                tls=self._server_tls(wanted) if wanted.protocol.uses_tls else None,
                principal_mapping=self._principal_mapping(wanted),
                audit=audit,
                receive_budget=self.receive_budget,
            )
            await listener.open(self._sockets[wanted.name])
            self._listeners.append(listener)

    def advertised(self) -> Iterator[tuple[str, str, int, str]]:
        """(name, host, port, protocol) that clients are sent; port 0 became a real one."""
        for wanted in self._config.advertised_listeners:
            port = wanted.port or self._sockets[wanted.name].getsockname()[1]
            host = wanted.host
            if host in {"", "0.0.0.0", "::"}:
                host = socket.gethostname()
            yield wanted.name, host, port, wanted.protocol.name

    def connection_counts(self) -> dict[str, float]:
        """Open connections by the listener's name."""
        return {each.name: each.connection_count for each in self._listeners}

    def sweep(self) -> None:
        now_s = asyncio.get_running_loop().time()
        for listener in self._listeners:
            listener.sweep(now_s)

    def creation_rates(self) -> dict[str, float]:
        """Connections admitted a second, by the listener's name."""
        now_ms = int(1000 * asyncio.get_running_loop().time())
        quotas = self.connection_quotas
        return {each.name: quotas.creation_rate(each.name, now_ms) for each in self._listeners}

    def limit_connections(self, config: BrokerConfig) -> None:
        """Bound connections by these settings from here on; what is open stays."""
        self.connection_quotas.limits = limits_from(config)

    def forget_routes(self) -> None:
        for listener in self._listeners:
            listener.forget_routes()

    def relieve(self) -> None:
        """See that connections which wait for space to read into do not wait in vain."""
        self.receive_budget.relieve(asyncio.get_running_loop().time())

    def stop(self) -> None:
        """Accept no more, and close what is open after its last answer."""
        for listener in self._listeners:
            listener.stop_accepting()
            listener.close_connections()

    def close(self) -> None:
        for bound in self._sockets.values():
            bound.close()
        if self._page is not None:
            self._page.close()

    def handshake_counts(self) -> dict[str, float]:
        """TLS handshakes under way by the listener's name."""
        return {each.name: each.handshakes for each in self._listeners}

    def requests_in_work(self) -> dict[str, float]:
        """Requests whose answers are waited for by the listener's name."""
        return {each.name: each.requests_in_work for each in self._listeners}

    def unread_answers(self) -> dict[str, float]:
        """Connections that do not read their answers by the listener's name."""
        return {each.name: each.unread_answers for each in self._listeners}

    def certificate_expiries_s(self) -> dict[str, float]:
        """When the certificates served end, in seconds since 1970, by the listener's name."""
        return self._tls.expiries_s() if self._tls is not None else {}

    def client_tls(self) -> Callable[[], ssl.SSLContext] | None:
        """For connections to peers, when they listen under TLS. ConfigError."""
        inter_broker = self._config.listener_named(self._config.inter_broker_listener)
        if inter_broker is None or not inter_broker.protocol.uses_tls:
            return None
        contexts = self._tls_contexts()
        contexts.client()
        return contexts.client

    def check_tls(self, config: BrokerConfig, changed: Collection[str]) -> None:
        """Whether TLS could be served under these settings, by the files now. ConfigError.

        Only where one of TLS changes: a file that is broken holds up nothing else.
        """
        if self._tls is not None and any(".ssl." in f".{name}" for name in changed):
            self._tls.check(config)

    def follow_tls_files(self, config: BrokerConfig | None = None) -> None:
        """Serve certificates and TLS settings as they are now; `config` may have others."""
        if self._tls is not None:
            self._tls.follow(config)

    def _server_tls(self, listener: ListenerSetting) -> Callable[[], ssl.SSLContext]:
        contexts = self._tls_contexts()
        contexts.server(listener.name)  # what is wrong is said at the start
        return lambda: contexts.server(listener.name)

    def _principal_mapping(self, listener: ListenerSetting) -> PrincipalMapping | None:
        """Under SASL it is the login that says who somebody is. ConfigError."""
        if listener.protocol is not SecurityProtocol.SSL:
            return None
        from dataplane.server.tls import principal_mapping

        return principal_mapping(self._config, listener.name)

    def _tls_contexts(self) -> TlsContexts:
        if self._tls is None:
            # Here and not above: a broker without TLS does not load the library.
            from dataplane.server.tls import TlsContexts

            self._tls = TlsContexts(self._config)
        return self._tls


def limits_from(config: BrokerConfig) -> Limits:
    """Bounds of connections as the settings have them."""
    names = [wanted.name for wanted in config.listeners]
    inter_broker = config.inter_broker_listener
    bearable = _connections_bearable()
    return Limits(
        broker=Bounds(
            connections=min(config.get_int(_CONNECTIONS), bearable),
            creation_rate=config.get_int(_CREATION_RATE),
        ),
        listeners={
            name: Bounds(
                connections=min(cast("int", config.for_listener(name, _CONNECTIONS)), bearable),
                creation_rate=cast("int", config.for_listener(name, _CREATION_RATE)),
            )
            for name in names
        },
        per_ip=config.get_int("max.connections.per.ip"),
        per_ip_overrides=connections_by_address(config.get_str("max.connections.per.ip.overrides")),
        protected=inter_broker if inter_broker in names and len(names) > 1 else None,
    )


def _connections_bearable() -> int:
    """Three quarters of the process's descriptors: logs must not lack theirs."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(soft * 3 // 4, 16)
