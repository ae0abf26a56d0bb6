"""What the replication cores want done; the shell does it and reports back."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dataplane.model.errors import ErrorCode


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


@dataclasses.dataclass(frozen=True, slots=True)
class SendFetch:
    """Follower: fetch from here, in this leader epoch."""

    offset: int
    last_fetched_epoch: int
    leader_epoch: int
    delay_ms: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class FetchLeaderBounds:
    """Follower: ask the leader where its log begins and ends."""

    leader_epoch: int


@dataclasses.dataclass(frozen=True, slots=True)
class AppendToLog:
    """Follower: append what the leader sent, as it is."""

    records: memoryview


@dataclasses.dataclass(frozen=True, slots=True)
class TruncateTo:
    """Follower: cut the log so that it ends at `offset`."""

    offset: int


@dataclasses.dataclass(frozen=True, slots=True)
class TruncateFully:
    """Follower: throw the log away and begin anew at `offset`."""

    offset: int


@dataclasses.dataclass(frozen=True, slots=True)
class UpdateHighWatermark:
    """Follower: the leader's high watermark, to be kept within our own log."""

    offset: int


@dataclasses.dataclass(frozen=True, slots=True)
class RaiseLogStart:
    """Follower: the leader's log begins later than ours."""

    offset: int


@dataclasses.dataclass(frozen=True, slots=True)
class StopFollowing:
    """Follower: the leader is not what we think; wait for the controller's next word."""

    error: ErrorCode


Effect = AdvanceHighWatermark | ProposeIsr
FollowerEffect = (
    SendFetch
    | FetchLeaderBounds
    | AppendToLog
    | TruncateTo
    | TruncateFully
    | UpdateHighWatermark
    | RaiseLogStart
    | StopFollowing
)
