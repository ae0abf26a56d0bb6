"""One loaded shard at work: parked requests, one timer, the writer to its partition."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from dataplane.broker.coordinator_log.loader import load
from dataplane.broker.coordinator_log.writer import CoordinatorWriter
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataplane.broker.replicas.partition import Partition
    from dataplane.ports.clock import Clock

_log = logging.getLogger(__name__)

Ticket = int
Answered = Callable[[Any, "KafkaError | None"], None]
"""Is called once, with the answer, or with None and why there is none."""
S = TypeVar("S", bound="Shard[Any]")
O = TypeVar("O", bound="Outcome")  # noqa: E741 - the outcome of a shard's decision
O_co = TypeVar("O_co", bound="Outcome", covariant=True)


class Outcome(Protocol):
    """Answers may be sent at once; each write carries on by itself."""

    @property
    def replies(self) -> Sequence[tuple[Ticket, Any]]: ...

    @property
    def writes(self) -> Sequence[Any]: ...


class Shard(Protocol[O_co]):
    """What the host asks of a shard of any coordinator."""

    def finish_loading(self) -> O_co: ...

    def unload(self) -> O_co: ...

    def next_deadline_ms(self) -> int | None: ...

    def tick(self) -> O_co: ...


class ShardHost(Generic[S, O]):
    """Exists while this broker leads the partition; `is_loaded` once its log has been read."""

    KIND = "records"

    def __init__(
        self, partition: Partition, shard: S, clock: Clock, *, write_timeout_ms: int
    ) -> None:
        self.shard = shard
        self.is_loaded = False
        self.load_ms = 0
        """How long reading its log took."""
        self.loaded_to = 0
        """The end of what was read. Above the high watermark it may be lost with this leader."""
        self._partition = partition
        self._clock = clock
        self._writer: CoordinatorWriter[Any] = CoordinatorWriter(
            partition,
            clock,
            timeout_ms=write_timeout_ms,
            replay=self._replay_write,
            settle=self._settle,
            on_late=self._on_late,
        )
        self._parked: dict[Ticket, Answered] = {}
        self._next_ticket: Ticket = 0
        self._timer: asyncio.TimerHandle | None = None
        self._loading: asyncio.Task[None] | None = None

    def replay(self, key: bytes, value: bytes | None) -> None:
        """Give one committed record to the shard."""
        raise NotImplementedError

    def replay_in_transaction(self, producer_id: int, key: bytes, value: bytes | None) -> None:
        """Give one record of a transaction to the shard, if it keeps such."""

    def transaction_ended(self, producer_id: int, *, is_commit: bool) -> None:
        """A marker is in the log, which says whether those records count."""

    async def _settled(self) -> None:
        """Wait until what was read may be acted on. KafkaError when it never will."""

    # loading and unloading

    def start_loading(self) -> None:
        self._loading = asyncio.create_task(self._load(), name=f"load {self._name}")

    @property
    def _name(self) -> str:
        return str(self._partition.topic_partition)

    async def _load(self) -> None:
        started_ms = self._clock.monotonic_ms()
        try:
            count = await load(self._partition, self.replay, self)
            self.loaded_to = self._partition.log.log_end_offset
            await self._settled()
        except (KafkaError, OSError):
            # Left as "loading": clients keep asking, and the next leader may read its own copy.
            _log.exception("cannot load %s from %s", self.KIND, self._name)
            return
        self.is_loaded = True
        self.carry_out(self.shard.finish_loading())
        self.load_ms = self._clock.monotonic_ms() - started_ms
        if count:
            took_ms = self.load_ms
            _log.info("loaded %d %s from %s in %d ms", count, self.KIND, self._name, took_ms)

    def close(self) -> None:
        """Leadership is gone, or the broker stops: everybody is sent elsewhere."""
        if self._loading is not None:
            self._loading.cancel()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.is_loaded = False
        self._writer.close(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        self.carry_out(self.shard.unload())
        parked, self._parked = self._parked, {}
        for answered in parked.values():
            answered(None, KafkaError(ErrorCode.NOT_COORDINATOR))

    # working

    async def ask(self, decide: Callable[[Ticket], O]) -> Any:
        """Put a question to the shard and wait for its answer, however long it parks.

        KafkaError(NOT_COORDINATOR) when the shard is unloaded meanwhile.
        """
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        ticket = self.put(decide, functools.partial(_settle_future, future))
        try:
            return await future
        finally:
            self._parked.pop(ticket, None)

    def put(self, decide: Callable[[Ticket], O], answered: Answered) -> Ticket:
        """As `ask`, for those who do not wait in a task; perhaps they are answered at once."""
        ticket = self._next_ticket
        self._next_ticket += 1
        self._parked[ticket] = answered
        try:
            self.carry_out(decide(ticket))
        except BaseException:
            self._parked.pop(ticket, None)
            raise
        return ticket

    def carry_out(self, outcome: O) -> None:
        for ticket, result in outcome.replies:
            answered = self._parked.pop(ticket, None)
            if answered is not None:
                answered(result, None)
        if outcome.writes:
            self._writer.submit(list(outcome.writes))
        self.arm_timer()

    # the fate of writes, which are of the shard's own type: `records` and `on_done`

    def _replay_write(self, write: Any) -> None:
        for record in write.records:
            self.replay(record.key, record.value)

    def _settle(self, write: Any, error: ErrorCode) -> None:
        self.carry_out(write.on_done(error))

    def _on_late(self, write: Any) -> None:
        """Committed after it was reported as timed out: its records are replayed, no more."""

    # time

    def arm_timer(self) -> None:
        """Have the loop call back when the shard's next deadline is due."""
        due_ms = self.shard.next_deadline_ms() if self.is_loaded else None
        if due_ms is None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            return
        loop = asyncio.get_running_loop()
        due_s = loop.time() + max(due_ms - self._clock.monotonic_ms(), 0) / 1000
        if self._timer is not None:
            if self._timer.when() <= due_s:
                return  # it will look again by itself
            self._timer.cancel()
        self._timer = loop.call_at(due_s, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self.carry_out(self.shard.tick())


def _settle_future(future: asyncio.Future[Any], result: Any, refusal: KafkaError | None) -> None:
    if future.done():
        return
    if refusal is None:
        future.set_result(result)
    else:
        future.set_exception(refusal)
