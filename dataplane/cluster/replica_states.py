"""The life of one replica in the controller, as a table.

    NonExistent ──► New ──► Online ◄──► Offline ──► DeletionStarted ──► DeletionSuccessful
                                         ▲   │              │                   │
                                         └─► DeletionIneligible ◄┘              ▼
                                                                            NonExistent

Online and Offline follow from the live brokers. Only the states of a deletion are remembered.
"""

from __future__ import annotations

import enum

from dataplane.model.transitions import IllegalTransitionError


class ReplicaStatus(enum.Enum):
    """DELETION_INELIGIBLE: the topic's deletion waits, because this replica cannot be reached."""

    NON_EXISTENT = "NonExistent"
    NEW = "New"
    ONLINE = "Online"
    OFFLINE = "Offline"
    DELETION_STARTED = "DeletionStarted"
    DELETION_SUCCESSFUL = "DeletionSuccessful"
    DELETION_INELIGIBLE = "DeletionIneligible"


_S = ReplicaStatus
_SERVING = frozenset({_S.NEW, _S.ONLINE, _S.OFFLINE, _S.DELETION_INELIGIBLE})

VALID_PREVIOUS: dict[ReplicaStatus, frozenset[ReplicaStatus]] = {
    _S.NEW: frozenset({_S.NON_EXISTENT}),
    _S.ONLINE: _SERVING,
    _S.OFFLINE: _SERVING,
    _S.DELETION_STARTED: frozenset({_S.OFFLINE}),
    _S.DELETION_SUCCESSFUL: frozenset({_S.DELETION_STARTED}),
    _S.DELETION_INELIGIBLE: frozenset({_S.OFFLINE, _S.DELETION_STARTED}),
    _S.NON_EXISTENT: frozenset({_S.DELETION_SUCCESSFUL}),
}


def check_transition(subject: object, before: ReplicaStatus, after: ReplicaStatus) -> None:
    """Raises IllegalTransitionError."""
    if before not in VALID_PREVIOUS[after]:
        raise IllegalTransitionError(f"{subject}: {before.value} → {after.value}")
