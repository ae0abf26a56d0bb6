"""States of a broker that a roll takes in turn, and every legal move. Pure.

    waiting ◄──► restarting ──► returning ──► catching-up ──► electing ──► done
       │             │              │              │              │         ▲
       └──► left ◄───┘              └──► failed ◄──┘              └──► observing ──► failed

`restarting`: it is chosen, which is stored before anything is done to it. `left`: the roll ended
before its turn. `observing`: it is the canary, and is looked at for a while.
"""

from typing import Final

from controlplane.common.transitions import Transitions

WAITING, RESTARTING, RETURNING = "waiting", "restarting", "returning"
CATCHING_UP, ELECTING, OBSERVING = "catching-up", "electing", "observing"
DONE, FAILED, LEFT = "done", "failed", "left"

ROLLED_MOVES: Final = Transitions(
    "broker of a roll",
    {
        WAITING: frozenset({RESTARTING, LEFT}),
        RESTARTING: frozenset({RETURNING, WAITING, LEFT}),
        RETURNING: frozenset({CATCHING_UP, FAILED}),
        CATCHING_UP: frozenset({ELECTING, FAILED}),
        ELECTING: frozenset({OBSERVING, DONE}),
        OBSERVING: frozenset({DONE, FAILED}),
        DONE: frozenset(),
        FAILED: frozenset(),
        LEFT: frozenset(),
    },
)
UNDER_WAY: Final = frozenset({RESTARTING, RETURNING, CATCHING_UP, ELECTING, OBSERVING})
RESTARTED: Final = frozenset({CATCHING_UP, ELECTING, OBSERVING, DONE})
"""Of these it is known that the new process runs."""
