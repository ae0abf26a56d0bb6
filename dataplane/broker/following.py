"""A follower's side of one partition: carries out what the follower core decides."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataplane.broker.partition import Partition
    from dataplane.replication.effects import FollowerEffect
    from dataplane.wire.messages.fetch import PartitionData

_log = logging.getLogger(__name__)

DELAY_MIN_S = 0.02


class Following:
    """One followed partition. `delayed_until_s` is when it may be fetched again (loop time)."""

    __slots__ = ("_core", "_delay_s", "delayed_until_s", "needs_leader_bounds", "partition")

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self._core = FollowerCore(partition.log, leader_epoch=partition.leader_epoch)
        self._delay_s = DELAY_MIN_S
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

    def delay(self, now_s: float, max_s: float) -> None:
        """Ask again later, each time later: the leader is not ready, or our log has failed."""
        self.delayed_until_s = now_s + self._delay_s
        self._delay_s = min(self._delay_s * 2, max(max_s, DELAY_MIN_S))

    def on_answer(self, asked_offset: int, answer: PartitionData) -> int:
        """Take the leader's answer; bytes appended.

        KafkaError: the leader refused, or sent what our log refuses. OSError: our log failed.
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
        size = self._carry_out(effects)
        if not code:
            self._delay_s = DELAY_MIN_S
        return size

    def on_leader_bounds(self, start_offset: int, end_offset: int) -> None:
        """Where the leader's log begins and ends, after ours turned out to end elsewhere."""
        self.needs_leader_bounds = False
        self._carry_out(self._core.on_leader_bounds(start_offset, end_offset))

    def _carry_out(self, effects: Sequence[FollowerEffect]) -> int:
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
                    _log.info("%s: cut from %d to %d", self, log.log_end_offset, offset)
                    log.truncate_to(offset)
                case TruncateFully(offset):
                    _log.warning("%s: the leader begins at %d: anew there", self, offset)
                    log.truncate_fully_and_start_at(offset)
                case FetchLeaderBounds():
                    self.needs_leader_bounds = True
                case StopFollowing(error):
                    # The leader may also simply not have heard yet: ask on, at leisure, until the
                    # controller's next word replaces this object.
                    self._core.on_leader_epoch(self.leader_epoch)
                    raise KafkaError(error)
                case SendFetch(delay_ms=delay_ms) if delay_ms:
                    raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, "the leader refused")
                case SendFetch():
                    pass  # the fetcher's chain goes on by itself
        return size

    def __str__(self) -> str:
        return str(self.partition.topic_partition)
