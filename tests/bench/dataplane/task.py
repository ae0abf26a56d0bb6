"""The generator's input and output, as JSON between two processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Lane:
    """One connection. `is_alone`: nobody else writes to this partition meanwhile."""

    port: int
    topic: str
    partition: int
    is_alone: bool = True
    stored_batches: int = 0


class Depth(NamedTuple):
    """How much is open at once; `in_flight` is per connection."""

    connections: int
    in_flight: int
    in_bursts: bool = False

    def __str__(self) -> str:
        way = "in bursts" if self.in_bursts else "in flight"
        return f"{self.connections} × {self.in_flight} {way}"


@dataclass(frozen=True, slots=True)
class Task:
    """Produce batches of `batch_bytes`; or fetch `fetch_bytes` at a time when that is not 0.

    It ends after `seconds`, or `payload_bytes_max` if that is sooner. `in_flight` is per connection. With `per_second` one connection sends at that pace and times
    each answer. `is_dummy`: the other side is no broker, answers are only counted.
    """

    lanes: list[Lane]
    seconds: float
    payload_bytes_max: int = 1 << 62
    in_flight: int = 1
    in_bursts: bool = False  # ask again when everything is answered, as a client that flushes
    batch_bytes: int = 0
    acks: int = 1
    per_second: int = 0
    fetch_bytes: int = 0
    fetch_batches: int = 0  # whole batches in one answer
    records: int = 0  # of one stored batch
    is_dummy: bool = False
    security: str = ""  # of the connections, as `secured.connect` knows it

    @classmethod
    def load(cls, fields: dict[str, Any]) -> Task:
        return cls(**{**fields, "lanes": [Lane(**lane) for lane in fields["lanes"]]})


@dataclass(frozen=True, slots=True)
class Outcome:
    requests: int
    payload_bytes: int
    seconds: float
    latencies_ms: list[float]
    cpu_s: float = 0.0  # of the generator itself

    @property
    def mb_s(self) -> float:
        return self.payload_bytes / self.seconds / 1e6

    @property
    def requests_s(self) -> float:
        return self.requests / self.seconds

    @property
    def client_percent(self) -> float:
        """Of one core: near 100, it is the generator that was measured."""
        return self.cpu_s / self.seconds * 100
