"""What operators have decided about a host, as a table of moves. Pure.

Whether its agent lives is another matter: that is observed. A host of which nothing was decided
is active; one that was removed has no state, and one of the same name that comes later is another.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from controlplane.common.said import Said, said_of
from controlplane.common.transitions import Transitions

ACTIVE, CORDONED, DRAINING, LOST, REMOVED = "active", "cordoned", "draining", "lost", "removed"

HOST = Transitions(
    "host",
    MappingProxyType(
        {
            ACTIVE: frozenset({CORDONED, DRAINING, LOST, REMOVED}),
            CORDONED: frozenset({ACTIVE, DRAINING, LOST, REMOVED}),
            DRAINING: frozenset({ACTIVE, CORDONED, LOST, REMOVED}),
            # What it had counts as gone: before it gets brokers again somebody looks at it.
            LOST: frozenset({CORDONED, REMOVED}),
            REMOVED: frozenset(),
        }
    ),
)
STATES = (ACTIVE, CORDONED, DRAINING, LOST)
"""Those that a host shows; a removed one is not there."""
CHOSEN = (ACTIVE, CORDONED, DRAINING)
"""Those that an operator may move a host to without more ado; the others are acts of their own."""

CORDON, UNCORDON, DRAIN = "cordon", "uncordon", "drain"
DECLARE_LOST, REMOVE = "declare-lost", "remove"
ACTS: Mapping[str, str] = MappingProxyType(
    {
        CORDON: CORDONED,
        UNCORDON: ACTIVE,
        DRAIN: DRAINING,
        DECLARE_LOST: LOST,
        REMOVE: REMOVED,
    }
)
"""What an operator may do with a host, and the state that it leads to."""


_STATES = "active=active|cordoned=cordoned|draining=draining|lost=lost|removed=removed"
WHY_NOT: Final[Mapping[str, str]] = {
    "host-state/already": f"It is {{state:{_STATES}}}.",
    "host-state/no-way": f"A host that is {{state:{_STATES}}} cannot be {{after:{_STATES}}}.",
}
"""Sentences by their codes (`common/sentences.py`)."""


def why_not(act: str, state: str) -> Said | None:
    """Why a host of this state cannot have this done; null when it can. KeyError: no such act."""
    after = ACTS[act]
    if after in HOST.table[state]:
        return None
    if after == state:
        return said_of(WHY_NOT, "host-state/already", state=state)
    return said_of(WHY_NOT, "host-state/no-way", state=state, after=after)


def act_to(state: str) -> str:
    """The act by which a chosen state is reached."""
    return {ACTIVE: UNCORDON, CORDONED: CORDON, DRAINING: DRAIN}[state]
