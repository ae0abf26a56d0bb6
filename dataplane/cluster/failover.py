"""What partitions become when brokers go or come, when a controller takes over, or by balance."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from dataplane.cluster.context import NEVER_LED, ControllerContext
from dataplane.cluster.election import (
    elect_first,
    elect_offline,
    elect_preferred,
    leaderless,
    without_replicas,
)
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState

Changes: TypeAlias = dict[TopicPartition, PartitionState]
UncleanAllowed: TypeAlias = Callable[[str], bool]


def repair(
    context: ControllerContext,
    partitions: Iterable[TopicPartition],
    unclean_allowed: UncleanAllowed,
) -> Changes:
    """New states for those of `partitions` that do not fit the live brokers.

    A partition without a live leader gets one if it can; dead replicas leave the ISR. Serves a
    broker's death, its return, a failed log directory and a controller's start alike. Topics being
    deleted are left alone.
    """
    live = context.live
    electable = context.electable
    changes: Changes = {}
    for partition in partitions:
        state = context.state(partition)
        if state is None or context.is_deletion_started(partition.topic):
            continue
        lost = context.offline_replicas(partition)
        changed = _repaired(
            state,
            live.difference(lost) if lost else live,
            electable.difference(lost) if lost else electable,
            unclean_allowed(partition.topic),
        )
        if changed is not None:
            changes[partition] = changed
    return changes


def _repaired(
    state: PartitionState, live: frozenset[int], electable: frozenset[int], unclean: bool
) -> PartitionState | None:
    if state.leader_epoch == NEVER_LED:
        return elect_first(state, electable) or elect_first(state, live)
    if state.leader not in live:
        elected = elect_offline(state, electable, unclean=False) or elect_offline(
            state, live, unclean=unclean
        )
        if elected is not None:
            return elected
        return leaderless(state)
    return without_replicas(state, set(state.isr) - live)


def imbalanced(context: ControllerContext, percentage_max: int) -> Changes:
    """Preferred elections for brokers of whose preferred partitions more than this many percent
    are led by others. Partitions being reassigned or deleted are left alone.
    """
    electable = context.electable
    preferred: dict[int, int] = {}
    elsewhere: dict[int, list[TopicPartition]] = {}
    for partition, state in context.partitions():
        if context.is_deletion_started(partition.topic):
            continue
        head = state.preferred_leader
        preferred[head] = preferred.get(head, 0) + 1
        if state.leader != head:
            elsewhere.setdefault(head, []).append(partition)
    changes: Changes = {}
    for broker, partitions in elsewhere.items():
        if broker not in electable or len(partitions) * 100 <= percentage_max * preferred[broker]:
            continue
        for partition in partitions:
            state_now = context.state(partition)
            if state_now is None or state_now.is_reassigning:
                continue
            elected = elect_preferred(state_now, context.electable_for(partition))
            if elected is not None:
                changes[partition] = elected
    return changes
