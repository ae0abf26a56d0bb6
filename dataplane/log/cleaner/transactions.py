"""Which batches belong to aborted transactions, and which markers nobody needs any more.

Fed with the batches of a log in their order. All transactions in that range are decided: nothing
beyond the last stable offset is ever compacted.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from dataplane.wire.batch_layout import TRANSACTIONAL_FLAG

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.log.index.transaction_index import AbortedTransaction
    from dataplane.log.producers.producer_state import Marker
    from dataplane.log.reading.scan import BatchHead


class CleanedTransactions:
    """Follows transactions through one pass over the log."""

    __slots__ = ("_aborted", "_committing", "_pending", "kept")

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        self._pending = deque(sorted(aborted, key=lambda each: each.first_offset))
        # Producer id to its aborted transaction and whether a batch of it is still there.
        self._aborted: dict[int, tuple[AbortedTransaction, bool]] = {}
        self._committing: set[int] = set()
        self.kept: list[AbortedTransaction] = []
        """Aborted transactions whose marker stays because data of theirs was met."""

    def is_aborted(self, head: BatchHead) -> bool:
        """Whether the data batch `head` belongs to an aborted transaction."""
        self._begin_up_to(head.last_offset)
        if not head.attributes & TRANSACTIONAL_FLAG:
            return False
        known = self._aborted.get(head.producer_id)
        if known is None:
            self._committing.add(head.producer_id)
            return False
        self._aborted[head.producer_id] = known[0], True
        return True

    def is_marker_idle(self, head: BatchHead, marker: Marker | None) -> bool:
        """Whether the control batch `head` ends a transaction of which no data is left."""
        self._begin_up_to(head.last_offset)
        if marker is None:  # emptied before; another kind of control record is not ours to drop
            return head.records == 0
        if marker.is_commit:
            if head.producer_id not in self._committing:
                return True
            self._committing.discard(head.producer_id)
            return False
        known = self._aborted.pop(head.producer_id, None)
        if known is None or not known[1]:
            return True
        self.kept.append(known[0])
        return False

    def _begin_up_to(self, offset: int) -> None:
        pending = self._pending
        while pending and pending[0].first_offset <= offset:
            aborted = pending.popleft()
            self._aborted.setdefault(aborted.producer_id, (aborted, False))
