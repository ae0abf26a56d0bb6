"""Who leads a partition. Pure: a state and the live brokers in, the next state out.

Every election raises the leader epoch by one. An answer of None means that nobody can be elected
(or that nothing has to change), and the partition stays as it is.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Container

from dataplane.model.ids import NO_LEADER
from dataplane.model.partition import PartitionState

RECOVERED, RECOVERING = 0, 1


class ElectionType(enum.IntEnum):
    """As ElectLeaders spells it."""

    PREFERRED = 0
    UNCLEAN = 1


def _led(
    state: PartitionState, leader: int, isr: tuple[int, ...], recovery: int | None = None
) -> PartitionState:
    return dataclasses.replace(
        state,
        leader=leader,
        isr=isr,
        leader_epoch=state.leader_epoch + 1,
        leader_recovery_state=state.leader_recovery_state if recovery is None else recovery,
    )


def elect_first(state: PartitionState, live: Container[int]) -> PartitionState | None:
    """A new partition's first leader: the first live replica; every live replica is in sync."""
    alive = tuple(replica for replica in state.replicas if replica in live)
    if not alive:
        return None
    return dataclasses.replace(
        state, leader=alive[0], isr=alive, leader_epoch=0, leader_recovery_state=RECOVERED
    )


def elect_offline(
    state: PartitionState, live: Container[int], *, unclean: bool
) -> PartitionState | None:
    """After the leader was lost: the first live in-sync replica in assignment order.

    With `unclean`, failing that, the first live replica: it may lack records, so the ISR is it
    alone and the leader is marked as recovering.
    """
    alive = [replica for replica in state.replicas if replica in live]
    in_sync = tuple(replica for replica in state.isr if replica in live)
    leader = next((replica for replica in alive if replica in in_sync), None)
    if leader is not None:
        return _led(state, leader, in_sync)
    if unclean and alive:
        return _led(state, alive[0], (alive[0],), RECOVERING)
    return None


def is_unclean(before: PartitionState, after: PartitionState) -> bool:
    """Whether `after` came by an election of a leader that may lack records."""
    return (
        after.leader_recovery_state == RECOVERING
        and after.leader != NO_LEADER
        and after.leader not in before.isr
    )


def elect_preferred(state: PartitionState, live: Container[int]) -> PartitionState | None:
    """The head of the assignment, if it is live, in sync and does not lead already."""
    preferred = state.preferred_leader
    if preferred == state.leader or preferred not in live or preferred not in state.isr:
        return None
    return _led(state, preferred, state.isr)


def elect_reassigned(
    state: PartitionState, target: tuple[int, ...], live: Container[int]
) -> PartitionState | None:
    """At the end of a reassignment: the first live target replica that is in sync."""
    leader = next((r for r in target if r in live and r in state.isr), None)
    return None if leader is None else _led(state, leader, state.isr)


def elect_for_shutdown(
    state: PartitionState, live: Container[int], shutting_down: Container[int]
) -> PartitionState | None:
    """Before a broker stops: the first live in-sync replica that is not stopping too."""
    staying = tuple(r for r in state.isr if r in live and r not in shutting_down)
    leader = next((r for r in state.replicas if r in staying), None)
    return None if leader is None else _led(state, leader, staying)


def leaderless(state: PartitionState) -> PartitionState | None:
    """Nobody in sync is live: no leader, and the whole ISR is kept.

    Every member has every acknowledged record, so whoever of them comes back first may lead.
    """
    if state.leader == NO_LEADER:
        return None
    return _led(state, NO_LEADER, state.isr)


def without_replicas(state: PartitionState, gone: Container[int]) -> PartitionState | None:
    """Shrink the ISR by brokers that died or stop; None when nothing changes.

    The last in-sync replicas stay in the ISR even when dead: only they have every acknowledged
    record. If the leader is among the gone, the partition is left without one.
    """
    if not any(replica in gone for replica in state.isr) and state.leader not in gone:
        return None
    staying = tuple(replica for replica in state.isr if replica not in gone)
    leader = NO_LEADER if state.leader in gone else state.leader
    if leader == state.leader and (staying or state.isr) == state.isr:
        return None
    return _led(state, leader, staying or state.isr)
