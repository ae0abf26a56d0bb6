"""Producers that the transaction coordinator is asked about, and what it said (KIP-890, part 1)."""

from __future__ import annotations

from typing import NamedTuple


class Writer(NamedTuple):
    """Who writes in a transaction: the id that its coordinator knows it by, and its epoch."""

    transactional_id: str
    epoch: int


class Verification:
    """Stands for one question. It holds until a marker, or the transaction's first batch."""

    __slots__ = ()


class Verifications:
    """By producer id: a marker that is written meanwhile takes the answer's meaning away.

    Without it a batch that was late, behind the marker of its transaction, would begin another one
    here that nobody ends. Each request asks for itself and ends its own question alone, for
    anybody may name a producer id that is not his. Bounded by the requests under way.
    For that reason too it is kept who was let into a transaction, until its marker: an open one is
    open to nobody else. Bounded by the transactions that have the partition in them.
    """

    __slots__ = ("_admitted", "_by_producer")

    def __init__(self) -> None:
        self._by_producer: dict[int, set[Verification]] = {}
        self._admitted: dict[int, Writer] = {}

    def __len__(self) -> int:
        return len(self._by_producer)

    def begin(self, producer_id: int) -> Verification:
        """A question that is open until it is ended, or voided."""
        verification = Verification()
        self._by_producer.setdefault(producer_id, set()).add(verification)
        return verification

    def holds(self, producer_id: int, verification: Verification) -> bool:
        return verification in self._by_producer.get(producer_id, ())

    def end(self, producer_id: int, verification: Verification) -> None:
        """The question has served, whatever the answer was."""
        questions = self._by_producer.get(producer_id)
        if questions is not None:
            questions.discard(verification)
            if not questions:
                del self._by_producer[producer_id]

    def void(self, producer_id: int) -> None:
        """A marker, or a first batch: no question of before means anything any more."""
        self._by_producer.pop(producer_id, None)

    def admit(self, producer_id: int, writer: Writer) -> None:
        """The coordinator knows the writer as that producer, with the partition in what is open."""
        self._admitted[producer_id] = writer

    def is_admitted(self, producer_id: int, writer: Writer) -> bool:
        return self._admitted.get(producer_id) == writer

    def transaction_ended(self, producer_id: int) -> None:
        """By a marker: neither questions nor answers of before mean anything any more."""
        self.void(producer_id)
        self._admitted.pop(producer_id, None)

    def clear(self) -> None:
        self._by_producer.clear()
        self._admitted.clear()
