"""TxnOffsetCommit (28), versions 0-4: a producer commits a group's offsets in its transaction.

Behaviour: needs Write on the transactional id, Read on the group and on each topic; an unknown
topic gets UNKNOWN_TOPIC_OR_PARTITION. A transaction's first offsets in a partition of
`__consumer_offsets` are written once the transaction coordinator has it among the transaction's
(KIP-890). Answered once the records are committed by the in-sync replicas; the offsets count when
the transaction does, by its marker on `__consumer_offsets`.
Version notes: 0-1 get COORDINATOR_NOT_AVAILABLE for COORDINATOR_LOAD_IN_PROGRESS, which their
clients do not survive; 2 leader epochs; 3 member, generation and instance of the consumer
(KIP-447), which are looked at if they are given; 4 is the same on the wire, and has
TRANSACTION_ABORTABLE for offsets that the transaction lacks (before: INVALID_TXN_STATE).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.broker.transactions.verifier import AGAIN
from dataplane.groups.requests import CommitRequest, OffsetToCommit
from dataplane.handlers.group_access import require_group, topic_errors
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.groups.outcome import Producer


LOADING_SINCE: Final = 2
ABORTABLE_SINCE: Final = 4
_ANSWERS = {
    # Clients of before the verification try again on it, and do not look for the coordinator.
    AGAIN: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.NOT_COORDINATOR,
}


async def handle(
    context: RequestContext, request: TxnOffsetCommitRequest
) -> TxnOffsetCommitResponse:
    may_write = context.authorize(
        AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id
    )
    if not may_write:
        raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    require_group(context, AclOperation.READ, request.group_id)
    names = {topic.name for topic in request.topics}
    refused = topic_errors(context, AclOperation.READ, names, must_exist=True)
    topics = context.broker.metadata_cache.image.topics
    errors: dict[TopicPartition, ErrorCode] = {}
    offsets: dict[TopicPartition, OffsetToCommit] = {}
    for topic in request.topics:
        for asked in topic.partitions:
            partition = TopicPartition(topic.name, asked.partition_index)
            if topic.name in refused:
                errors[partition] = refused[topic.name]
            elif not 0 <= asked.partition_index < len(topics[topic.name].partitions):
                errors[partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                offsets[partition] = OffsetToCommit(
                    offset=asked.committed_offset,
                    leader_epoch=asked.committed_leader_epoch,
                    metadata=asked.committed_metadata or "",
                )
    if offsets:
        commit = CommitRequest(
            group_id=request.group_id,
            member_id=request.member_id,
            group_instance_id=request.group_instance_id,
            generation=request.generation_id,
            offsets=offsets,
            has_member_epoch=context.header.api_version >= 3,
        )
        producer = (request.producer_id, request.producer_epoch)
        errors |= await _commit_known(context, request.transactional_id, commit, producer)
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=asked.partition_index,
                        error_code=errors[TopicPartition(topic.name, asked.partition_index)],
                    )
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


async def _commit_known(
    context: RequestContext, transactional_id: str, request: CommitRequest, producer: Producer
) -> dict[TopicPartition, ErrorCode]:
    """The answers in codes that clients of the request's version survive (KAFKA-7296)."""
    if context.header.api_version >= LOADING_SINCE:
        return await _commit(context, transactional_id, request, producer)
    loading, known = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE
    try:
        errors = await _commit(context, transactional_id, request, producer)
    except KafkaError as error:
        errors = dict.fromkeys(request.offsets, error.code)
    return {where: known if code is loading else code for where, code in errors.items()}


async def _commit(
    context: RequestContext, transactional_id: str, request: CommitRequest, producer: Producer
) -> dict[TopicPartition, ErrorCode]:
    coordinator = context.broker.group_coordinator
    verifier = context.broker.transaction_verifier
    partition = coordinator.coordinated_partition(request.group_id)
    if not (verifier.is_enabled and verifier.is_first(partition, transactional_id, producer)):
        return await coordinator.commit_in_transaction(request, producer)

    async def commit_unless(error: ErrorCode) -> dict[TopicPartition, ErrorCode]:
        if error is not ErrorCode.NONE:
            return dict.fromkeys(request.offsets, _ANSWERS.get(error, error))
        return await coordinator.commit_in_transaction(request, producer)

    # Nothing comes between the two awaits: the first ends in this step of the loop, and the second
    # appends before it waits.
    return await (
        await verifier.verified(
            transactional_id,
            producer,
            [partition],
            lambda errors: commit_unless(errors.get(partition, ErrorCode.NONE)),
            knows_abortable=context.header.api_version >= ABORTABLE_SINCE,
        )
    )
