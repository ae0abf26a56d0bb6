"""What may be read of a topic's records, and written: one reader or writer at a time, no group.

Reading commits nothing and joins nothing: the brokers keep no trace of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

Header = tuple[str, bytes | None]
HEADERS_MAX = 100
"""Of one record that are decoded; how many there are is the producer's choice."""
RECORD_OVERHEAD_BYTES, HEADER_OVERHEAD_BYTES = 400, 200
"""What Python's objects take beside the bytes that they hold."""


class Isolation(StrEnum):
    """Which records a reader is given, in Kafka's words (`isolation.level`)."""

    READ_UNCOMMITTED = "read_uncommitted"
    READ_COMMITTED = "read_committed"
    """None of aborted transactions, and none from the first open one on (last stable offset)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record as it lies in its partition.

    Attributes:
        timestamp_ms: None where it has none.
        headers: the first `HEADERS_MAX`.
        headers_left_out: how many more it says that it has.
        is_log_append_time: the broker's time, not the producer's.
    """

    partition: int
    offset: int
    timestamp_ms: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    headers_left_out: int = 0
    is_log_append_time: bool = False

    @property
    def size_bytes(self) -> int:
        """Of key, value and headers; not of the batch, which may be compressed."""
        headers = sum(len(name) + len(value or b"") for name, value in self.headers)
        return len(self.key or b"") + len(self.value or b"") + headers

    @property
    def held_bytes(self) -> int:
        """Of memory, about: a record without a byte in it is an object all the same."""
        overhead = RECORD_OVERHEAD_BYTES + HEADER_OVERHEAD_BYTES * len(self.headers)
        return self.size_bytes + overhead


class Span(NamedTuple):
    """Offsets of a partition from `start` until before `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """What one look brought.

    Attributes:
        records: by partition, ascending by offset.
        next: by partition where to go on: at the span's end there is nothing left in it, whether
            its last offsets hold a record or not.
    """

    records: Mapping[int, Sequence[Record]] = field(default_factory=dict)
    next: Mapping[int, int] = field(default_factory=dict)


class RecordReader(Protocol):
    def fetch(self, spans: Mapping[int, Span], *, wait_s: float) -> Fetched:
        """What comes first of these spans, within about `wait_s`; nothing is no error.

        Raises:
            GatewayError: the brokers refuse.
        """
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """A record to be written; without a partition the key decides, or chance."""

    partition: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Where an acknowledged record lies."""

    partition: int
    offset: int
    timestamp_ms: int | None
