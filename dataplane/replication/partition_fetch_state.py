"""One followed partition: what its next fetch says, and what the leader's answers do to it.

KIP-101, KIP-279, KIP-595: every fetch carries the epoch of the last record we have, and the leader
answers with where our histories part. So a log is truncated by the answer to a fetch, and there is
no phase for it before.

    FETCHING ──DIVERGED──────────────────────────► TRUNCATING ──APPLIED──► FETCHING
    FETCHING ──OUT_OF_RANGE──► OUT_OF_RANGE ──LEADER_BOUNDS──► TRUNCATING
    every state but FAILED ──FAILED──► FAILED ──DELAY_OVER──► FETCHING
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from dataplane.model.errors import ErrorCode
from dataplane.model.retry_warning import RetryWarning
from dataplane.model.transitions import IllegalTransitionError
from dataplane.replication.effects import (
    AppendToLog,
    PartitionFailed,
    RaiseLogStart,
    Truncated,
    TruncateFully,
    TruncateTo,
    UpdateHighWatermark,
)
from dataplane.replication.fetch_session_handler import FetchPosition

if TYPE_CHECKING:
    import uuid
    from collections.abc import Sequence

    from dataplane.model.ids import TopicPartition
    from dataplane.replication.effects import FetcherReport, FollowerEffect
    from dataplane.replication.fetch_session_handler import PartitionKey
    from dataplane.wire.messages.fetch import EpochEndOffset, PartitionData

DELAY_MIN_MS: Final = 20
NO_EPOCH: Final = -1
UNKNOWN_OFFSET: Final = -1

EXPECTED_REFUSALS: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)
"""What a leader answers while topics and leaders come and go: it does not know of its role yet, or
the follower does not know of its end. All of them are asked again after a delay. Kafka leaves a
fenced follower alone until the controller names a leader; asking on is harmless, and goes on by
itself where that command was lost."""

_NEVER_TRUNCATED: Final = (1 << 63, 0)

Position = tuple[int, int]  # log end and last epoch: equal positions get equal answers


class FetchState(enum.Enum):
    """Kafka's names; OUT_OF_RANGE is part of its Truncating, and a failed one is tried again."""

    FETCHING = "Fetching"
    OUT_OF_RANGE = "OutOfRange"  # the leader is asked where its log begins and ends
    TRUNCATING = "Truncating"
    FAILED = "Failed"  # left out of the fetches until its delay is over


class FetchEvent(enum.Enum):
    """What happens to a followed partition."""

    ANSWERED = "answered"
    DIVERGED = "diverged"
    OUT_OF_RANGE = "out of range"
    LEADER_BOUNDS = "leader bounds"
    APPLIED = "applied"
    FAILED = "failed"
    DELAY_OVER = "delay over"


_FETCHING: Final = FetchState.FETCHING

TRANSITIONS: Final[dict[tuple[FetchState, FetchEvent], FetchState]] = {
    (FetchState.FETCHING, FetchEvent.ANSWERED): FetchState.FETCHING,
    (FetchState.FETCHING, FetchEvent.APPLIED): FetchState.FETCHING,
    (FetchState.FETCHING, FetchEvent.DIVERGED): FetchState.TRUNCATING,
    (FetchState.FETCHING, FetchEvent.OUT_OF_RANGE): FetchState.OUT_OF_RANGE,
    (FetchState.FETCHING, FetchEvent.FAILED): FetchState.FAILED,
    (FetchState.OUT_OF_RANGE, FetchEvent.LEADER_BOUNDS): FetchState.TRUNCATING,
    (FetchState.OUT_OF_RANGE, FetchEvent.FAILED): FetchState.FAILED,
    (FetchState.TRUNCATING, FetchEvent.APPLIED): FetchState.FETCHING,
    (FetchState.TRUNCATING, FetchEvent.FAILED): FetchState.FAILED,
    (FetchState.FAILED, FetchEvent.DELAY_OVER): FetchState.FETCHING,
}
"""Every legal move; whatever is not here is an error of the caller."""


class LogView(Protocol):
    """What is read of the follower's own log."""

    @property
    def log_start_offset(self) -> int: ...

    @property
    def log_end_offset(self) -> int: ...

    @property
    def high_watermark(self) -> int: ...

    @property
    def latest_epoch(self) -> int | None: ...

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]: ...


class FollowedPartition(Protocol):
    """The replica that follows; whoever carries effects out finds it in `PartitionFetchState`."""

    @property
    def topic_id(self) -> uuid.UUID: ...

    @property
    def topic_partition(self) -> TopicPartition: ...

    @property
    def log(self) -> LogView: ...

    @property
    def leader_epoch(self) -> int: ...

    @property
    def is_in_isr(self) -> bool: ...


P = TypeVar("P", bound=FollowedPartition)


