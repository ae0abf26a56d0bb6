"""States of a rebalance that a schedule began, and every legal move. Pure."""

from typing import Final

from controlplane.common.transitions import Transitions

RUNNING, SUCCEEDED, FAILED, CANCELLED = "running", "succeeded", "failed", "cancelled"

RUN_MOVES: Final = Transitions(
    "scheduled rebalance",
    {
        RUNNING: frozenset({SUCCEEDED, FAILED, CANCELLED}),
        SUCCEEDED: frozenset(),
        FAILED: frozenset(),
        CANCELLED: frozenset(),
    },
)
