"""The transactions of a log that `read_committed` consumers wait for, oldest first.

Every read asks where the oldest begins, and a log may have thousands open: no method walks them.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class CompletedTransaction(NamedTuple):
    """A transaction that a marker just ended."""

    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool


class UndecidedTransactions:
    """Those that are open, and those whose marker is not replicated yet.

    A log grows at its end: transactions begin in the order of their first offsets, and markers
    come in the order of theirs. OrderedDict, because the first key of a dict that is emptied from
    its front is behind as many gaps.
    """

    __slots__ = ("_first_offsets", "_open", "_unreplicated")

    def __init__(self) -> None:
        self._open: OrderedDict[int, int] = OrderedDict()  # producer id -> first offset
        self._unreplicated: deque[CompletedTransaction] = deque()
        self._first_offsets: OrderedDict[int, None] = OrderedDict()  # of both

    def __bool__(self) -> bool:
        return bool(self._first_offsets)

    def begin(self, producer_id: int, first_offset: int) -> None:
        """`first_offset` is above that of every transaction before."""
        self._open[producer_id] = first_offset
        self._first_offsets[first_offset] = None

    def load(self, transactions: Iterable[tuple[int, int]]) -> None:
        """Those of a snapshot, in any order: producer id and first offset."""
        for producer_id, first_offset in sorted(transactions, key=lambda each: each[1]):
            self.begin(producer_id, first_offset)

    def end(self, completed: CompletedTransaction) -> None:
        """Its marker is in the log, above every marker before."""
        self._open.pop(completed.producer_id, None)
        self._unreplicated.append(completed)

    def is_open(self, producer_id: int) -> bool:
        return producer_id in self._open

    def first_offset(self) -> int | None:
        """Where the oldest transaction begins whose end is not replicated yet."""
        return next(iter(self._first_offsets), None)

    def first_open_offset(self) -> int | None:
        """Where the oldest transaction begins that has no marker yet."""
        return next(iter(self._open.values()), None)

    def oldest_open(self) -> int | None:
        """The producer of the oldest transaction that has no marker yet."""
        return next(iter(self._open), None)

    def on_high_watermark(self, high_watermark: int) -> None:
        unreplicated = self._unreplicated
        while unreplicated and unreplicated[0].last_offset < high_watermark:
            self._first_offsets.pop(unreplicated.popleft().first_offset, None)

    def clear(self) -> None:
        self._open.clear()
        self._unreplicated.clear()
        self._first_offsets.clear()