class PartitionFetchState(Generic[P]):
    """A partition followed in one leader epoch; a later epoch makes a new object.

    Events in, effects out: what is returned is to be carried out in order, followed by
    `on_applied`, or by `on_failed`. Nothing returned: nothing is to be done. Times are monotonic
    milliseconds. What is worth counting and logging is appended to `reports`.
    """

    __slots__ = (
        "_append_offset",
        "_backoff_max_ms",
        "_circle_delay_ms",
        "_delay_ms",
        "_delayed_until_ms",
        "_has_failed",
        "_lag",
        "_leader_watermark",
        "_lowest_truncation",
        "_refusals",
        "_reports",
        "_truncation",
        "key",
        "leader_epoch",
        "log",
        "partition",
        "state",
    )

    def __init__(self, partition: P, *, backoff_max_ms: int, reports: list[FetcherReport]) -> None:
        self.partition = partition
        self.key: PartitionKey = partition.topic_id, partition.topic_partition.partition
        self.log: LogView = partition.log
        self.leader_epoch = partition.leader_epoch
        self.state = FetchState.FETCHING
        self._reports = reports
        self._backoff_max_ms = backoff_max_ms
        self._delay_ms = DELAY_MIN_MS
        self._circle_delay_ms = DELAY_MIN_MS
        self._delayed_until_ms = 0
        self._has_failed = False
        self._refusals = RetryWarning()
        self._lowest_truncation: Position = _NEVER_TRUNCATED
        self._truncation: tuple[Position, TruncateTo | TruncateFully] | None = None
        # Who the controller counts in sync has what is committed, whoever leads from now on.
        self._lag: int | None = 0 if partition.is_in_isr else None
        self._leader_watermark = UNKNOWN_OFFSET
        self._append_offset = UNKNOWN_OFFSET  # where the records of the last answer belong

    # -- facts

    @property
    def position(self) -> Position:
        """What the next fetch says of our log."""
        epoch = self.log.latest_epoch
        return self.log.log_end_offset, NO_EPOCH if epoch is None else epoch

    @property
    def lag(self) -> int:
        """Records up to the leader's high watermark, as it was at the last answer."""
        return max(0, self._leader_watermark - self.log.log_end_offset)

    @property
    def is_in_sync(self) -> bool:
        """Whether our log reached the leader's high watermark at the last answer with records.

        Kafka's followers judge by the same, and begin out of sync with every leader. Here one that
        the controller's command counts in the ISR begins in sync: where a move under a limit gives
        the partition another leader, its acknowledgements would else wait until the limit has room.
        """
        return self._lag == 0

    def fetch_position(self) -> FetchPosition:
        """What the next fetch asks for."""
        log = self.log
        epoch = log.latest_epoch
        return FetchPosition(
            self.leader_epoch,
            log.log_end_offset,
            NO_EPOCH if epoch is None else epoch,
            log.log_start_offset,
        )

    # -- events

    def on_answer(self, answer: PartitionData, now_ms: int) -> Sequence[FollowerEffect]:
        """The leader's answer to a fetch from where our log ends.

        Empty with an error: then the state has changed, to OUT_OF_RANGE or FAILED.
        """
        if self.state is not _FETCHING:
            self._move(FetchEvent.ANSWERED)
        if answer.error_code:
            self._on_error(ErrorCode.of(answer.error_code), now_ms)
            return ()
        if answer.diverging_epoch.epoch >= 0:
            return self._on_divergence(answer.diverging_epoch)
        effects: list[FollowerEffect] = []
        records = answer.records
        if records is not None and len(records):
            effects.append(AppendToLog(records))  # type: ignore[arg-type]  # decoded records are views
            self._lag = None
            self._append_offset = self.log.log_end_offset
        self._leader_watermark = watermark = answer.high_watermark
        if watermark >= 0:
            effects.append(UpdateHighWatermark(watermark))
        if answer.log_start_offset > self.log.log_start_offset:
            effects.append(RaiseLogStart(answer.log_start_offset))
        return effects

    def on_leader_bounds(
        self, start_offset: int, end_offset: int, now_ms: int
    ) -> Sequence[FollowerEffect]:
        """The leader's log is [start_offset, end_offset), and ours ended outside.

        Truncate to its end, or begin again at its start. Empty when ours ends within: then the
        leader refuses it all the same, and the state is FAILED.
        """
        if self.state is not FetchState.OUT_OF_RANGE:
            self._move(FetchEvent.LEADER_BOUNDS)
        end = self.log.log_end_offset
        if end_offset < end:
            # Only an unclean election lets a leader be shorter than a follower.
            target = max(end_offset, self.log.log_start_offset)
            return self._truncate(FetchEvent.LEADER_BOUNDS, TruncateTo(target))
        if start_offset > end:
            return self._truncate(FetchEvent.LEADER_BOUNDS, TruncateFully(start_offset))
        self._fail_in_circle(
            f"the leader has [{start_offset}, {end_offset}) and refuses a fetch at {self.position}",
            now_ms,
        )
        return ()

    def on_applied(self, now_ms: int) -> None:
        """The effects returned last are carried out."""
        if self.state is not _FETCHING:
            self._on_truncated(now_ms)
            return
        if self._lag is None:
            end = self.log.log_end_offset
            if end == self._append_offset:
                self._fail_in_circle(f"no whole batch came in answer to a fetch at {end}", now_ms)
                return
            self._lag = max(0, self._leader_watermark - end)
        if self._has_failed:
            self._forget_failures()

    def on_failed(
        self,
        reason: str,
        now_ms: int,
        *,
        is_expected: bool = False,
        cause: Exception | None = None,
    ) -> None:
        """The leader is not ready, or our log refused: ask again later, each time later.

        `is_expected`: such failures end by themselves, as a rule. They are worth a warning once
        they last for longer than `RetryWarning` allows, the others once the longest delay is
        reached; either only once until an answer is good again.
        """
        self._move(FetchEvent.FAILED)
        self._truncation = None
        self._append_offset = UNKNOWN_OFFSET
        longest_ms = max(self._backoff_max_ms, DELAY_MIN_MS)
        was_longest = self._delay_ms >= longest_ms
        self._delayed_until_ms = now_ms + self._delay_ms
        self._delay_ms = min(self._delay_ms * 2, longest_ms)
        self._has_failed = True
        lasts = self._refusals.is_due(now_ms)
        is_warning = lasts if is_expected else self._delay_ms >= longest_ms and not was_longest
        self._reports.append(
            PartitionFailed(
                self.partition.topic_partition,
                reason,
                is_circle=False,
                is_warning=is_warning,
                cause=cause,
            )
        )

    def try_again(self, now_ms: int) -> int:
        """How long a failed one still has to wait; 0, and it is fetched again."""
        left_ms = self._delayed_until_ms - now_ms
        if left_ms > 0 and self.state is FetchState.FAILED:
            return left_ms
        self._move(FetchEvent.DELAY_OVER)
        return 0

    # -- deciding

    def _on_error(self, error: ErrorCode, now_ms: int) -> None:
        if error == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._move(FetchEvent.OUT_OF_RANGE)
        else:
            self.on_failed(error.name, now_ms, is_expected=error in EXPECTED_REFUSALS)

    def _on_divergence(self, leaders: EpochEndOffset) -> Sequence[FollowerEffect]:
        """Truncate to where our history parts from the leader's.

        The leader's largest epoch not above ours ends at `leaders.end_offset`. If we know that
        epoch, the shorter end is common. If not, truncate to the end of our largest epoch below it
        and ask again. Nothing known: the high watermark is common by definition.
        """
        log = self.log
        epoch, end_offset = log.end_offset_for_epoch(leaders.epoch)
        if epoch == NO_EPOCH:
            target = log.high_watermark
        elif epoch == leaders.epoch:
            target = min(leaders.end_offset, end_offset)
        else:
            target = end_offset
        target = max(min(target, log.log_end_offset), log.log_start_offset)
        return self._truncate(FetchEvent.DIVERGED, TruncateTo(target))

    def _truncate(
        self, event: FetchEvent, effect: TruncateTo | TruncateFully
    ) -> Sequence[FollowerEffect]:
        self._move(event)
        self._truncation = self.position, effect
        return (effect,)

    def _on_truncated(self, now_ms: int) -> None:
        """Under one leader each truncation reaches lower than the one before, until the histories
        agree; from then on there is nothing to truncate. Anything else is a circle. A log that
        begins again at the leader's start has moved up, and counts for itself.
        """
        truncation, self._truncation = self._truncation, None
        if truncation is None:
            self._move(FetchEvent.APPLIED)
            return
        before, effect = truncation
        reached = self.position
        is_full = isinstance(effect, TruncateFully)
        if reached == before or (not is_full and reached >= min(before, self._lowest_truncation)):
            self._fail_in_circle(
                f"the leader says to truncate to {effect.offset}; we were at {before}", now_ms
            )
            return
        self._move(FetchEvent.APPLIED)
        self._forget_failures()
        if not is_full:
            self._lowest_truncation = reached
        self._reports.append(Truncated(self.partition.topic_partition, before, reached))

    def _fail_in_circle(self, reason: str, now_ms: int) -> None:
        """The leader's answer leaves our log where it was: asked again, it would say the same.

        This delay never shrinks: only a new leader epoch, hence a new object, can help.
        """
        self._move(FetchEvent.FAILED)
        self._append_offset = UNKNOWN_OFFSET
        is_first = self._circle_delay_ms == DELAY_MIN_MS
        longest_ms = max(self._backoff_max_ms, 2 * DELAY_MIN_MS)
        self._circle_delay_ms = min(self._circle_delay_ms * 2, longest_ms)
        self._delayed_until_ms = now_ms + self._circle_delay_ms
        self._reports.append(
            PartitionFailed(
                self.partition.topic_partition,
                reason,
                is_circle=True,
                is_warning=is_first,
                cause=None,
            )
        )

    def _forget_failures(self) -> None:
        self._has_failed = False
        self._delay_ms = DELAY_MIN_MS
        self._refusals.reset()

    def _move(self, event: FetchEvent) -> None:
        after = TRANSITIONS.get((self.state, event))
        if after is None:
            raise IllegalTransitionError(f"{self}: {event.value} while {self.state.value}")
        self.state = after

    def __str__(self) -> str:
        return str(self.partition.topic_partition)
