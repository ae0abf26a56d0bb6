"""What happened to chains: attempts, reads, looks at stable and committed offsets. Plain data.

A chain is one transactional id that consumes a feed, transforms each record, and produces it to a
topic of its own together with the group's offsets, one transaction an *attempt*. Times are
monotonic seconds of the one machine that writes the history, so they compare.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
import math
import zlib
from typing import NamedTuple


def transform(source: str) -> str:
    """What a chain makes of a record's id: the id, and a sum that no other id has by chance."""
    return f"{source}={zlib.crc32(source.encode()):08x}"


class Decision(enum.Enum):
    """How an attempt ended, as its client knows. UNKNOWN: it was fenced, or lost its coordinator,
    before an answer, and the transaction may be committed or not.
    """

    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


class Placed(NamedTuple):
    """The first acknowledged record of an attempt in one partition, and when it was."""

    partition: int
    offset: int
    at_s: float


@dataclasses.dataclass(slots=True)
class Attempt:
    """One transaction. `closing_s` is when its end was first asked for, before which it was open
    for certain if `is_clean`: no error of any kind came in between.
    """

    id: str
    chain: str
    sources: list[str]
    decision: Decision = Decision.UNKNOWN
    is_clean: bool = False
    closing_s: float = math.inf
    placed: dict[int, Placed] = dataclasses.field(default_factory=dict)


class Output(NamedTuple):
    """One record of a chain's topic as a reader found it."""

    partition: int
    offset: int
    attempt: str
    value: str


class Look(NamedTuple):
    """One answer about the last stable offset of a partition, between two about its producers.

    `before` and `after` hold (producer id, first offset) of each open transaction: one that is in
    both was open when `stable` was answered by the same broker.
    """

    broker: int
    topic: str
    partition: int
    before: frozenset[tuple[int, int]]
    stable: int
    after: frozenset[tuple[int, int]]
    from_s: float
    to_s: float


class OffsetSeen(NamedTuple):
    """One answer about a committed offset; asked at `from_s`, answered by `to_s`."""

    group: str
    partition: int
    offset: int
    broker: int
    requires_stable: bool
    from_s: float
    to_s: float


class End(NamedTuple):
    """How one partition stands when all is over. `open_starts` are first offsets of transactions
    that are still open in it.
    """

    topic: str
    partition: int
    stable: int
    high_watermark: int
    open_starts: tuple[int, ...]


@dataclasses.dataclass(slots=True)
class ChainHistory:
    """One chain's: what it tried, what the others read of its topic, meanwhile and in the end."""

    chain: str
    topic: str
    attempts: list[Attempt] = dataclasses.field(default_factory=list)
    read_on_the_way: list[Output] = dataclasses.field(default_factory=list)
    committed: list[Output] = dataclasses.field(default_factory=list)
    uncommitted: list[Output] = dataclasses.field(default_factory=list)

    def longest_gap_s(self) -> float:
        """Between two attempts that were committed, one after the other."""
        times = sorted(a.closing_s for a in self.attempts if a.decision is Decision.COMMITTED)
        return max((after - before for before, after in itertools.pairwise(times)), default=0.0)
