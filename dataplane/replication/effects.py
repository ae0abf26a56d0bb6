"""What the replication cores want done, counted and logged; the shell does it and reports back."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dataplane.model.ids import TopicPartition


class AdvanceHighWatermark(NamedTuple):
    """Leader: everything below `offset` is on every replica that counts.

    A tuple, because one is made for every append.
    """

    offset: int


@dataclasses.dataclass(frozen=True, slots=True)
class ProposeIsr:
    """Leader: ask the controller for this ISR, if the partition epoch is still this one."""

    new_isr: tuple[int, ...]
    partition_epoch: int


class AppendToLog(NamedTuple):
    """Follower: append what the leader sent, as it is."""

    records: memoryview


class UpdateHighWatermark(NamedTuple):
    """Follower: the leader's high watermark, to be kept within our own log."""

    offset: int


class RaiseLogStart(NamedTuple):
    """Follower: the leader's log begins later than ours."""

    offset: int


@dataclasses.dataclass(frozen=True, slots=True)
class TruncateTo:
    """Follower: truncate the log so that it ends at `offset`, or before it at a batch boundary."""

    offset: int


@dataclasses.dataclass(frozen=True, slots=True)
class TruncateFully:
    """Follower: drop all records; the log is empty and its next record has `offset`."""

    offset: int


Effect = AdvanceHighWatermark | ProposeIsr
FollowerEffect = AppendToLog | UpdateHighWatermark | RaiseLogStart | TruncateTo | TruncateFully


# -- what a fetcher has to say to metrics and logs


@dataclasses.dataclass(frozen=True, slots=True)
class FetchFailed:
    """A fetch failed as a whole. `is_refusal`: the leader's answer was an error."""

    reason: str
    is_refusal: bool
    is_warning: bool


@dataclasses.dataclass(frozen=True, slots=True)
class PartitionFailed:
    """A partition is left out for a while.

    `is_circle`: the leader's answers lead nowhere. `cause` is what nobody expected.
    """

    topic_partition: TopicPartition
    reason: str
    is_circle: bool
    is_warning: bool
    cause: Exception | None


@dataclasses.dataclass(frozen=True, slots=True)
class Truncated:
    """A partition's log was truncated: its end and last epoch `before` and `after`."""

    topic_partition: TopicPartition
    before: tuple[int, int]
    after: tuple[int, int]


FetcherReport = FetchFailed | PartitionFailed | Truncated
