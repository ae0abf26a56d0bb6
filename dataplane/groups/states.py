"""The states of a classic group and every legal move between them.

         first join            all joined             leader synced
Empty ────────────► Preparing ────────────► Completing ────────────► Stable
  ▲                 Rebalance ◄──────────── Rebalance                  │
  └──── nobody joined ─┘ ▲    member change      │                     │
                         └───────────────────────┴─── member change ───┘
every state ► Dead: the group was deleted, expired, or moved to another coordinator
"""

from __future__ import annotations

import enum
from typing import Final

from dataplane.model.transitions import IllegalTransitionError


class GroupState(enum.Enum):
    """Values are the names that DescribeGroups and ListGroups show."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


LEGAL_MOVES: Final[dict[GroupState, frozenset[GroupState]]] = {
    GroupState.EMPTY: frozenset({GroupState.PREPARING_REBALANCE, GroupState.DEAD}),
    GroupState.PREPARING_REBALANCE: frozenset(
        {GroupState.COMPLETING_REBALANCE, GroupState.EMPTY, GroupState.DEAD}
    ),
    GroupState.COMPLETING_REBALANCE: frozenset(
        {GroupState.STABLE, GroupState.PREPARING_REBALANCE, GroupState.DEAD}
    ),
    GroupState.STABLE: frozenset({GroupState.PREPARING_REBALANCE, GroupState.DEAD}),
    GroupState.DEAD: frozenset({GroupState.DEAD}),
}

CAN_REBALANCE: Final = frozenset(
    {GroupState.EMPTY, GroupState.COMPLETING_REBALANCE, GroupState.STABLE}
)


def check_move(group_id: str, before: GroupState, after: GroupState) -> None:
    if after not in LEGAL_MOVES[before]:
        raise IllegalTransitionError(
            f"group {group_id!r} cannot move from {before.value} to {after.value}"
        )
