"""A kazoo client that logs in by SASL DIGEST-MD5 and `digest`, over TLS when asked."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import ssl
import time
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient
from kazoo.exceptions import EXCEPTIONS, ConnectionDropped, ZookeeperError
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.connection import ConnectionHandler
from kazoo.protocol.serialization import SASL, Auth

from zookeeper_access.digest_md5 import DigestMd5, DigestMd5Error
from zookeeper_access.settings import LentLogin

if TYPE_CHECKING:
    from collections.abc import Callable

    from zookeeper_access.settings import Login, ZooKeeperAccess

log = logging.getLogger(__name__)

NONCE_BYTES = 24
_LOGIN_XIDS = (1, 2)
CONNECT_AGAIN = object()
"""Stands among kazoo's requests; at its turn the connection ends."""
SESSION_S = 10.0
"""What kazoo asks for unless another timeout is."""
TRIES_A_SESSION, TRY_MIN_S = 3, 1.0


def try_s(session_s: float) -> float:
    """How long one try to connect, and each answer that it needs, may take.

    kazoo waits for the whole session, which ends meanwhile: for a host without power, and for a
    server that takes the connection while it starts and never answers (one start of 25 does so).
    """
    return max(TRY_MIN_S, session_s / TRIES_A_SESSION)


class AccessClient(KazooClient):  # type: ignore[misc]  # kazoo has no types
    """KazooClient with our logins. `refusal` says why the last one failed, or is empty."""

    def __init__(
        self,
        hosts: str,
        access: ZooKeeperAccess,
        *,
        logger: logging.Logger,
        timeout: float = SESSION_S,
        **options: Any,
    ) -> None:
        _hide_credentials(logger)
        self.refusal = ""
        patience_s = try_s(timeout)
        if access.tls is not None:
            handler = _TlsHandler(patience_s, access.tls.context(), self._refuse)
            options.update(use_ssl=True, handler=handler)
        else:
            options.update(handler=_Handler(patience_s))
        identity = access.identity
        super().__init__(
            hosts=hosts,
            timeout=timeout,
            logger=logger,
            default_acl=access.acl(),
            auth_data=[_credential(identity)] if identity else [],
            **options,
        )
        self._connection = _Connection(
            self, self._conn_retry.copy(), access.sasl, logger, patience_s=patience_s
        )

    def start(self, timeout: float = 15.0) -> None:
        """Return once connected. kazoo's timeout exception when that takes more than `timeout` s.

        kazoo waits for its first connection and looks whether it is there still: one that ended
        just then was called a timeout at once. Unlike kazoo's, this does not look for the chroot.
        """
        deadline_s = time.monotonic() + timeout
        connected = self.start_async()
        while not self.connected:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                self.stop()
                self.close()
                raise self.handler.timeout_exception("Connection time-out")
            connected.wait(left_s)

    def _refuse(self, why: str) -> None:
        self.refusal = why

    def remember(self, login: Login) -> None:
        """Also act as `login` on every connection from the next one on, unless it is taken back."""
        self.auth_data.add(_credential(login))
        if isinstance(login, LentLogin):
            login.held_by(self.forget)

    def authenticate(self, login: Login) -> Any:
        """Also act as `login`, now and after every reconnect. kazoo's asynchronous result."""
        return self.add_auth_async(*_credential(login))

    def forget(self, login: Login) -> None:
        """Act as `login` no more, as soon as what was asked before has been answered.

        ZooKeeper takes no login back from a connection that stands, so this one ends and the next
        one begins without it. The session goes on, with its ephemeral nodes; what is asked
        meanwhile fails or is repeated as whenever a connection is lost. For any thread.
        """
        if _credential(login) in self.auth_data:
            self.auth_data.discard(_credential(login))
            # Also while there is no connection: the next one may have begun with the login already.
            self._call(CONNECT_AGAIN, self.handler.async_result())


