"""AddPartitionsToTxn (24), versions 0-5: partitions join a transaction, or are verified.

Behaviour: up to version 3 for producers: needs Write on the transactional id and on each topic. If
one partition is refused, the others are OPERATION_NOT_ATTEMPTED.
Version notes: 2 PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH; 4 for brokers alone (Cluster
action): many transactions at once, and `verify_only`, which changes nothing; 5 a partition that is
not in the transaction is TRANSACTION_ABORTABLE, before INVALID_TXN_STATE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.inter_broker import require_cluster_action
from dataplane.handlers.transaction_access import may_use_transactional_id, spoken
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.transactions.requests import PartitionsRequest
from dataplane.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext

BATCHED_SINCE = 4
ABORTABLE_SINCE = 5
FENCED_SINCE = 2


async def handle(
    context: RequestContext, request: AddPartitionsToTxnRequest
) -> AddPartitionsToTxnResponse:
    if context.header.api_version >= BATCHED_SINCE:
        require_cluster_action(context)
        return AddPartitionsToTxnResponse(
            results_by_transaction=[
                await _of_a_broker(context, transaction) for transaction in request.transactions
            ]
        )
    topics = request.v3_and_below_topics
    asked = PartitionsRequest(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
        partitions=_partitions(topics),
    )
    errors = _refused(context, asked)
    if not errors:
        errors = dict.fromkeys(asked.partitions, await _add(context, asked))
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(topics, errors))


async def _of_a_broker(
    context: RequestContext, transaction: AddPartitionsToTxnTransaction
) -> AddPartitionsToTxnResult:
    asked = PartitionsRequest(
        transactional_id=transaction.transactional_id,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        partitions=_partitions(transaction.topics),
    )
    if transaction.verify_only:
        errors = _verify(context, asked)
    else:
        errors = dict.fromkeys(asked.partitions, await _add(context, asked))
    return AddPartitionsToTxnResult(
        transactional_id=asked.transactional_id,
        topic_results=_results(transaction.topics, errors),
    )


def _refused(context: RequestContext, asked: PartitionsRequest) -> dict[TopicPartition, ErrorCode]:
    """Empty if the producer may add them all."""
    if not may_use_transactional_id(context, AclOperation.WRITE, asked.transactional_id):
        error = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return dict.fromkeys(asked.partitions, error)
    image = context.broker.metadata_cache.image
    errors = {}
    for partition in asked.partitions:
        if not context.authorize(AclOperation.WRITE, ResourceType.TOPIC, partition.topic):
            errors[partition] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif image.partition(*partition) is None:
            errors[partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if errors:
        return dict.fromkeys(asked.partitions, ErrorCode.OPERATION_NOT_ATTEMPTED) | errors
    return {}


async def _add(context: RequestContext, asked: PartitionsRequest) -> ErrorCode:
    try:
        error = await context.broker.transaction_coordinator.add_partitions(asked)
    except KafkaError as refusal:
        return refusal.code
    return spoken(context, error, fenced_since=FENCED_SINCE)


def _verify(context: RequestContext, asked: PartitionsRequest) -> dict[TopicPartition, ErrorCode]:
    try:
        error, errors = context.broker.transaction_coordinator.verify_partitions(asked)
    except KafkaError as refusal:
        error, errors = refusal.code, {}
    if error is not ErrorCode.NONE:
        return dict.fromkeys(asked.partitions, error)
    if context.header.api_version < ABORTABLE_SINCE:
        return {
            partition: (
                ErrorCode.INVALID_TXN_STATE if each is ErrorCode.TRANSACTION_ABORTABLE else each
            )
            for partition, each in errors.items()
        }
    return errors


def _partitions(topics: list[AddPartitionsToTxnTopic]) -> frozenset[TopicPartition]:
    return frozenset(
        TopicPartition(topic.name, index) for topic in topics for index in topic.partitions
    )


def _results(
    topics: list[AddPartitionsToTxnTopic], errors: dict[TopicPartition, ErrorCode]
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=index,
                    partition_error_code=errors[TopicPartition(topic.name, index)],
                )
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]
