"""A follower's side of its fetch session with a leader (KIP-227).

The first question names every partition; the leader opens a session with its answer. From then on
a question says only what has changed: new positions, partitions that were added or are left out.
The leader in turn tells only news. Whatever may have been told and not heard (a lost answer, an
answer to a question of the past, a log that was cut meanwhile) would never be told again, so the
follower then begins anew with a full question.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from dataplane.model.errors import ErrorCode
from dataplane.replication.fetch_sessions import INITIAL_EPOCH, NO_SESSION, next_epoch

if TYPE_CHECKING:
    import uuid

    PartitionKey: TypeAlias = tuple[uuid.UUID, int]


class Asked(NamedTuple):
    """What is asked of one partition: as long as it is equal it need not be said again."""

    leader_epoch: int
    offset: int
    last_fetched_epoch: int
    log_start_offset: int


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """One request. `number` grows by one with each; `epoch` is the session's, 0 for a full one."""

    number: int
    session_id: int
    epoch: int
    asked: list[tuple[PartitionKey, Asked]]
    forgotten: list[PartitionKey]
    may_wait: bool = True

    @property
    def is_full(self) -> bool:
        return self.epoch == INITIAL_EPOCH


class FollowerSession:
    """What is wanted, and what the leader has been told of it. No I/O, no clock."""

    def __init__(self) -> None:
        self._wanted: dict[PartitionKey, Asked] = {}
        self._changed: dict[PartitionKey, None] = {}
        self._said: dict[PartitionKey, tuple[Asked, int]] = {}  # and in which question
        self._id = NO_SESSION
        self._epoch = INITIAL_EPOCH
        self._number = 0
        self._full_number = 0
        self._must_begin_anew = True
        self._is_declined = False

    def __len__(self) -> int:
        """Partitions that are wanted."""
        return len(self._wanted)

    @property
    def is_open(self) -> bool:
        """Whether the next question may be incremental."""
        return self._id != NO_SESSION and not self._must_begin_anew

    # -- what is wanted

    def want(self, key: PartitionKey, asked: Asked) -> None:
        if self._wanted.get(key) != asked:
            self._wanted[key] = asked
            self._changed[key] = None

    def leave_out(self, key: PartitionKey) -> None:
        if self._wanted.pop(key, None) is not None:
            self._changed[key] = None

    def renew(self, key: PartitionKey) -> None:
        """Who follows this partition is another one now, and has heard nothing yet."""
        if self._said.pop(key, None) is not None:
            self.begin_anew()

    def begin_anew(self) -> None:
        """Something may have been told and not heard: the next question is a full one."""
        self._must_begin_anew = True

    # -- asking

    def next_question(self) -> Question | None:
        """None when nothing is wanted. A full one may wait only where sessions are declined."""
        if not self._wanted:
            return None
        self._number += 1
        number = self._number
        if not self.is_open:
            return self._full(number)
        asked: list[tuple[PartitionKey, Asked]] = []
        forgotten: list[PartitionKey] = []
        for key in self._changed:
            wanted, said = self._wanted.get(key), self._said.get(key)
            if wanted is None:
                if said is not None:
                    del self._said[key]
                    forgotten.append(key)
            elif said is None or said[0] != wanted:
                self._said[key] = wanted, number
                asked.append((key, wanted))
        self._changed.clear()
        epoch = self._epoch
        self._epoch = next_epoch(epoch)
        return Question(number, self._id, epoch, asked, forgotten)

    def _full(self, number: int) -> Question:
        """The old session's id comes along, so that the leader ends it."""
        self._full_number = number
        self._said = {key: (asked, number) for key, asked in self._wanted.items()}
        self._changed.clear()
        old_id, self._id = self._id, NO_SESSION
        self._must_begin_anew = False
        return Question(
            number,
            old_id,
            INITIAL_EPOCH,
            list(self._wanted.items()),
            [],
            may_wait=self._is_declined,
        )

    # -- hearing

    def is_newest(self, question: Question) -> bool:
        return question.number == self._number

    def on_answer(self, question: Question, session_id: int, error: ErrorCode) -> bool:
        """Whether the answer tells of partitions; what it says of the session is noted.

        The leader refuses a question that was overtaken by the next one: that says nothing.
        """
        if error != ErrorCode.NONE:
            if self.is_newest(question):
                if error == ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
                    self._id = NO_SESSION
                self.begin_anew()
            return False
        if question.is_full:
            if question.number == self._full_number:
                self._id = session_id
                self._epoch = next_epoch(INITIAL_EPOCH)
                self._is_declined = session_id == NO_SESSION
        elif session_id != question.session_id:
            self.begin_anew()
        return True

    def on_lost(self, question: Question) -> None:
        """Its answer will not come; what it told will not be told again."""
        if question.number >= self._full_number:
            self.begin_anew()

    def heard(self, question: Question, key: PartitionKey) -> Asked | None:
        """What the answer about this partition answers; None when it is not to be taken."""
        said = self._said.get(key)
        if said is None:
            return None
        asked, number = said
        if number <= question.number:
            return asked
        self.on_lost(question)
        return None
