"""How long one request takes until its answer is there, whichever way it is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataplane.broker.delayed.deferred import Deferred
from dataplane.broker.replicas.staged_appends import StagedAnswer

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.metrics import Metrics
    from dataplane.server.answers import Reply


class Timing:
    """Of one request; begins when it is made."""

    __slots__ = ("_api_name", "_metrics", "_now_s", "_started_s")

    def __init__(self, metrics: Metrics, api_name: str, now_s: Callable[[], float]) -> None:
        self._metrics = metrics
        self._api_name = api_name
        self._now_s = now_s
        self._started_s = now_s()

    def through(self, answer: Any) -> Any:
        """The answer as its connection is to take it; its time ends when it is there."""
        if isinstance(answer, StagedAnswer):
            answer.timing = self.through
            return answer
        if isinstance(answer, Deferred) and not answer.done:
            seen: Deferred[Reply | None] = Deferred(pipelined=answer.pipelined)
            seen.on_abandoned = answer.abandon

            def complete(reply: Reply | None) -> None:
                self._note()
                seen.complete(reply)

            answer.when_done(complete)
            return seen
        self._note()
        return answer

    def _note(self) -> None:
        took_ms = (self._now_s() - self._started_s) * 1000
        self._metrics.time_request(self._api_name, took_ms)
