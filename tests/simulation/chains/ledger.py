"""What the chains know of their transactions, and what they may conclude from it.

Only an EndTxn with `committed` commits a transaction, and only its own instance sends that: one for
which it was never sent stays unread for ever, whoever ends it.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter

VALUE = re.compile(rb"attempt (\d+): record (\d+)-(\d+)\.*$")


@dataclasses.dataclass(slots=True)
class Attempt:
    """One transaction of an instance: outputs of some records of one partition of `feed`."""

    number: int
    chain: int
    source: int
    first: int
    end: int
    """Offset behind the last record that it has transformed; what it commits."""
    commit_sent: bool = False
    commit_acknowledged: bool = False
    commit_refused: bool = False
    """The first word on it was a no: it has not happened."""
    may_have_ended: bool = False
    """By itself, by a successor, or by the coordinator's clock."""
    placed: dict[int, int] = dataclasses.field(default_factory=dict)
    """By partition of `result`: the offset of the first batch there that was acknowledged."""

    def value(self, offset: int, padding: int = 0) -> bytes:
        return b"attempt %d: record %d-%d" % (self.number, self.source, offset) + b"." * padding


@dataclasses.dataclass(frozen=True, slots=True)
class Output:
    """A record of `result`, as its value says."""

    attempt: int
    source: int
    offset: int

    @classmethod
    def of(cls, value: bytes) -> Output:
        found = VALUE.match(value)
        if found is None:
            raise ValueError(f"no output: {value!r}")
        return cls(*(int(part) for part in found.groups()))


class Ledger:
    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.open: dict[int, Attempt] = {}
        """Those that nobody may have ended."""
        self._fencing: Counter[int] = Counter()

    def begin(self, chain: int, source: int, first: int, end: int) -> Attempt:
        attempt = Attempt(len(self.attempts), chain, source, first, end)
        self.attempts.append(attempt)
        if self._fencing[chain]:
            attempt.may_have_ended = True
        else:
            self.open[attempt.number] = attempt
        return attempt

    def may_have_ended(self, attempt: Attempt) -> None:
        attempt.may_have_ended = True
        self.open.pop(attempt.number, None)

    def begins_fencing(self, chain: int) -> None:
        """An InitProducerId is on its way: until it is answered it may end whatever is open."""
        self._fencing[chain] += 1
        for attempt in [each for each in self.open.values() if each.chain == chain]:
            self.may_have_ended(attempt)

    def has_fenced(self, chain: int) -> None:
        """It was answered, and no copy of it is left that may come yet."""
        self._fencing[chain] -= 1

    def committed_at_least(self, source: int) -> int:
        """What the group has committed of a partition of `feed`, for all that is known."""
        return max(
            (a.end for a in self.attempts if a.source == source and a.commit_acknowledged),
            default=0,
        )

    def committed_at_most(self, source: int) -> int:
        return max(
            (a.end for a in self.attempts if a.source == source and a.commit_sent), default=0
        )
