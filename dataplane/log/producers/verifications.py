"""Producers that the transaction coordinator is being asked about (KIP-890, part 1)."""

from __future__ import annotations


class Verification:
    """Stands for one question. It holds until a marker, or the transaction's first batch."""

    __slots__ = ()


class Verifications:
    """By producer id: a marker that is written meanwhile takes the answer's meaning away.

    Without it a batch that was late, behind the marker of its transaction, would begin another one
    here that nobody ends. Bounded by the requests under way and by open transactions: whoever asked
    forgets a question that was answered by no.
    """

    __slots__ = ("_by_producer",)

    def __init__(self) -> None:
        self._by_producer: dict[int, Verification] = {}

    def __len__(self) -> int:
        return len(self._by_producer)

    def begin(self, producer_id: int) -> Verification:
        """The question that is open for the producer, or a new one."""
        return self._by_producer.setdefault(producer_id, Verification())

    def holds(self, producer_id: int, verification: Verification) -> bool:
        return self._by_producer.get(producer_id) is verification

    def forget(self, producer_id: int) -> None:
        self._by_producer.pop(producer_id, None)

    def clear(self) -> None:
        self._by_producer.clear()
