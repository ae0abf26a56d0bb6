"""The audit log: one line of JSON for whatever was denied, administered, or refused a login.

Logged as `kafka.authorizer.logger`, Kafka's name; `compose` gives it a file of its own. Nobody can
fill it: of each principal at each address so many lines are written in a window, of all together
so many, and how many were held back is said in a line when the window is over. No line holds a
value of a setting, a password or a token.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from dataplane.broker.metrics import Metrics
    from dataplane.ports.clock import Clock
    from dataplane.security.principal import Principal

LOGGER: Final = "kafka.authorizer.logger"
WINDOW_MS: Final = 1_000
LINES_MAX: Final = 100
"""Of one principal at one address, in a window."""
ALL_LINES_MAX: Final = 1_000
"""Of everybody, in a window."""
SOURCES_MAX: Final = 1_000
"""Principals at addresses that are told apart in a window; those beyond it share one place."""
TEXT_MAX: Final = 1_000
"""Characters of one part of a line."""

DENIED, ADMINISTERED, LOGIN_FAILED, HANDSHAKE_FAILED = (
    "denied",
    "administered",
    "login-failed",
    "handshake-failed",
)
SUPPRESSED: Final = "suppressed"
_OTHERS: Final = ("many principals", "many addresses")

_log = logging.getLogger(LOGGER)


class Asker(Protocol):
    """A connection, as far as a line says who it was."""

    @property
    def principal(self) -> Principal: ...

    @property
    def client_host(self) -> str: ...

    @property
    def listener_name(self) -> str: ...


class AuditLog:
    """Of one broker. `suppressed` and `written` count since the start."""

    def __init__(self, clock: Clock, metrics: Metrics) -> None:
        self._clock = clock
        self._written = metrics.counter(
            "penstock_audit_lines_total", "Lines of the audit log that were written."
        )
        self._suppressed = metrics.counter(
            "penstock_audit_lines_suppressed_total",
            "Lines of the audit log that were held back because too many came at once.",
        )
        self._window_ms = clock.monotonic_ms()
        self._sources: dict[tuple[str, str], int] = {}
        self._lines = 0

    def denied(self, connection: Asker, *, api: str, operation: str, resource: str) -> None:
        """The authorizer said no."""
        self._add(
            DENIED, connection, api=api, operation=operation, resource=resource, outcome="DENIED"
        )

    def administered(
        self,
        connection: Asker,
        *,
        api: str,
        operation: str,
        resource: str,
        outcome: str,
        detail: str = "",
    ) -> None:
        """Somebody governed the cluster, or tried: `outcome` is SUCCESS or an error's name."""
        parts = {"detail": detail} if detail else {}
        self._add(
            ADMINISTERED,
            connection,
            api=api,
            operation=operation,
            resource=resource,
            outcome=outcome,
            **parts,
        )

    def login_failed(self, connection: Asker, *, mechanism: str, user: str, reason: str) -> None:
        """SASL refused somebody who claims to be `user`."""
        self._add(
            LOGIN_FAILED,
            connection,
            api="SaslAuthenticate",
            operation="LOGIN",
            resource=f"User:{user}",
            outcome="DENIED",
            detail=f"{mechanism}: {reason}",
        )

    def handshake_failed(self, host: str, listener: str, *, reason: str, detail: str) -> None:
        """TLS refused somebody, or a certificate stands for no principal."""
        self._write(
            HANDSHAKE_FAILED,
            ("User:ANONYMOUS", host),
            listener=listener,
            api="TLS",
            operation="LOGIN",
            resource="Certificate",
            outcome=reason.upper(),
            detail=detail,
        )

    def flush(self) -> None:
        """Say what was held back, when the window is over. To be called now and then."""
        now_ms = self._clock.monotonic_ms()
        if now_ms - self._window_ms < WINDOW_MS:
            return
        self._window_ms, self._lines = now_ms, 0
        sources, self._sources = self._sources, {}
        held_back = {who: n - LINES_MAX for who, n in sources.items() if n > LINES_MAX}
        for (principal, host), count in list(held_back.items())[:LINES_MAX]:
            self._emit({"event": SUPPRESSED, "principal": principal, "host": host, "lines": count})

    def _add(self, event: str, connection: Asker, **parts: str) -> None:
        who = (str(connection.principal), connection.client_host)
        self._write(event, who, listener=connection.listener_name, **parts)

    def _write(self, event: str, who: tuple[str, str], **parts: str) -> None:
        self.flush()
        if who not in self._sources and len(self._sources) >= SOURCES_MAX:
            who_counted = _OTHERS
        else:
            who_counted = who
        # Those beyond the bound of all count as held back from their source too.
        if self._lines >= ALL_LINES_MAX:
            self._sources[who_counted] = max(self._sources.get(who_counted, 0), LINES_MAX)
        count = self._sources[who_counted] = self._sources.get(who_counted, 0) + 1
        if count > LINES_MAX:
            self._suppressed.inc()
            return
        self._lines += 1
        self._emit({"event": event, "principal": who[0], "host": who[1], **parts})

    def _emit(self, parts: dict[str, str | int]) -> None:
        self._written.inc()
        line: dict[str, str | int] = {"time_ms": self._clock.realtime_ms()}
        for name, value in parts.items():
            line[name] = value[:TEXT_MAX] if isinstance(value, str) else value
        # Escaped to ASCII: what strangers name can neither end a line nor hide in one.
        _log.info("%s", json.dumps(line, separators=(",", ":")))
