"""States of a healing case, one broker that its host has left, and every legal move. Pure.

    waiting ──► proposed ──► replacing ──► healed
       │  │         │ │           └──────► failed
       │  └─────────│─│──► replacing
       └──► withdrawn ◄┘└──► dismissed

`waiting`: it would be done, and something forbids it yet. `withdrawn`: it is not needed any more.
"""

from typing import Final

from controlplane.common.transitions import Transitions

WAITING, PROPOSED, REPLACING = "waiting", "proposed", "replacing"
HEALED, FAILED, DISMISSED, WITHDRAWN = "healed", "failed", "dismissed", "withdrawn"

CASE_MOVES: Final = Transitions(
    "healing case",
    {
        WAITING: frozenset({PROPOSED, REPLACING, WITHDRAWN}),
        PROPOSED: frozenset({WAITING, REPLACING, DISMISSED, WITHDRAWN}),
        REPLACING: frozenset({HEALED, FAILED}),
        HEALED: frozenset(),
        FAILED: frozenset(),
        DISMISSED: frozenset(),
        WITHDRAWN: frozenset(),
    },
)
OPEN: Final = frozenset({WAITING, PROPOSED, REPLACING})
"""At most one case of a cluster is in one of them."""
OFF, ASK, AUTOMATIC = "off", "ask", "automatic"
MODES: Final = (OFF, ASK, AUTOMATIC)
