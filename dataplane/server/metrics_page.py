"""The Prometheus page: a bare HTTP/1.0 answer on loopback, without a framework."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dataplane.server.exposition import CONTENT_TYPE, Exposition

if TYPE_CHECKING:
    from dataplane.broker.metrics import Metrics

HOST = "127.0.0.1"
REQUEST_BYTES_MAX = 16 * 1024
REQUEST_TIMEOUT_S = 5


class MetricsPage:
    """GET /metrics on `port`; anything else is 404."""

    def __init__(self, metrics: Metrics, port: int) -> None:
        self._metrics = metrics
        self._port = port
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        try:
            self._server = await asyncio.start_server(
                self._serve, HOST, self._port, limit=REQUEST_BYTES_MAX
            )
        except OSError as error:
            raise OSError(
                error.errno,
                f"penstock.metrics.port: cannot bind {HOST}:{self._port}: {error.strerror}",
            ) from error

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
            if head.startswith((b"GET /metrics ", b"GET / ")):
                # Writing the text of a thousand topics takes many milliseconds.
                text = await asyncio.to_thread(Exposition(self._metrics.snapshot()).text)
                writer.write(_response("200 OK", text, CONTENT_TYPE))
            else:
                writer.write(_response("404 Not Found", b"only /metrics is here\n", "text/plain"))
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # a scraper that went away or talks something else
        finally:
            writer.close()


def _response(status: str, body: bytes, content_type: str) -> bytes:
    head = (
        f"HTTP/1.0 {status}\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
