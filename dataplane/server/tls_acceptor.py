"""Accepts connections under TLS: each handshake by the context of its moment, within bounds.

A connection counts for its listener when its handshake is over. Until then it is here: no longer
than `HANDSHAKE_TIMEOUT_S`, and when there are as many as may be, the oldest one of the address with
most of them makes way, which is never one that answers promptly for long. What comes too fast, or
has no place, is refused before its handshake, or waits until that begins: it is what costs.
"""

from __future__ import annotations

import asyncio
import collections
import logging
import socket
import ssl
from typing import TYPE_CHECKING, Final

from dataplane.quotas.connections import ADMITTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.quotas.connections import Verdict

_log = logging.getLogger(__name__)

HANDSHAKE_TIMEOUT_S: Final = 10.0
ACCEPTED_AT_ONCE_MAX: Final = 100
REFUSED_MAX: Final = 1_000
"""Connections that may wait to be closed because their address opens too many."""
PAUSE_S: Final = 1.0
"""How long nothing is accepted when descriptors have run out."""

TIMEOUT, DISPLACED, CERTIFICATE, PROTOCOL, CLOSED = (
    "timeout",
    "displaced",
    "certificate",
    "protocol",
    "closed",
)


class TlsAcceptor:
    """The handshakes of one listener.

    `context` gives what a new handshake is made with; `make` the protocol of its connection.
    `failed(host, reason, text)` is called for every one that came to nothing.
    """

    def __init__(
        self,
        context: Callable[[], ssl.SSLContext],
        make: Callable[[], asyncio.BaseProtocol],
        failed: Callable[[str, str, str], None],
        arrive: Callable[[str], Verdict] = lambda _host: ADMITTED,
        *,
        handshakes_max: int,
        timeout_s: float = HANDSHAKE_TIMEOUT_S,
    ) -> None:
        self._context = context
        self._make = make
        self._failed = failed
        self._arrive = arrive
        self._refused: dict[socket.socket, asyncio.TimerHandle] = {}
        self._handshakes_max = handshakes_max
        self._timeout_s = timeout_s
        self._bound: socket.socket | None = None
        self._resumption: asyncio.TimerHandle | None = None
        # In the order of their coming, with the addresses that they come from.
        self._handshakes: dict[asyncio.Task[None], str] = {}
        self._per_ip: collections.Counter[str] = collections.Counter()

    @property
    def handshakes(self) -> int:
        """How many are under way."""
        return len(self._handshakes)

    def open(self, bound: socket.socket, backlog: int) -> None:
        """Accept on a bound socket, which is this object's from here on."""
        bound.setblocking(False)
        bound.listen(backlog)
        self._bound = bound
        self._resume()

    def close(self) -> None:
        """Accept no more, and give up the handshakes under way."""
        if self._bound is None:
            return
        asyncio.get_running_loop().remove_reader(self._bound)
        if self._resumption is not None:
            self._resumption.cancel()
        self._bound.close()
        self._bound = None
        for task in list(self._handshakes):
            task.cancel()
        for accepted in list(self._refused):
            self._close_refused(accepted)

    def _resume(self) -> None:
        if self._bound is not None:
            asyncio.get_running_loop().add_reader(self._bound, self._accept)

    def _accept(self) -> None:
        bound, loop = self._bound, asyncio.get_running_loop()
        for _ in range(ACCEPTED_AT_ONCE_MAX):
            if bound is None:
                return
            try:
                accepted, address = bound.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                _log.error("connections cannot be accepted: %s", error)
                loop.remove_reader(bound)
                self._resumption = loop.call_later(PAUSE_S, self._resume)
                return
            host = str(address[0])
            verdict = self._arrive(host)
            if not verdict.is_admitted:
                self._refuse(accepted, verdict.wait_ms)
                continue
            if len(self._handshakes) >= self._handshakes_max:
                self._displace()
            accepted.setblocking(False)
            task = loop.create_task(self._shake(accepted, host, verdict.wait_ms / 1000))
            self._handshakes[task] = host
            self._per_ip[host] += 1
            task.add_done_callback(self._forget)

    def _refuse(self, accepted: socket.socket, wait_ms: int) -> None:
        """Close it without a handshake; not at once, where that only has it come again sooner."""
        if not wait_ms or len(self._refused) >= REFUSED_MAX:
            accepted.close()
            return
        loop = asyncio.get_running_loop()
        self._refused[accepted] = loop.call_later(wait_ms / 1000, self._close_refused, accepted)

    def _close_refused(self, accepted: socket.socket) -> None:
        self._refused.pop(accepted).cancel()
        accepted.close()

    def _displace(self) -> None:
        ((heaviest, _count),) = self._per_ip.most_common(1)
        oldest = next(task for task, host in self._handshakes.items() if host == heaviest)
        self._forget(oldest)
        oldest.cancel()
        self._failed(heaviest, DISPLACED, "too many handshakes are under way")

    def _forget(self, task: asyncio.Task[None]) -> None:
        host = self._handshakes.pop(task, None)
        if host is None:
            return
        self._per_ip[host] -= 1
        if self._per_ip[host] <= 0:
            del self._per_ip[host]

    async def _shake(self, accepted: socket.socket, host: str, wait_s: float) -> None:
        loop = asyncio.get_running_loop()
        started_s = loop.time() + wait_s
        try:
            if wait_s:
                await asyncio.sleep(wait_s)
            await loop.connect_accepted_socket(
                self._make, accepted, ssl=self._context(), ssl_handshake_timeout=self._timeout_s
            )
        except asyncio.CancelledError:
            accepted.close()
            raise
        except ssl.SSLCertVerificationError as error:
            self._failed(host, CERTIFICATE, error.verify_message)
        except ssl.SSLError as error:
            is_missing = error.reason == "PEER_DID_NOT_RETURN_A_CERTIFICATE"
            self._failed(host, CERTIFICATE if is_missing else PROTOCOL, str(error.reason))
        except OSError as error:
            is_late = loop.time() - started_s >= self._timeout_s
            self._failed(host, TIMEOUT if is_late else CLOSED, str(error))
        except Exception:  # noqa: BLE001 - whatever it was, only this connection may suffer
            _log.exception("a TLS handshake with %s broke", host)
            self._failed(host, PROTOCOL, "an unexpected error")
