"""The life of a partition in the controller, as a table.

    NonExistent ──► New ──► Online ◄──► Offline ──► NonExistent

The status is derived from the partition's state and the live brokers; the table refuses a move
that no event can explain.
"""

from __future__ import annotations

import enum
from collections.abc import Container
from typing import TYPE_CHECKING

from dataplane.model.transitions import IllegalTransitionError

if TYPE_CHECKING:
    from dataplane.model.partition import PartitionState


class PartitionStatus(enum.Enum):
    """NEW is assigned but was never led; OFFLINE has no live leader."""

    NON_EXISTENT = "NonExistent"
    NEW = "New"
    ONLINE = "Online"
    OFFLINE = "Offline"


_N, _W, _O, _F = (
    PartitionStatus.NON_EXISTENT,
    PartitionStatus.NEW,
    PartitionStatus.ONLINE,
    PartitionStatus.OFFLINE,
)

VALID_PREVIOUS: dict[PartitionStatus, frozenset[PartitionStatus]] = {
    _W: frozenset({_N}),
    _O: frozenset({_W, _O, _F}),
    _F: frozenset({_W, _O, _F}),
    _N: frozenset({_F}),
}


def check_transition(subject: object, before: PartitionStatus, after: PartitionStatus) -> None:
    """Raises IllegalTransitionError."""
    if before not in VALID_PREVIOUS[after]:
        raise IllegalTransitionError(f"{subject}: {before.value} → {after.value}")


def status_of(state: PartitionState | None, live: Container[int]) -> PartitionStatus:
    """`leader_epoch` -1 marks a partition whose state node was not written yet."""
    if state is None:
        return PartitionStatus.NON_EXISTENT
    if state.leader_epoch < 0:
        return PartitionStatus.NEW
    return PartitionStatus.ONLINE if state.leader in live else PartitionStatus.OFFLINE
