"""A client of the application as a server calls it: bytes in, bytes out, no socket between.

Django's own test client skips what `controlplane.asgi` puts around Django, and puts requests together
that no server would. The module itself is not imported: it starts the thread that empties the outbox.
"""

import asyncio
import json
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from asgiref.sync import async_to_sync
from django.core.asgi import get_asgi_application
from django.core.handlers import asgi as django_asgi
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from controlplane.common.edge import guarded

application = guarded(get_asgi_application())


@dataclass
class Answer:
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b""
    is_stream: bool = False

    def json(self) -> Any:
        return json.loads(self.content)


@dataclass
class AsgiClient:
    """Sends the same credentials with each request; a stream is left after its first piece."""

    credentials: dict[str, str] = field(default_factory=dict)
    app: Any = application

    def request(
        self,
        method: str,
        target: str,
        body: bytes | list[bytes] = b"",
        headers: list[tuple[str, str]] | None = None,
        *,
        address: str = "127.0.0.1",
    ) -> Answer:
        """`body` as a list arrives in these pieces. Header texts stand for bytes (latin-1)."""
        path, _, query = target.partition("?")
        rows = {"host": "localhost", **self.credentials}
        given = [(name.lower(), text) for name, text in headers or []]
        names = {name for name, _ in given}
        rows_left = [(name, text) for name, text in rows.items() if name.lower() not in names]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": urllib.parse.unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (name.lower().encode("latin-1"), text.encode("latin-1"))
                for name, text in [*rows_left, *given]
            ],
            "client": (address, 40_000),
            "server": ("127.0.0.1", 8400),
        }
        return _exchange(self.app, scope, [body] if isinstance(body, bytes) else body)


@contextmanager
def in_this_thread(monkeypatch: Any) -> Iterator[None]:
    """Views run where the test runs, so in its transaction, which no request closes."""
    monkeypatch.setattr(django_asgi, "ThreadSensitiveContext", nullcontext)
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@async_to_sync
async def _exchange(app: Any, scope: dict[str, Any], pieces: list[bytes]) -> Answer:
    answer, waiting, done = Answer(), list(pieces), asyncio.Event()

    async def receive() -> dict[str, Any]:
        if waiting:
            piece = waiting.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(waiting)}
        await done.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            rows = [
                (name.decode("latin-1"), text.decode("latin-1"))
                for name, text in message["headers"]
            ]
            answer.headers = {name.lower(): text for name, text in rows}
            return
        answer.content += message.get("body", b"")
        is_events = answer.headers.get("content-type") == "text/event-stream"
        if not message.get("more_body", False) or is_events:
            answer.is_stream = is_events
            done.set()

    await app(scope, receive, send)
    return answer