class _Connection(ConnectionHandler):  # type: ignore[misc]  # kazoo has no types
    """Logs in itself instead of by pure-sasl. A connection that ends meanwhile is tried again."""

    def __init__(
        self,
        client: AccessClient,
        retry: Any,
        login: Login | None,
        logger: logging.Logger,
        *,
        patience_s: float,
    ) -> None:
        # kazoo only looks at whether there are any options.
        super().__init__(client, retry, logger=logger, sasl_options=None if login is None else {})
        self._login = login
        self._patience_s = patience_s

    def _invoke(self, timeout: float, request: Any, xid: int | None = None) -> Any:
        """What a new connection begins with. ConnectionDropped, KazooTimeoutError."""
        return super()._invoke(min(timeout, self._patience_s), request, xid)

    def _send_request(self, read_timeout: float, connect_timeout: float) -> None:
        """The server answers a login at once, before requests that it took earlier.

        kazoo takes the first answer for the first request and ends its thread for good. To connect
        again also waits for what was asked before: nobody is to wonder whether that was done.
        """
        queue = self.client._queue  # noqa: SLF001 - kazoo's connection is half of its client
        awaited = self.client._pending  # noqa: SLF001 - as above
        next_one = queue[0][0] if queue else None
        if awaited and (next_one is CONNECT_AGAIN or isinstance(next_one, Auth)):
            self._read_socket(read_timeout)
            return
        if next_one is CONNECT_AGAIN:
            _, done = queue.popleft()
            self._read_sock.recv(1)
            done.set(True)
            raise ConnectionDropped("connecting again without a login that was taken back")
        super()._send_request(read_timeout, connect_timeout)

    def _authenticate_with_sasl(self, _host: str, timeout: float) -> None:
        login = self._login
        if login is None:
            return
        timeout = min(timeout, self._patience_s)
        exchange = DigestMd5(
            login.username, login.password, cnonce=secrets.token_urlsafe(NONCE_BYTES)
        )
        try:
            challenge = self._ask(b"", _LOGIN_XIDS[0], timeout)
            answer = self._ask(exchange.respond(challenge), _LOGIN_XIDS[1], timeout)
            exchange.verify(answer)
        except (DigestMd5Error, ZookeeperError) as error:
            why = str(error) or "unknown user or wrong password"
            refusal = f"ZooKeeper refuses the login of {login.username}: {why}"
            if self.client.refusal != refusal:
                log.warning("%s; trying again", refusal)
            self.client.refusal = refusal
            # Not an error that ends kazoo's client for good: servers are restarted one after
            # another when a password changes.
            raise ConnectionDropped(refusal) from None
        self.client.refusal = ""

    def _ask(self, token: bytes, xid: int, timeout: float) -> bytes:
        """Send a SASL token, wait for the server's."""
        self._submit(SASL(token), timeout, xid)
        header, buffer, offset = self._read_header(timeout)
        if header.xid != xid:
            raise ConnectionDropped(f"an answer to {header.xid} where {xid} was asked")
        if header.err:
            error = EXCEPTIONS[header.err]
            raise error("")
        return bytes(SASL.deserialize(buffer, offset)[0] or b"")


class _Wake:
    """Counts requests that wait to be sent, in place of both ends of kazoo's pair of sockets.

    kazoo writes a byte for each request into a socket that blocks, and reads them while it is
    connected alone: without a connection, whoever asked for some 280 things stood still, an event
    loop with all that it serves. A counter of the kernel's never fills up.
    """

    def __init__(self) -> None:
        self._fd = os.eventfd(0, os.EFD_SEMAPHORE | os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    def fileno(self) -> int:
        return self._fd

    def send(self, data: bytes) -> int:
        os.eventfd_write(self._fd, len(data))
        return len(data)

    def recv(self, _count: int) -> bytes:
        os.eventfd_read(self._fd)
        return b"\0"

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


class _Handler(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo has no types
    def __init__(self, patience_s: float) -> None:
        super().__init__()
        self._patience_s = patience_s

    def create_connection(
        self, address: tuple[str, int], *, hostname: str, timeout: float | None = None, **tls: Any
    ) -> Any:
        within_s = self._within_s(timeout)
        return super().create_connection(address, hostname=hostname, timeout=within_s, **tls)

    def _within_s(self, timeout: float | None) -> float:
        return self._patience_s if timeout is None else min(timeout, self._patience_s)

    def create_socket_pair(self) -> tuple[Any, Any]:
        if not hasattr(os, "eventfd"):  # not Linux
            pair: tuple[Any, Any] = super().create_socket_pair()
            return pair
        wake = _Wake()
        return wake, wake


class _TlsHandler(_Handler):
    """Connects with our own context: kazoo's trusts the system's authorities besides ours."""

    def __init__(
        self, patience_s: float, context: ssl.SSLContext, refuse: Callable[[str], None]
    ) -> None:
        super().__init__(patience_s)
        self._context = context
        self._refuse = refuse

    def create_connection(
        self, address: tuple[str, int], *, hostname: str, timeout: float | None = None, **_: Any
    ) -> ssl.SSLSocket:
        """`hostname` is as configured, `address` what it resolved to."""
        plain = socket.create_connection(address, self._within_s(timeout))
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self._context.wrap_socket(plain, server_hostname=hostname)
        except BaseException as error:
            plain.close()
            if isinstance(error, ssl.SSLError):
                why = getattr(error, "verify_message", "") or error.reason
                self._refuse(f"no TLS with ZooKeeper at {hostname}:{address[1]}: {why}")
            raise

    def select(self, readable: list[Any], *others: Any) -> Any:
        """What TLS has decrypted already makes no socket readable."""
        ready = [one for one in readable if getattr(one, "pending", int)() > 0]
        return (ready, [], []) if ready else super().select(readable, *others)


def _credential(login: Login) -> tuple[str, str]:
    """As kazoo keeps it."""
    return "digest", f"{login.username}:{login.password}"


class _HideCredentials(logging.Filter):
    """kazoo writes every request that it sends at level DEBUG, logins too."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple) and any(
            isinstance(argument, Auth | SASL) for argument in record.args
        ):
            record.args = tuple(
                f"{type(argument).__name__}([hidden])"
                if isinstance(argument, Auth | SASL)
                else argument
                for argument in record.args
            )
        return True


def _hide_credentials(logger: logging.Logger) -> None:
    if not any(isinstance(one, _HideCredentials) for one in logger.filters):
        logger.addFilter(_HideCredentials())
