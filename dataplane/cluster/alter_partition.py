"""A leader asks for another ISR: whether it may (KIP-497, KIP-841, KIP-903)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from dataplane.cluster.context import ControllerContext
from dataplane.cluster.election import RECOVERING
from dataplane.cluster.failover import Changes
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState

UNKNOWN_EPOCH = -1


@dataclasses.dataclass(frozen=True, slots=True)
class IsrProposal:
    """One partition's part of AlterPartition. `isr` maps broker ids to epochs (-1: unknown)."""

    partition: TopicPartition
    leader_epoch: int
    partition_epoch: int
    isr: Mapping[int, int]
    leader_recovery_state: int = 0


def judge_all(
    context: ControllerContext, sender: int, proposals: Iterable[IsrProposal]
) -> tuple[Changes, dict[TopicPartition, PartitionState | ErrorCode]]:
    """New states to write, and each proposal's answer as `judge` gives it."""
    answers: dict[TopicPartition, PartitionState | ErrorCode] = {}
    changes: Changes = {}
    for proposal in proposals:
        verdict = judge(context, sender, proposal)
        answers[proposal.partition] = verdict
        unchanged = verdict is context.state(proposal.partition)
        if isinstance(verdict, PartitionState) and not unchanged:
            changes[proposal.partition] = verdict
    return changes, answers


def judge(
    context: ControllerContext, sender: int, proposal: IsrProposal
) -> PartitionState | ErrorCode:
    """The new state to write (the present one when nothing changes), or the refusal."""
    state = context.state(proposal.partition)
    if state is None or context.is_deletion_started(proposal.partition.topic):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    refusal = _fence(state, sender, proposal)
    if refusal is not None:
        return refusal
    if set(proposal.isr) == set(state.isr) and (
        proposal.leader_recovery_state == state.leader_recovery_state
    ):
        return state
    refusal = _refuse_members(context, state, sender, proposal)
    if refusal is not None:
        return refusal
    return dataclasses.replace(
        state, isr=tuple(proposal.isr), leader_recovery_state=proposal.leader_recovery_state
    )


def _refuse_members(
    context: ControllerContext, state: PartitionState, sender: int, proposal: IsrProposal
) -> ErrorCode | None:
    isr = proposal.isr
    if proposal.partition_epoch < state.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
    if sender not in isr or not isr.keys() <= set(state.replicas):
        return ErrorCode.INVALID_REQUEST
    recovery = proposal.leader_recovery_state
    if recovery > state.leader_recovery_state or (recovery == RECOVERING and len(isr) > 1):
        return ErrorCode.INVALID_REQUEST
    if any(
        not _may_join(context, proposal.partition, broker, epoch) for broker, epoch in isr.items()
    ):
        return ErrorCode.INELIGIBLE_REPLICA
    return None


def _fence(state: PartitionState, sender: int, proposal: IsrProposal) -> ErrorCode | None:
    if proposal.leader_epoch > state.leader_epoch:
        return ErrorCode.NOT_CONTROLLER  # the sender knows a newer controller than us
    if proposal.leader_epoch < state.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if state.leader != sender:
        return ErrorCode.INVALID_REQUEST
    if proposal.partition_epoch > state.partition_epoch:
        return ErrorCode.NOT_CONTROLLER
    return None


def _may_join(
    context: ControllerContext, partition: TopicPartition, broker: int, epoch: int
) -> bool:
    """A member of the new ISR must be live, not stopping, in the life that the leader saw, and its
    log directory must not be known to have failed.
    """
    info = context.brokers.get(broker)
    if info is None or broker in context.shutting_down:
        return False
    if broker in context.offline_replicas(partition):
        return False
    return epoch in (UNKNOWN_EPOCH, info.epoch)
