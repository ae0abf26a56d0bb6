"""A client that finds coordinators and leaders, and asks until something is said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.simulation.clients.connection import Client, NotSentError, UnknownOutcomeError

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation

GROUP, TRANSACTION = 0, 1
PATIENCE_S = 12.0
RETRY_S = 0.1
ANSWER_MS = 2_000
AGAIN = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.OFFSET_NOT_AVAILABLE,
    }
)

NOTHING_HAPPENED = frozenset(
    {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.CONCURRENT_TRANSACTIONS}
)
"""Other refusals may come from a coordinator that wrote something and has lost its partition."""


class EndedError(Exception):
    """The client cannot go on: it was fenced, refused for good, or nobody answered for long."""

    def __init__(self, why: str, code: int = ErrorCode.NONE, *, was_in_doubt: bool = False) -> None:
        super().__init__(why)
        self.code = code
        self.was_in_doubt = was_in_doubt
        """What an earlier try of the same request did is not known."""


class Session:
    def __init__(self, sim: Simulation, name: str) -> None:
        self.sim = sim
        self.client = Client(sim, name)
        self.name = name
        self.random = self.client.random
        self.was_in_doubt = False
        """Of the last answer: an earlier try of its request may have been carried out, or may yet."""
        self._coordinators: dict[tuple[int, str], int] = {}

    async def of_coordinator(
        self,
        kind: int,
        key: str,
        message: Any,
        version: int,
        code_of: Callable[[Any], int],
        *,
        timeout_ms: int = ANSWER_MS,
    ) -> Any:
        """The answer without an error that tries may mend. EndedError with any other."""

        async def target() -> int:
            return await self._coordinator(kind, key)

        def forget() -> None:
            self._coordinators.pop((kind, key), None)

        return await self._until_said(
            target, forget, message, version, code_of, timeout_ms=timeout_ms
        )

    async def of_leader(
        self, topic: str, partition: int, message: Any, version: int, code_of: Callable[[Any], int]
    ) -> Any:
        async def target() -> int:
            if (topic, partition) not in self.client.leaders:
                await self.client.refresh()
            return self.client.leaders.get((topic, partition), (-1, -1))[0]

        def forget() -> None:
            self.client.leaders.pop((topic, partition), None)

        return await self._until_said(target, forget, message, version, code_of)

    async def _until_said(
        self,
        target: Callable[[], Any],
        forget: Callable[[], None],
        message: Any,
        version: int,
        code_of: Callable[[Any], int],
        *,
        timeout_ms: int = ANSWER_MS,
    ) -> Any:
        what = type(message).__name__
        give_up_s = self.client.loop.time() + PATIENCE_S
        was_in_doubt = False
        while self.client.loop.time() < give_up_s:
            broker = await target()
            if broker >= 0:
                try:
                    answer = await self.client.ask(broker, message, version, timeout_ms=timeout_ms)
                except NotSentError:
                    pass
                except UnknownOutcomeError:
                    was_in_doubt = True
                else:
                    code = code_of(answer)
                    if code == ErrorCode.NONE:
                        self.was_in_doubt = was_in_doubt
                        return answer
                    if code not in AGAIN:
                        said = ErrorCode.of(code).name
                        raise EndedError(f"{what}: {said}", code, was_in_doubt=was_in_doubt)
                    was_in_doubt = was_in_doubt or code not in NOTHING_HAPPENED
            forget()
            await asyncio.sleep(RETRY_S)
        raise EndedError(f"{what}: nobody answers", was_in_doubt=True)

    async def _coordinator(self, kind: int, key: str) -> int:
        known = self._coordinators.get((kind, key))
        if known is not None:
            return known
        broker = self.random.choice(sorted(self.sim.machines))
        request = FindCoordinatorRequest(key=key, key_type=kind)
        try:
            answer = await self.client.ask(broker, request, 3, channel="find")
        except (NotSentError, UnknownOutcomeError):
            return -1
        if answer.error_code != ErrorCode.NONE:
            return -1
        self._coordinators[kind, key] = answer.node_id
        return int(answer.node_id)
