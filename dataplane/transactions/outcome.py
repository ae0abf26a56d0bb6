"""What a decision of the coordinator asks of its host: answers, records, markers."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dataplane.model.errors import ErrorCode
    from dataplane.transactions.markers import Markers
    from dataplane.transactions.records import TransactionRecord

Ticket = int
"""The host's number for a request that waits for its answer."""


@dataclasses.dataclass(frozen=True, slots=True)
class Write:
    """Records to append, and what to decide once their fate is known.

    The host appends writes in the order given and waits until they are committed. Then it replays
    the records and calls `on_done(NONE)`; if they were not committed it calls `on_done` with the
    log's error. A write that was reported as timed out and is committed after all is replayed, and
    `on_done(NONE)` is called then: a decided transaction is carried on whoever still listens.
    """

    records: Sequence[TransactionRecord]
    on_done: Callable[[ErrorCode], Outcome]
    producer: ClassVar[None] = None
    """A coordinator's own records lie in no producer's transaction."""


@dataclasses.dataclass(slots=True)
class Outcome:
    """Answers may be sent at once; writes and markers carry on by themselves."""

    replies: list[tuple[Ticket, Any]] = dataclasses.field(default_factory=list)
    writes: list[Write] = dataclasses.field(default_factory=list)
    markers: list[Markers] = dataclasses.field(default_factory=list)

    def reply(self, ticket: Ticket, result: Any) -> None:
        self.replies.append((ticket, result))

    def write(
        self, records: Sequence[TransactionRecord], on_done: Callable[[ErrorCode], Outcome]
    ) -> None:
        self.writes.append(Write(records, on_done))
