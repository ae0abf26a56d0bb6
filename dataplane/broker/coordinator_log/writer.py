"""Writes of one shard: gathered into batches, appended in order, settled when committed."""

from __future__ import annotations

import asyncio
import collections
import logging
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.batch_layout import HEADER_BYTES
from dataplane.wire.record_batch import NewRecord, build_batch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dataplane.broker.replicas.partition import Partition
    from dataplane.ports.clock import Clock

_log = logging.getLogger(__name__)

BATCH_BYTES_MAX: Final = 512 * 1024
"""Writes are joined up to this size, or to what the topic takes if that is less; a single larger
one goes alone, and the log judges it."""
RECORD_OVERHEAD_BYTES: Final = 32
"""More than lengths, deltas and attributes of a record ever take."""

W = TypeVar("W", bound="Write")


class Record(Protocol):
    """What is appended: `value` None is a tombstone."""

    @property
    def key(self) -> bytes: ...

    @property
    def value(self) -> bytes | None: ...


class Write(Protocol):
    """Records that belong together, perhaps in a producer's transaction: id and epoch."""

    @property
    def records(self) -> Sequence[Record]: ...

    @property
    def producer(self) -> tuple[int, int] | None: ...


class _InFlight(Generic[W]):
    """A batch that is appended but not committed yet."""

    __slots__ = ("is_late", "timer", "writes")

    def __init__(self, writes: list[W]) -> None:
        self.writes = writes
        self.timer: asyncio.TimerHandle | None = None
        self.is_late = False


class CoordinatorWriter(Generic[W]):
    """Appends to one partition of a coordinator's topic, which this broker leads.

    All writes of one step of the loop become one batch: a commit storm costs one append. After
    `timeout_ms` a write is reported as timed out, which means *unknown*: its records are replayed
    all the same once they get committed. When leadership is lost every write fails.
    """

    def __init__(
        self,
        partition: Partition,
        clock: Clock,
        *,
        timeout_ms: int,
        replay: Callable[[W], None],
        settle: Callable[[W, ErrorCode], None],
        on_late: Callable[[W], None] | None = None,
    ) -> None:
        """`replay` comes before `settle` with NONE; `on_late` after a write that was timed out."""
        self._partition = partition
        self._clock = clock
        self._timeout_ms = timeout_ms
        self._replay = replay
        self._settle = settle
        self._on_late = on_late
        self._waiting: list[W] = []
        self._in_flight: collections.deque[_InFlight[W]] = collections.deque()
        self._is_scheduled = False
        self._is_closed = False

    def submit(self, writes: list[W]) -> None:
        """A transaction's are appended at once: whether it is open was looked at just now."""
        self._waiting += writes
        if any(write.producer is not None for write in writes):
            self._flush()
            return
        if self._waiting and not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._flush)

    def close(self, error: ErrorCode) -> None:
        """Fail everything that is not committed, and whatever is submitted from now on."""
        self._is_closed = True
        in_flight, self._in_flight = self._in_flight, collections.deque()
        waiting, self._waiting = self._waiting, []
        for batch in in_flight:
            if batch.timer is not None:
                batch.timer.cancel()
            if not batch.is_late:
                self._settle_all(batch.writes, error)
        self._settle_all(waiting, error)

    def _flush(self) -> None:
        self._is_scheduled = False
        waiting, self._waiting = self._waiting, []
        if self._is_closed:
            self._settle_all(waiting, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            return
        # Each batch is judged by itself, also behind a refused one: nothing in it counts on that,
        # as records hold whole states and a coordinator decides again what it takes back.
        bytes_max = min(BATCH_BYTES_MAX, self._partition.log.config.max_message_bytes)
        for writes in _batches(waiting, bytes_max - HEADER_BYTES):
            self._append(writes)

    def _append(self, writes: list[W]) -> None:
        now_ms = self._clock.realtime_ms()
        records = [
            NewRecord(record.key, record.value, (), now_ms)
            for write in writes
            for record in write.records
        ]
        log = self._partition.log
        end_offset_before = log.log_end_offset
        refusal = ErrorCode.NONE
        try:
            batch = _in_transaction(records, writes[0].producer)
            self._partition.append_now(batch, -1, origin="coordinator")
        except KafkaError as error:
            refusal = error.code
        except OSError:
            _log.exception("cannot append to %s", self._partition.topic_partition)
            refusal = ErrorCode.KAFKA_STORAGE_ERROR
        if refusal is not ErrorCode.NONE and log.log_end_offset == end_offset_before:
            self._settle_all(writes, refusal)  # for certain: it is not in the log
            return
        appended = _InFlight(writes)
        self._in_flight.append(appended)
        if self._partition.when_committed(log.log_end_offset, self._on_committed):
            self._on_committed(True)
            return
        if self._is_closed:
            return  # leadership was lost by the append: its writes have failed already
        loop = asyncio.get_running_loop()
        appended.timer = loop.call_later(self._timeout_ms / 1000, self._on_timeout, appended)

    def _on_committed(self, is_committed: bool) -> None:
        """Batches are committed in the order of their offsets, so it is the oldest one."""
        if not self._in_flight:
            return
        if not is_committed:
            self.close(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            return
        batch = self._in_flight.popleft()
        if batch.timer is not None:
            batch.timer.cancel()
        for write in batch.writes:
            self._replay(write)
            if not batch.is_late:
                self._settle(write, ErrorCode.NONE)
            elif self._on_late is not None:
                self._on_late(write)

    def _on_timeout(self, batch: _InFlight[W]) -> None:
        # The records stay: they are replayed if they get committed after all.
        batch.is_late = True
        batch.timer = None
        self._settle_all(batch.writes, ErrorCode.REQUEST_TIMED_OUT)

    def _settle_all(self, writes: list[W], error: ErrorCode) -> None:
        for write in writes:
            self._settle(write, error)


def _in_transaction(records: Sequence[NewRecord], producer: tuple[int, int] | None) -> bytearray:
    if producer is None:
        return build_batch(records)
    return build_batch(
        records,
        producer_id=producer[0],
        producer_epoch=producer[1],
        base_sequence=0,  # as Kafka's coordinator; nobody counts its batches
        is_transactional=True,
    )


def _batches(writes: list[W], bytes_max: int) -> list[list[W]]:
    """Split into batches of so many bytes of records at most; a write is never split, and none of
    a transaction shares its batch.
    """
    batches: list[list[W]] = []
    space = 0
    for write in writes:
        size = sum(
            len(record.key) + len(record.value or b"") + RECORD_OVERHEAD_BYTES
            for record in write.records
        )
        if not batches or size > space or write.producer is not None:
            batches.append([])
            space = bytes_max
        batches[-1].append(write)
        space = space - size if write.producer is None else 0
    return batches
