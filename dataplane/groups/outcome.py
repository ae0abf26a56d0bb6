"""What a decision of the coordinator asks of its host: answers to send, records to write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dataplane.groups.records import StoredRecord
    from dataplane.model.errors import ErrorCode

Ticket = int
"""The host's number for a request that waits for its answer."""
Producer = tuple[int, int]
"""Id and epoch of whose transaction a write is part of."""


class Write(NamedTuple):
    """Records that belong together, and what to decide once their fate is known.

    The host appends writes in the order given, one batch each or several writes to a batch, and
    waits until the batch is committed. Then it replays the records and calls `on_done(NONE)`; if
    they were not committed it calls `on_done` with the log's error, and replays only if they get
    committed later. One with a `producer` is a batch of its own, in that producer's transaction:
    its records are replayed as such.
    """

    records: Sequence[StoredRecord]
    on_done: Callable[[ErrorCode], Outcome]
    producer: Producer | None = None


class Outcome:
    """Answers may be sent at once; each write carries on by itself."""

    __slots__ = ("replies", "writes")

    def __init__(self) -> None:
        self.replies: list[tuple[Ticket, Any]] = []
        self.writes: list[Write] = []

    def reply(self, ticket: Ticket, result: Any) -> None:
        self.replies.append((ticket, result))

    def write(
        self,
        records: Sequence[StoredRecord],
        on_done: Callable[[ErrorCode], Outcome],
        *,
        producer: Producer | None = None,
    ) -> None:
        self.writes.append(Write(records, on_done, producer))
