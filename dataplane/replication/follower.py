"""One partition as a follower sees it: what to fetch next, what to cut (KIP-101, KIP-279, KIP-595).

There is no separate truncation phase: every fetch carries the epoch of the last record we have,
and the leader answers with where our histories part.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol

from dataplane.model.errors import ErrorCode
from dataplane.replication.effects import (
    AppendToLog,
    FetchLeaderBounds,
    RaiseLogStart,
    SendFetch,
    StopFollowing,
    TruncateFully,
    TruncateTo,
    UpdateHighWatermark,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataplane.replication.effects import FollowerEffect

BACKOFF_MS = 1_000
NO_EPOCH = -1

_FENCED = frozenset({ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.UNKNOWN_TOPIC_ID})
"""The leader is newer than what we know: retrying in this epoch is pointless."""


class LogView(Protocol):
    """What the follower needs to know of its own log."""

    @property
    def log_start_offset(self) -> int: ...

    @property
    def log_end_offset(self) -> int: ...

    @property
    def high_watermark(self) -> int: ...

    @property
    def latest_epoch(self) -> int | None: ...

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]: ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FetchAnswer:
    """What the leader said about one partition. `asked_offset` is what we had asked for."""

    asked_offset: int
    error: ErrorCode = ErrorCode.NONE
    records: memoryview = dataclasses.field(default_factory=lambda: memoryview(b""))
    high_watermark: int = -1
    log_start_offset: int = -1
    diverging_epoch: int = -1
    diverging_end_offset: int = -1


class FollowerCore:
    """Events in, effects out. Effects are to be carried out in order, before the next event."""

    def __init__(self, log: LogView, *, leader_epoch: int, backoff_ms: int = BACKOFF_MS) -> None:
        self._log = log
        self._backoff_ms = backoff_ms
        self.leader_epoch = leader_epoch
        self.is_stopped = False

    def start(self) -> Sequence[FollowerEffect]:
        return (self._fetch(),)

    def on_leader_epoch(self, leader_epoch: int) -> Sequence[FollowerEffect]:
        """The controller named a leader of a later epoch. Older words are ignored."""
        if leader_epoch < self.leader_epoch:
            return ()
        self.leader_epoch = leader_epoch
        self.is_stopped = False
        return (self._fetch(),)

    def on_no_answer(self) -> Sequence[FollowerEffect]:
        """The connection broke or the fetch timed out."""
        return () if self.is_stopped else (self._fetch(delay_ms=self._backoff_ms),)

    def on_fetch_response(self, answer: FetchAnswer) -> Sequence[FollowerEffect]:
        """Append, cut, or wait. Fetching goes on by `on_applied`, when the effects are done."""
        if self.is_stopped or answer.asked_offset != self._log.log_end_offset:
            return ()  # asked before the log was cut: it answers a question of the past
        if answer.error == ErrorCode.OFFSET_OUT_OF_RANGE:
            return (FetchLeaderBounds(self.leader_epoch),)
        if answer.error in _FENCED:
            self.is_stopped = True
            return (StopFollowing(answer.error),)
        if answer.error != ErrorCode.NONE:
            return (self._fetch(delay_ms=self._backoff_ms),)
        if answer.diverging_epoch >= 0:
            return (self._truncation(answer.diverging_epoch, answer.diverging_end_offset),)
        effects: list[FollowerEffect] = []
        if len(answer.records):
            effects.append(AppendToLog(answer.records))
        if answer.high_watermark >= 0:
            effects.append(UpdateHighWatermark(answer.high_watermark))
        if answer.log_start_offset > self._log.log_start_offset:
            effects.append(RaiseLogStart(answer.log_start_offset))
        return effects

    def on_applied(self) -> Sequence[FollowerEffect]:
        """The effects of the last answer are carried out."""
        return () if self.is_stopped else (self._fetch(),)

    def on_leader_bounds(self, start_offset: int, end_offset: int) -> Sequence[FollowerEffect]:
        """Our end lay outside the leader's log [start, end): cut to its end, or begin anew."""
        if end_offset < self._log.log_end_offset:
            # Only an unclean election lets a leader be shorter than a follower.
            return (TruncateTo(max(end_offset, self._log.log_start_offset)),)
        if start_offset > self._log.log_end_offset:
            return (TruncateFully(start_offset),)
        return (self._fetch(),)

    def _fetch(self, *, delay_ms: int = 0) -> SendFetch:
        epoch = self._log.latest_epoch
        return SendFetch(
            self._log.log_end_offset,
            NO_EPOCH if epoch is None else epoch,
            self.leader_epoch,
            delay_ms,
        )

    def _truncation(self, leader_epoch: int, leader_end_offset: int) -> TruncateTo:
        """Where our history parts from the leader's.

        The leader's largest epoch not above ours ends at `leader_end_offset`. Do we know that
        epoch, the shorter end is common. Do we not, cut to the end of our largest epoch below it
        and ask again. Nothing known: the high watermark is common by definition.
        """
        log = self._log
        epoch, end_offset = log.end_offset_for_epoch(leader_epoch)
        if epoch == NO_EPOCH:
            target = log.high_watermark
        elif epoch == leader_epoch:
            target = min(leader_end_offset, end_offset)
        else:
            target = end_offset
        return TruncateTo(max(min(target, log.log_end_offset), log.log_start_offset))
