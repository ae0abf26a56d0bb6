"""Producers that the transaction coordinator is being asked about (KIP-890, part 1)."""

from __future__ import annotations


class Verification:
    """Stands for one question. It holds until a marker, or the transaction's first batch."""

    __slots__ = ()


class Verifications:
    """By producer id: a marker that is written meanwhile takes the answer's meaning away.

    Without it a batch that was late, behind the marker of its transaction, would begin another one
    here that nobody ends. Each request asks for itself and ends its own question alone, for
    anybody may name a producer id that is not his. Bounded by the requests under way.
    """

    __slots__ = ("_by_producer",)

    def __init__(self) -> None:
        self._by_producer: dict[int, set[Verification]] = {}

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

    def clear(self) -> None:
        self._by_producer.clear()
