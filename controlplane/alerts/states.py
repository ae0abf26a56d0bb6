"""States of an alert and every legal move. Pure.

    none ──► pending ──► firing ──► acknowledged
      ▲         │         │  ▲ ▲───────┘ │   (it got worse)
      └─────────┘         ▼  │           ▼
                        resolved ◄───────┘

Of `none` there is no row: a pending alert whose condition goes away leaves nothing. A resolved one
fires again when its condition is back within `REFIRES_WITHIN`; later that is a new alert.
"""

from datetime import timedelta

from controlplane.common.transitions import Transitions

NONE, PENDING, FIRING = "none", "pending", "firing"
ACKNOWLEDGED, RESOLVED = "acknowledged", "resolved"

ALERT_MOVES = Transitions(
    "alert",
    {
        NONE: frozenset({PENDING}),
        PENDING: frozenset({FIRING, NONE}),
        FIRING: frozenset({ACKNOWLEDGED, RESOLVED}),
        ACKNOWLEDGED: frozenset({FIRING, RESOLVED}),
        RESOLVED: frozenset({FIRING}),
    },
)
OPEN_STATES = (PENDING, FIRING, ACKNOWLEDGED)
RAISED_STATES = (FIRING, ACKNOWLEDGED)
"""Those that somebody should know of."""
STATE_CHOICES = [(state, state) for state in (*OPEN_STATES, RESOLVED)]
REFIRES_WITHIN = timedelta(minutes=10)
