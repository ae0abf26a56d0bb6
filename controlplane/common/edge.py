"""What is decided about a request before Django sees it: ASGI, outermost.

Django keeps a whole body, on disk when it is large, before the first middleware runs and before
anybody is asked who they are. So sizes are bounded here, by Content-Length and by what really
arrives; a body that trickles is given up; and all bodies together have a bound.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from typing import Any

from django.conf import settings
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from controlplane.common import cut_answers
from controlplane.common.exception_handler import MEDIA_TYPE
from controlplane.common.limits import BODY_MAX_BYTES, SMALL_BODY_MAX_BYTES
from controlplane.common.metrics import REQUESTS_REFUSED
from controlplane.common.middleware import request_id_of
from controlplane.common.problems import Problem, Unavailable

BODIES_MAX_BYTES = 64 * 1024 * 1024
"""What the bodies that are being read may hold together, in this process."""
BODY_TIMEOUT_S = 30.0
"""The longest that a body may take to arrive."""
LENGTH_DIGITS_MAX = 18

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]


def behind_proxies(app: App, networks: Sequence[str]) -> App:
    """`app` with the address and scheme that proxies in `networks` forward.

    What others claim about themselves is not read anywhere. The server's own handling of these
    headers has to be off (`uvicorn --no-proxy-headers`): it would believe all of this machine.
    """
    return ProxyHeadersMiddleware(app, trusted_hosts=list(networks)) if networks else app


def guarded(app: App) -> App:
    """`app` as the web process serves it."""
    cut_answers.quieten()
    return behind_proxies(RequestEdge(app), settings.TRUSTED_PROXIES)


class BodyTooLarge(Problem):
    status, code, title = 413, "too-large", "The body is too large"


class BodyTooSlow(Problem):
    status, code, title = 408, "too-slow", "The body did not arrive in time"


class BadLength(Problem):
    status, code, title = 400, "bad-length", "Content-Length is no number"


class BadHeader(Problem):
    """Some servers let it through, and no database holds it."""

    status, code, title = 400, "bad-header", "A header cannot be read"


class RequestEdge:
    """Wraps the application; `timeout_s` and `total_bytes` are arguments for tests."""

    def __init__(
        self, app: App, *, timeout_s: float = BODY_TIMEOUT_S, total_bytes: int = BODIES_MAX_BYTES
    ) -> None:
        self._app = app
        self._timeout_s = timeout_s
        self._total_bytes = total_bytes
        self.held_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["headers"] = [_without_charset(*row) for row in scope["headers"]]
        body = _Body(self, receive, body_max_bytes(scope["path"]), self._timeout_s)
        has_begun = False

        async def noting(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        exchange = cut_answers.begin()
        sending = exchange.keeping_back_the_end(noting)
        try:
            if any(b"\0" in value for _, value in scope["headers"]):
                raise BadHeader("A header holds a null.")
            body.check_length(_headers(scope, b"content-length"))
            await self._app(scope, body.receive, sending)
        except Problem as refused:
            if has_begun:
                raise
            REQUESTS_REFUSED.labels(refused.code).inc()
            await _answer(scope, send, refused)
        finally:
            exchange.is_over = True
            self.held_bytes -= body.held_bytes

    def hold(self, count: int) -> None:
        """Book `count` bytes.

        Raises:
            Unavailable: the bodies of all requests would be too much for this process.
        """
        if self.held_bytes + count > self._total_bytes:
            raise Unavailable("Too many bodies are being read.", code="too-busy")
        self.held_bytes += count


class _Body:
    """One request's body as it arrives."""

    def __init__(
        self, edge: RequestEdge, receive: Receive, max_bytes: int, timeout_s: float
    ) -> None:
        self._edge, self._receive, self._max_bytes = edge, receive, max_bytes
        self._deadline_s = asyncio.get_running_loop().time() + timeout_s
        self._is_whole = False
        self.held_bytes = 0

    def check_length(self, given: list[bytes]) -> None:
        for text in given:
            if not text.isdigit() or len(text) > LENGTH_DIGITS_MAX:
                raise BadLength("Content-Length is a number of bytes.")
            if int(text) > self._max_bytes:
                raise self._too_large()

    async def receive(self) -> Message:
        if self._is_whole:  # from now on it only says that the client has left
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline_s):
                message = await self._receive()
        except TimeoutError as error:
            raise BodyTooSlow("The body took too long to arrive.") from error
        if message["type"] == "http.request":
            count = len(message.get("body", b""))
            if self.held_bytes + count > self._max_bytes:
                raise self._too_large()
            self._edge.hold(count)
            self.held_bytes += count
            self._is_whole = not message.get("more_body", False)
        return message

    def _too_large(self) -> BodyTooLarge:
        return BodyTooLarge(f"A body has at most {self._max_bytes} bytes here.")


def body_max_bytes(path: str) -> int:
    """What a body sent to this path may have; only the API takes more than a few fields."""
    return BODY_MAX_BYTES if path.startswith("/api/") else SMALL_BODY_MAX_BYTES


def _headers(scope: Scope, wanted: bytes) -> list[bytes]:
    rows: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return [value for name, value in rows if name.lower() == wanted]


def _without_charset(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Bodies are UTF-8 whatever a charset says: Django decodes queries and forms by any it finds,
    and while it makes the request, where a failure is nobody's to answer.
    """
    if name.lower() != b"content-type" or b"charset" not in value.lower():
        return name, value
    media_type, *parameters = value.split(b";")
    kept = [row for row in parameters if not row.strip().lower().startswith(b"charset")]
    return name, b";".join([media_type, *kept])


async def _answer(scope: Scope, send: Send, refused: Problem) -> None:
    given = b"".join(_headers(scope, b"x-request-id")[:1]).decode("latin1")
    request_id = request_id_of(given)
    body = {**refused.as_dict(), "request_id": request_id, "instance": scope["path"]}
    content = json.dumps(body).encode()
    headers = {
        "Content-Type": MEDIA_TYPE,
        "Content-Length": str(len(content)),
        "X-Request-Id": request_id,
        "X-Content-Type-Options": "nosniff",
        # The rest of the body is not read, so nothing can follow it on this connection.
        "Connection": "close",
    }
    if refused.retry_after_s is not None:
        headers["Retry-After"] = str(refused.retry_after_s)
    rows = [(name.lower().encode(), text.encode()) for name, text in headers.items()]
    await send({"type": "http.response.start", "status": refused.status, "headers": rows})
    await send({"type": "http.response.body", "body": content})
