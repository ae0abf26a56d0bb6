"""The states of a consumer group and of its members, and every legal move of a group.

          first join              target computed            all have reached it
Empty ───────────────► Assigning ────────────────► Reconciling ────────────────► Stable
  ▲                        ▲                            │                          │
  └── the last one left ───┴── member, subscription or topic changed ◄─────────────┘

A group's state follows from its epochs and members, so several changes that are stored together may
skip a state in between: an empty group whose first member subscribes to nothing is Stable at once.
Only an empty group may die.
"""

from __future__ import annotations

import enum
from typing import Final

from dataplane.model.transitions import IllegalTransitionError


class ConsumerGroupState(enum.Enum):
    """Values are the names that ConsumerGroupDescribe and ListGroups show."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


_ALIVE: Final = frozenset(ConsumerGroupState) - {ConsumerGroupState.DEAD}

LEGAL_MOVES: Final[dict[ConsumerGroupState, frozenset[ConsumerGroupState]]] = {
    ConsumerGroupState.EMPTY: frozenset(ConsumerGroupState),
    ConsumerGroupState.ASSIGNING: _ALIVE,
    ConsumerGroupState.RECONCILING: _ALIVE,
    ConsumerGroupState.STABLE: _ALIVE,
    ConsumerGroupState.DEAD: frozenset({ConsumerGroupState.DEAD}),
}


class MemberState(enum.IntEnum):
    """Numbers are those of the stored records.

    STABLE: has all of its part that could be given. UNREVOKED_PARTITIONS: was asked to give some
    up and has not said that it did. UNRELEASED_PARTITIONS: waits for partitions of others.
    """

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2


def check_move(group_id: str, before: ConsumerGroupState, after: ConsumerGroupState) -> None:
    if after not in LEGAL_MOVES[before]:
        raise IllegalTransitionError(
            f"group {group_id!r} cannot move from {before.value} to {after.value}"
        )
