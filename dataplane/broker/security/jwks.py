"""The keys of OAUTHBEARER's tokens: read when they are asked for, kept, read again.

Reading is one thread at a time with a bound on time and size, never on the event loop. A token
whose key is not known makes the keys be read again, but not oftener than `UNKNOWN_KEY_MS_MIN`:
whoever invents key ids cannot make this broker ask its identity provider all the time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING, Any, Final

from dataplane.security.jwt_tokens import matching, read_header, read_keys, verified
from dataplane.security.sasl_exchange import SaslRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.metrics import Metrics
    from dataplane.config.sasl import TokenSettings
    from dataplane.ports.clock import Clock
    from dataplane.security.jwt_claims import ClaimRules
    from dataplane.security.jwt_tokens import VerificationKey
    from dataplane.security.sasl_exchange import Identity

_log = logging.getLogger(__name__)

UNKNOWN_KEY_MS_MIN: Final = 10_000
READ_TIMEOUT_S: Final = 10.0
WAIT_S: Final = 3.0
KEYS_BYTES_MAX: Final = 1024 * 1024
_PIECE_BYTES: Final = 64 * 1024


class Jwks:
    """Keys from one address. `read` blocks and gives the document, or raises OSError."""

    def __init__(
        self, settings: TokenSettings, clock: Clock, metrics: Metrics, read: Callable[[], bytes]
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._metrics = metrics
        self._read = read
        self._keys: list[VerificationKey] = []
        self._read_at_ms: int | None = None
        self._tried_at_ms: int | None = None
        self._retry_ms = 0
        self._reading: asyncio.Task[None] | None = None

    async def validate(self, token: str, rules: ClaimRules) -> Identity:
        """Who the token is about. SaslRefusedError."""
        header = read_header(token)
        now_ms = self._clock.monotonic_ms()
        is_old = self._read_at_ms is None or now_ms - self._read_at_ms >= self._settings.refresh_ms
        if is_old and self._waited(self._retry_ms):
            await self.refresh()
        fitting = matching(self._keys, header)
        if not fitting and self._waited(max(self._retry_ms, UNKNOWN_KEY_MS_MIN)):
            await self.refresh()
            fitting = matching(self._keys, header)
        if not self._keys:
            raise SaslRefusedError("the keys of tokens cannot be read at present")
        if not fitting:
            raise SaslRefusedError("the token's key is not known")
        return verified(token, fitting, rules, self._clock.realtime_ms())

    async def refresh(self) -> None:
        """Read the keys now. Whoever asks meanwhile waits for the same answer, but not for long:
        an identity provider that hangs shall not hold up logins by keys that are known.
        """
        if self._reading is None or self._reading.done():
            self._reading = asyncio.get_running_loop().create_task(self._refresh())
        await asyncio.wait({self._reading}, timeout=WAIT_S)

    def _waited(self, least_ms: int) -> bool:
        """Whether the last try is long enough ago, or under way."""
        if self._reading is not None and not self._reading.done():
            return True
        tried_at_ms = self._tried_at_ms
        return tried_at_ms is None or self._clock.monotonic_ms() - tried_at_ms >= least_ms

    async def _refresh(self) -> None:
        self._tried_at_ms = self._clock.monotonic_ms()
        self._metrics.jwks_reads.inc()
        try:
            self._keys = read_keys(await _in_thread(self._read))
        except (OSError, ValueError) as error:
            settings = self._settings
            self._retry_ms = min(max(2 * self._retry_ms, settings.retry_ms), settings.retry_ms_max)
            self._metrics.jwks_failures.inc()
            _log.warning(
                "the keys of tokens cannot be read from %s: %s; known keys remain: %d",
                settings.jwks_url,
                error,
                len(self._keys),
            )
        else:
            self._retry_ms = 0
            self._read_at_ms = self._clock.monotonic_ms()


def reader(url: str, authorities: str | None) -> Callable[[], bytes]:
    """What reads the document at `url`; `authorities` is a file with trusted certificates.

    It raises OSError for a failure of any kind, and follows no redirections. Files are looked at
    here already: OSError if they cannot be read.
    """
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "file":
        path = urllib.request.url2pathname(parts.path)
        _read_file(path)
        return lambda: _read_file(path)
    handlers: list[urllib.request.BaseHandler] = [_NoRedirects()]
    if parts.scheme == "https":
        context = ssl.create_default_context(cafile=authorities)
        handlers.append(urllib.request.HTTPSHandler(context=context))
    opener = urllib.request.build_opener(*handlers)
    return lambda: _read_address(opener, url)


def _read_file(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - a plain read, no pathlib
        return _bounded(file.read(KEYS_BYTES_MAX + 1))


def _read_address(opener: urllib.request.OpenerDirector, url: str) -> bytes:
    deadline_s = time.monotonic() + READ_TIMEOUT_S
    try:
        with opener.open(url, timeout=READ_TIMEOUT_S) as answer:
            found = b""
            while piece := answer.read1(_PIECE_BYTES):
                found = _bounded(found + piece)
                if time.monotonic() > deadline_s:
                    raise TimeoutError("the answer takes too long")
            return found
    except (urllib.error.HTTPError, ValueError) as error:
        raise OSError(str(error)) from error


def _bounded(data: bytes) -> bytes:
    if len(data) > KEYS_BYTES_MAX:
        raise OSError(f"the answer is longer than {KEYS_BYTES_MAX} bytes")
    return data


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """An address that was configured is the one that is asked."""

    def redirect_request(self, *_args: Any) -> None:
        return None


def _in_thread(work: Callable[[], bytes]) -> asyncio.Future[bytes]:
    """`work` in a thread that a stopping broker does not wait for."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[bytes] = loop.create_future()

    def settle(result: bytes | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result or b"")

    def run() -> None:
        result: bytes | None = None
        failure: BaseException | None = None
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - handed to whoever waits
            failure = error if isinstance(error, OSError) else OSError(repr(error))
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, name="token keys", daemon=True).start()
    return future
