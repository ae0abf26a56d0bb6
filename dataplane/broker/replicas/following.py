"""A follower's side of one partition: carries out what the follower core decides."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.networking.retry_warning import RetryWarning
from dataplane.model.errors import ErrorCode, KafkaError
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
from dataplane.replication.follower import NO_EPOCH, FetchAnswer, FollowerCore
from dataplane.replication.follower_session import Asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataplane.broker.replicas.partition import Partition
    from dataplane.replication.effects import FollowerEffect
    from dataplane.wire.messages.fetch import PartitionData

_log = logging.getLogger(__name__)

DELAY_MIN_S = 0.02
EXPECTED_REFUSALS = frozenset(
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
the follower does not know of its end."""
_NEVER_CUT = (1 << 63, 0)


class NoProgressError(Exception):
    """The leader's answer leaves our log where it was: asked again, it would say the same."""


class RefusedError(KafkaError):
    """The leader has refused to be read."""

    @property
    def is_expected(self) -> bool:
        """Whether such refusals end by themselves, as a rule."""
        return self.code in EXPECTED_REFUSALS


class Following:
    """One followed partition. `delayed_until_s` is when it may be fetched again (loop time)."""

    __slots__ = (
        "_core",
        "_delay_s",
        "_lag",
        "_leader_watermark",
        "_lowest_cut",
        "_refusals",
        "_vain_delay_s",
        "delayed_until_s",
        "needs_leader_bounds",
        "partition",
    )

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self._core = FollowerCore(partition.log, leader_epoch=partition.leader_epoch)
        self._delay_s = DELAY_MIN_S
        self._vain_delay_s = DELAY_MIN_S
        self._lowest_cut = _NEVER_CUT
        self._refusals = RetryWarning()
        self._lag: int | None = None
        self._leader_watermark = -1
        self.delayed_until_s = 0.0
        self.needs_leader_bounds = False

    @property
    def leader_epoch(self) -> int:
        return self._core.leader_epoch

    @property
    def fetch_offset(self) -> int:
        return self.partition.log.log_end_offset

    @property
    def last_fetched_epoch(self) -> int:
        epoch = self.partition.log.latest_epoch
        return NO_EPOCH if epoch is None else epoch

    @property
    def asked(self) -> Asked:
        """What the next fetch says of our log."""
        log = self.partition.log
        return Asked(
            self.leader_epoch, log.log_end_offset, self.last_fetched_epoch, log.log_start_offset
        )

    @property
    def lag(self) -> int:
        """Records up to the leader's high watermark, as it was told last."""
        return max(0, self._leader_watermark - self.fetch_offset)

    @property
    def is_in_sync(self) -> bool:
        """Whether our log reached the leader's high watermark at the last answer with records.

        That is all a follower knows of the ISR; Kafka's followers judge by the same.
        """
        return self._lag == 0

    @property
    def position(self) -> tuple[int, int]:
        """What the next fetch says of our log; equal positions get equal answers."""
        return self.fetch_offset, self.last_fetched_epoch

    def delay(self, now_s: float, max_s: float, *, is_expected: bool = False) -> bool:
        """Ask again later, each time later: the leader is not ready, or our log has failed.

        True when that is worth a warning, once until an answer is good again: when the longest
        delay is reached, or with `is_expected` when it lasts for longer than RetryWarning allows.
        """
        longest_s = max(max_s, DELAY_MIN_S)
        was_longest = self._delay_s >= longest_s
        self.delayed_until_s = now_s + self._delay_s
        self._delay_s = min(self._delay_s * 2, longest_s)
        lasts = self._refusals.is_due(now_s)
        return lasts if is_expected else self._delay_s >= longest_s and not was_longest

    def delay_in_vain(self, now_s: float, max_s: float) -> bool:
        """Ask again later, after a `NoProgressError`. True the first time.

        This delay never shrinks: only a new leader epoch, hence a new object, can help.
        """
        is_first = self._vain_delay_s == DELAY_MIN_S
        self._vain_delay_s = min(self._vain_delay_s * 2, max(max_s, 2 * DELAY_MIN_S))
        self.delayed_until_s = now_s + self._vain_delay_s
        return is_first

    def on_answer(self, asked_offset: int, answer: PartitionData) -> int:
        """Take the leader's answer; bytes appended.

        RefusedError: the leader refused. KafkaError: our log refuses what it sent. OSError: our log
        failed.
        NoProgressError: it told us to cut, and there was nothing to cut that was not cut before.
        """
        code = answer.error_code
        effects = self._core.on_fetch_response(
            FetchAnswer(
                asked_offset=asked_offset,
                error=ErrorCode.of(code),
                records=answer.records if answer.records is not None else memoryview(b""),  # type: ignore[arg-type]  # decoded records are views
                high_watermark=answer.high_watermark,
                log_start_offset=answer.log_start_offset,
                diverging_epoch=answer.diverging_epoch.epoch,
                diverging_end_offset=answer.diverging_epoch.end_offset,
            )
        )
        size = self._carry_out(effects, ErrorCode.of(code))
        if not code:
            self._delay_s = DELAY_MIN_S
            self._refusals.reset()
            self._leader_watermark = answer.high_watermark
            if answer.diverging_epoch.epoch < 0 and (size or self._lag is None):
                self._lag = max(0, answer.high_watermark - self.fetch_offset)
        return size

    def on_leader_bounds(self, start_offset: int, end_offset: int) -> None:
        """Where the leader's log begins and ends, after ours turned out to end elsewhere.

        NoProgressError: ours ends within the leader's, which refuses it all the same.
        """
        self.needs_leader_bounds = False
        before = self.position
        self._carry_out(self._core.on_leader_bounds(start_offset, end_offset))
        if self.position == before:
            raise NoProgressError(
                f"the leader has [{start_offset}, {end_offset}) and refuses to be read at {before}"
            )

    def _carry_out(
        self, effects: Sequence[FollowerEffect], refusal: ErrorCode = ErrorCode.NONE
    ) -> int:
        log = self.partition.log
        size = 0
        for effect in effects:
            match effect:
                case AppendToLog(records):
                    log.append_as_follower(records)
                    size = len(records)
                case UpdateHighWatermark(offset):
                    self.partition.high_watermark_from_leader(offset)
                case RaiseLogStart(offset):
                    log.delete_records_before(min(offset, log.log_end_offset))
                case TruncateTo(offset):
                    self._cut(offset)
                case TruncateFully(offset):
                    _log.warning("%s: the leader begins at %d: anew there", self, offset)
                    log.truncate_fully_and_start_at(offset)
                case FetchLeaderBounds():
                    self.needs_leader_bounds = True
                case StopFollowing(error):
                    # The leader may also simply not have heard yet: ask on, at leisure, until the
                    # controller's next word replaces this object.
                    self._core.on_leader_epoch(self.leader_epoch)
                    raise RefusedError(error)
                case SendFetch(delay_ms=delay_ms) if delay_ms:
                    raise RefusedError(refusal)
                case SendFetch():
                    pass  # the fetcher's chain goes on by itself
        return size

    def _cut(self, offset: int) -> None:
        """Cut where the histories part.

        Under one leader each cut reaches lower than the one before, until the histories agree;
        from then on there is nothing to cut. Anything else is a circle.
        """
        before = self.position
        self.partition.log.truncate_to(offset)
        reached = self.position
        if reached >= min(before, self._lowest_cut):
            raise NoProgressError(f"the leader says to cut at {offset}; we were at {before}")
        self._lowest_cut = reached
        if reached[0] < before[0]:
            _log.info("%s: cut from %d to %d", self, before[0], reached[0])
        else:
            _log.info("%s: forgot epoch %d, which began at its end", self, before[1])

    def __str__(self) -> str:
        return str(self.partition.topic_partition)
