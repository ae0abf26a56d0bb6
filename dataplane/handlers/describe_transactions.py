"""DescribeTransactions (65), version 0: the state of transactional ids coordinated here.

Behaviour: needs Describe on each transactional id; partitions of topics that the caller may not
describe are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.handlers.transaction_access import may_use_transactional_id
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.model.ids import TopicPartition


async def handle(
    context: RequestContext, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[_describe(context, name) for name in request.transactional_ids]
    )


def _describe(context: RequestContext, transactional_id: str) -> TransactionState:
    if not may_use_transactional_id(context, AclOperation.DESCRIBE, transactional_id):
        error = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return TransactionState(transactional_id=transactional_id, error_code=error)
    try:
        found = context.broker.transaction_coordinator.describe(transactional_id)
    except KafkaError as refusal:
        return TransactionState(transactional_id=transactional_id, error_code=refusal.code)
    if found.error is not ErrorCode.NONE:
        return TransactionState(transactional_id=transactional_id, error_code=found.error)
    return TransactionState(
        error_code=ErrorCode.NONE,
        transactional_id=transactional_id,
        transaction_state=found.state,
        transaction_timeout_ms=found.timeout_ms,
        transaction_start_time_ms=found.start_ms,
        producer_id=found.producer_id,
        producer_epoch=found.producer_epoch,
        topics=_topics(context, found.partitions),
    )


def _topics(context: RequestContext, partitions: tuple[TopicPartition, ...]) -> list[TopicData]:
    by_topic: dict[str, list[int]] = {}
    for topic, index in partitions:
        by_topic.setdefault(topic, []).append(index)
    return [
        TopicData(topic=topic, partitions=indexes)
        for topic, indexes in by_topic.items()
        if context.sees(AclOperation.DESCRIBE, ResourceType.TOPIC, topic)
    ]
