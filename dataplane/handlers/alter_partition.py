"""AlterPartition (56), versions 0-3: a leader asks for another ISR.

Behaviour: the controller only; needs ClusterAction. Each partition has its own answer: the state
as written, or why not. From version 3 each member comes with the broker epoch that the leader saw,
so that a member that has been restarted since is not taken for in sync (KIP-903).
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from dataplane.cluster.alter_partition import UNKNOWN_EPOCH, IsrProposal
from dataplane.handlers.controller_access import require_controller
from dataplane.handlers.inter_broker import require_cluster_action
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.broker.controller.term import ControllerTerm
    from dataplane.wire.messages.alter_partition import (
        AlterPartitionRequestPartitionData,
        AlterPartitionRequestTopicData,
    )

Answers = dict[TopicPartition, PartitionState | ErrorCode]


async def handle(context: RequestContext, request: AlterPartitionRequest) -> AlterPartitionResponse:
    require_cluster_action(context)
    version = context.header.api_version
    try:
        require_controller(context)
        names, answers = await context.broker.controller.submit(
            lambda term: _decide(term, request, version)
        )
    except KafkaError as refusal:
        return AlterPartitionResponse(error_code=refusal.code)
    granted = [p for p, answer in answers.items() if isinstance(answer, PartitionState)]
    if granted:
        # After the answer: what a reassignment does next would overtake it.
        context.broker.controller.later(lambda term: term.reassignment.complete_ready(granted))
    response = AlterPartitionResponse()
    for topic in request.topics:
        answer = AlterPartitionResponseTopicData(
            topic_name=topic.topic_name, topic_id=topic.topic_id
        )
        name = names.get(topic.topic_id) if version >= 2 else topic.topic_name
        unknown = ErrorCode.UNKNOWN_TOPIC_ID if version >= 2 else None
        for partition in topic.partitions:
            verdict = unknown if name is None else None
            key = TopicPartition(name or "", partition.partition_index)
            answer.partitions.append(
                _answer(partition.partition_index, verdict or answers.get(key))
            )
        response.topics.append(answer)
    return response


async def _decide(
    term: ControllerTerm, request: AlterPartitionRequest, version: int
) -> tuple[dict[uuid.UUID, str], Answers]:
    names: dict[uuid.UUID, str] = {}
    proposals: list[IsrProposal] = []
    for topic in request.topics:
        name = _name_of(term, topic, version)
        if name is None:
            continue
        names[topic.topic_id] = name
        proposals.extend(_proposal(name, item, version) for item in topic.partitions)
    answers = await term.isr_changes.alter_partitions(
        request.broker_id, request.broker_epoch, proposals
    )
    return names, answers


def _name_of(
    term: ControllerTerm, topic: AlterPartitionRequestTopicData, version: int
) -> str | None:
    return term.context.names_by_id.get(topic.topic_id) if version >= 2 else topic.topic_name


def _proposal(name: str, item: AlterPartitionRequestPartitionData, version: int) -> IsrProposal:
    if version >= 3:
        isr = {member.broker_id: member.broker_epoch for member in item.new_isr_with_epochs}
    else:
        isr = dict.fromkeys(item.new_isr, UNKNOWN_EPOCH)
    return IsrProposal(
        TopicPartition(name, item.partition_index),
        item.leader_epoch,
        item.partition_epoch,
        isr,
        item.leader_recovery_state,
    )


def _answer(
    index: int, verdict: PartitionState | ErrorCode | None
) -> AlterPartitionResponsePartitionData:
    if isinstance(verdict, PartitionState):
        return AlterPartitionResponsePartitionData(
            partition_index=index,
            leader_id=verdict.leader,
            leader_epoch=verdict.leader_epoch,
            isr=list(verdict.isr),
            leader_recovery_state=verdict.leader_recovery_state,
            partition_epoch=verdict.partition_epoch,
        )
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if verdict is None else verdict
    return AlterPartitionResponsePartitionData(partition_index=index, error_code=code)
