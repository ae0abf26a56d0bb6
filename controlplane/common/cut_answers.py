"""Answers that end before they are whole: their connection breaks, and no fault is logged.

What has been sent of a streamed answer cannot be taken back. That it is not whole, a client sees by
a connection that ends without the answer's end. Django knows no other way to it than an exception,
which the server logs with its traceback, and after which nobody closes the response. So whoever
streams says here that it ends early, the edge keeps the end back, and the server closes.
"""

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from contextvars import ContextVar
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


class Exchange:
    """One request and its answer. Its task may outlive it, and what starts from that task."""

    def __init__(self) -> None:
        self.is_cut = self.is_over = False

    def keeping_back_the_end(self, send: Send) -> Send:
        """`send`, without the end of an answer that is cut."""

        async def sending(message: Message) -> None:
            is_end = message["type"] == "http.response.body" and not message.get("more_body")
            if not (self.is_cut and is_end):
                await send(message)

        return sending


_EXCHANGE: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


def begin() -> Exchange:
    """Of the request that this task is about, and those that it starts."""
    exchange = Exchange()
    _EXCHANGE.set(exchange)
    return exchange


def cut() -> bool:
    """The answer that is being sent is not whole: its connection breaks after what was sent.

    Returns:
        False where no server sends it that could break a connection.
    """
    exchange = _EXCHANGE.get()
    if exchange is None or exchange.is_over:
        return False
    exchange.is_cut = True
    return True


def _is_a_fault(record: logging.LogRecord) -> bool:
    """The server says at the end of a cut answer, in its task, that it was not completed."""
    exchange = _EXCHANGE.get()
    return exchange is None or not exchange.is_cut or record.exc_info is not None


def quieten() -> None:
    """Cut answers are no faults in the log of the server. May be called more than once."""
    logging.getLogger("uvicorn.error").addFilter(_is_a_fault)
