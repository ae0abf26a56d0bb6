"""Long lists of a request, worked on in turns with whatever else the broker has to do.

A request may name tens of thousands of things, and takes the loop a second for them; everybody else
would wait for that long. What is answered may change from one turn to the next, as it may between
two requests.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dataplane.broker.delayed.deferred import Deferred

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from dataplane.broker.context import RequestContext

T = TypeVar("T")

_log = logging.getLogger(__name__)

TURN_ITEMS: Final = 256
"""Of a list; a few milliseconds for the most expensive ones."""


async def in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """The items in their order; after every TURN_ITEMS of them others have a turn of the loop."""
    for number, item in enumerate(items, 1):
        yield item
        if number % TURN_ITEMS == 0:
            await asyncio.sleep(0)


def answer_in_turns(
    context: RequestContext,
    items: Iterable[T],
    take: Callable[[T], None],
    answer: Callable[[], Any],
    failed: Callable[[], Any],
) -> Deferred[Any]:
    """What `answer` returns once `take` has had every item, for requests that have no task.

    TURN_ITEMS of them make a turn, whose time counts for the client's quota. `failed` is answered
    when one of them raises.
    """
    deferred: Deferred[Any] = Deferred()
    loop = asyncio.get_running_loop()
    left = iter(items)

    def turn() -> None:
        if deferred.done:
            return  # nobody waits any more
        started_s = loop.time()
        reply = None
        try:
            now = list(itertools.islice(left, TURN_ITEMS))
            for item in now:
                take(item)
            if len(now) < TURN_ITEMS:
                reply = answer()
        except Exception:  # noqa: BLE001 - logged, counted; who waits shall have an answer
            _log.exception("a long request failed")
            context.broker.metrics.failed_requests.inc()
            reply = failed()
        if context.metering is not None:
            context.metering.spend(loop.time() - started_s)
        if reply is None:
            loop.call_soon(turn)
        else:
            deferred.complete(reply)

    loop.call_soon(turn)
    return deferred
