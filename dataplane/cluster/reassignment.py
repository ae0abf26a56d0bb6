"""Moving a partition's replicas: the algebra of Kafka's reassignment (KIP-455), without I/O.

RS = the replicas now, ORS = those before, TRS = the target, AR = TRS − ORS, RR = ORS − TRS.

1. begin:    RS = TRS + ORS without repeats, AR and RR noted; the new replicas copy.
2. complete: once TRS ⊆ ISR: leader in TRS, ISR ∩ TRS, RS = TRS, AR = RR = ∅; RR delete their data.
   cancel:   RS = ORS again, AR delete what they copied.

Which of these may be done when is the table of `reassignment_states`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container

from dataplane.cluster.election import elect_reassigned
from dataplane.cluster.reassignment_states import (
    Move,
    ReassignmentStatus,
    check_move,
    check_outcome,
    status_of,
)
from dataplane.model.ids import NO_LEADER
from dataplane.model.partition import PartitionState


def origin_of(state: PartitionState) -> tuple[int, ...]:
    """ORS: the replicas without those being added."""
    return tuple(replica for replica in state.replicas if replica not in state.adding)


def target_of(state: PartitionState) -> tuple[int, ...]:
    """TRS: the replicas without those being removed."""
    return tuple(replica for replica in state.replicas if replica not in state.removing)


def begin(
    state: PartitionState, target: tuple[int, ...], live: Container[int]
) -> PartitionState | None:
    """Phase 1, also when a running reassignment gets another target.

    None when dropping the replicas of the former target would leave no in-sync replica.
    """
    check_move(state, Move.REPLACE if state.is_reassigning else Move.BEGIN)
    origin = origin_of(state)
    full = tuple(dict.fromkeys((*target, *origin)))
    return _restricted(
        state,
        full,
        adding=tuple(replica for replica in full if replica not in origin),
        removing=tuple(replica for replica in full if replica not in target),
        live=live,
    )


def cancel(state: PartitionState, live: Container[int]) -> PartitionState | None:
    """Back to the original replicas; None when none of them is in sync and can lead.

    Raises IllegalTransitionError when no reassignment is running.
    """
    check_move(state, Move.CANCEL)
    after = _restricted(state, origin_of(state), adding=(), removing=(), live=live)
    if after is not None:
        check_outcome(Move.CANCEL, after)
    return after


def _restricted(
    state: PartitionState,
    replicas: tuple[int, ...],
    *,
    adding: tuple[int, ...],
    removing: tuple[int, ...],
    live: Container[int],
) -> PartitionState | None:
    """The state with these replicas: who is no longer one leaves the ISR and does not lead."""
    isr = tuple(replica for replica in state.isr if replica in replicas)
    leader = state.leader
    if leader not in replicas:
        leader = next((r for r in replicas if r in live and r in isr), NO_LEADER)
    if not isr or (leader == NO_LEADER and state.leader in live):
        return None
    return dataclasses.replace(
        state,
        replicas=replicas,
        adding=adding,
        removing=removing,
        isr=isr,
        leader=leader,
        leader_epoch=state.leader_epoch + 1,
    )


def unneeded_after(before: PartitionState, after: PartitionState) -> tuple[int, ...]:
    """Replicas that were held before and are no longer wanted: their data is to be deleted."""
    return tuple(replica for replica in before.replicas if replica not in after.replicas)


def is_complete(state: PartitionState) -> bool:
    """Whether every target replica is in sync."""
    return status_of(state) is ReassignmentStatus.CAUGHT_UP


def complete(state: PartitionState, live: Container[int]) -> PartitionState | None:
    """Phase 2; None while no target replica can lead.

    Raises IllegalTransitionError unless every target replica is in sync.
    """
    check_move(state, Move.COMPLETE)
    target = target_of(state)
    if state.leader in target and state.leader in live:
        led: PartitionState | None = dataclasses.replace(state, leader_epoch=state.leader_epoch + 1)
    else:
        led = elect_reassigned(state, target, live)
    if led is None:
        return None
    done = dataclasses.replace(
        led,
        replicas=target,
        isr=tuple(replica for replica in led.isr if replica in target),
        adding=(),
        removing=(),
    )
    check_outcome(Move.COMPLETE, done)
    return done
