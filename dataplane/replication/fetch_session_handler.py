"""A follower's side of its fetch session with a leader (KIP-227).

The first request names every partition; the leader opens a session with its answer. From then on
a request says only what has changed: new positions, partitions that were added or are left out.
The leader in turn sends only news. What it has sent and the follower has not taken (a lost answer,
an answer to a request of the past, a log that was truncated meanwhile) it would never send again,
so the next request is then a full one.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from dataplane.model.errors import ErrorCode
from dataplane.replication.fetch_sessions import INITIAL_EPOCH, NO_SESSION, next_epoch

if TYPE_CHECKING:
    import uuid

    PartitionKey: TypeAlias = tuple[uuid.UUID, int]


class FetchPosition(NamedTuple):
    """What is asked of one partition: as long as it is equal it need not be named again."""

    leader_epoch: int
    offset: int
    last_fetched_epoch: int
    log_start_offset: int


@dataclasses.dataclass(frozen=True, slots=True)
class FetchRequestData:
    """One request. `number` grows by one with each; `epoch` is the session's, 0 for a full one."""

    number: int
    session_id: int
    epoch: int
    positions: list[tuple[PartitionKey, FetchPosition]]
    forgotten: list[PartitionKey]
    may_wait: bool = True

    @property
    def is_full(self) -> bool:
        return self.epoch == INITIAL_EPOCH


class FetchSessionHandler:
    """What is wanted, and what of it has been sent to the leader. No I/O, no clock."""

    def __init__(self) -> None:
        self._wanted: dict[PartitionKey, FetchPosition] = {}
        self._changed: dict[PartitionKey, None] = {}
        self._sent: dict[PartitionKey, tuple[FetchPosition, int]] = {}  # and in which request
        self._id = NO_SESSION
        self._epoch = INITIAL_EPOCH
        self._number = 0
        self._full_number = 0
        self._must_be_full = True
        self._is_declined = False

    def __len__(self) -> int:
        """Partitions that are wanted."""
        return len(self._wanted)

    @property
    def is_open(self) -> bool:
        """Whether the next request may be incremental."""
        return self._id != NO_SESSION and not self._must_be_full

    # -- what is wanted

    def want(self, key: PartitionKey, position: FetchPosition) -> None:
        if self._wanted.get(key) != position:
            self._wanted[key] = position
            self._changed[key] = None

    def leave_out(self, key: PartitionKey) -> None:
        if self._wanted.pop(key, None) is not None:
            self._changed[key] = None

    def renew(self, key: PartitionKey) -> None:
        """Who follows this partition is another one now, and has taken nothing yet."""
        if self._sent.pop(key, None) is not None:
            self.require_full()

    def require_full(self) -> None:
        """Something may have been sent and not taken: the next request is a full one."""
        self._must_be_full = True

    # -- asking

    def next_request(self) -> FetchRequestData | None:
        """None when nothing is wanted. A full one may wait only where sessions are declined."""
        if not self._wanted:
            return None
        self._number += 1
        number = self._number
        if not self.is_open:
            return self._full(number)
        positions: list[tuple[PartitionKey, FetchPosition]] = []
        forgotten: list[PartitionKey] = []
        for key in self._changed:
            wanted, sent = self._wanted.get(key), self._sent.get(key)
            if wanted is None:
                if sent is not None:
                    del self._sent[key]
                    forgotten.append(key)
            elif sent is None or sent[0] != wanted:
                self._sent[key] = wanted, number
                positions.append((key, wanted))
        self._changed.clear()
        epoch = self._epoch
        self._epoch = next_epoch(epoch)
        return FetchRequestData(number, self._id, epoch, positions, forgotten)

    def _full(self, number: int) -> FetchRequestData:
        """The old session's id comes along, so that the leader ends it."""
        self._full_number = number
        self._sent = {key: (position, number) for key, position in self._wanted.items()}
        self._changed.clear()
        old_id, self._id = self._id, NO_SESSION
        self._must_be_full = False
        return FetchRequestData(
            number,
            old_id,
            INITIAL_EPOCH,
            list(self._wanted.items()),
            [],
            may_wait=self._is_declined,
        )

    # -- answers

    def is_newest(self, request: FetchRequestData) -> bool:
        return request.number == self._number

    def on_response(self, request: FetchRequestData, session_id: int, error: ErrorCode) -> bool:
        """Whether the answer holds partitions; what it says of the session is noted.

        The leader refuses a request that was overtaken by the next one: that says nothing.
        """
        if error != ErrorCode.NONE:
            if self.is_newest(request):
                if error == ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
                    self._id = NO_SESSION
                self.require_full()
            return False
        if request.is_full:
            if request.number == self._full_number:
                self._id = session_id
                self._epoch = next_epoch(INITIAL_EPOCH)
                self._is_declined = session_id == NO_SESSION
        elif session_id != request.session_id:
            self.require_full()
        return True

    def on_lost(self, request: FetchRequestData) -> None:
        """Its answer will not come; what was in it will not be sent again."""
        if request.number >= self._full_number:
            self.require_full()

    def requested(self, request: FetchRequestData, key: PartitionKey) -> FetchPosition | None:
        """The position that an answer for this partition belongs to; None: not to be taken."""
        sent = self._sent.get(key)
        if sent is None:
            return None
        position, number = sent
        if number <= request.number:
            return position
        self.on_lost(request)
        return None
