"""What may be read of a topic's records, and written: one reader or writer at a time, no group.

Reading commits nothing and joins nothing: the brokers keep no trace of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

Header = tuple[str, bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A record as it lies in its partition.

    Attributes:
        timestamp_ms: None where it has none.
        is_log_append_time: the broker's time, not the producer's.
    """

    partition: int
    offset: int
    timestamp_ms: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    is_log_append_time: bool = False

    @property
    def size_bytes(self) -> int:
        """Of key, value and headers; not of the batch, which may be compressed."""
        headers = sum(len(name) + len(value or b"") for name, value in self.headers)
        return len(self.key or b"") + len(self.value or b"") + headers


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
