"""Requests of clients that have a quota: answered at once, and nothing more of theirs is looked at
before the wait that the answer names is over (KIP-219).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from dataplane.broker.delayed.deferred import Deferred

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator

    from dataplane.broker.quotas.metering import Metering
    from dataplane.server.answers import Answer, Reply, Requester


def hold(connection: Requester, metering: Metering, answer: Answer) -> Answer:
    """What the connection waits for: the answer, not a staged one, and the wait behind it."""
    held: Deferred[Reply | None] = Deferred()
    if isinstance(answer, Deferred) and not answer.done:
        held.on_abandoned = answer.abandon
        answer.when_done(lambda reply: _release(connection, metering, held, reply))
        return held
    if not metering.throttle_ms:
        return answer
    reply = answer.value if isinstance(answer, Deferred) else cast("Reply | None", answer)
    # Not before the connection has taken it: its wait begins behind it.
    asyncio.get_running_loop().call_soon(_release, connection, metering, held, reply)
    return held


def _release(
    connection: Requester, metering: Metering, held: Deferred[Reply | None], reply: Reply | None
) -> None:
    held.complete(reply)
    wait_ms = metering.answered()
    if wait_ms:
        connection.mute(wait_ms)


class TimedSteps:
    """Awaits a coroutine and adds up how long its own steps take, without what it waits for."""

    def __init__(self, steps: Coroutine[Any, Any, Any], now_s: Callable[[], float]) -> None:
        self._steps = steps
        self._now_s = now_s
        self.spent_s = 0.0

    def __await__(self) -> Generator[Any, Any, Any]:
        given: Any = None
        step: Callable[[Any], Any] = self._steps.send
        while True:
            started_s = self._now_s()
            try:
                wanted = step(given)
            except StopIteration as end:
                return end.value
            finally:
                self.spent_s += self._now_s() - started_s
            try:
                given, step = (yield wanted), self._steps.send
            except BaseException as error:  # noqa: BLE001 - the coroutine's own to take
                given, step = error, self._steps.throw
