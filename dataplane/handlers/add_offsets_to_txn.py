"""AddOffsetsToTxn (25), versions 0-4: the offsets of a group join a transaction.

Behaviour: needs Write on the transactional id and Read on the group. What joins is the partition of
`__consumer_offsets` that owns the group; the offsets themselves come by TxnOffsetCommit. Answered
COORDINATOR_LOAD_IN_PROGRESS until this broker knows that topic.
Version notes: 2 PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.cluster.topic_names import OFFSETS_TOPIC
from dataplane.handlers.group_access import require_group
from dataplane.handlers.transaction_access import require_transactional_id, spoken
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation
from dataplane.transactions.requests import PartitionsRequest
from dataplane.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext

FENCED_SINCE = 2


async def handle(
    context: RequestContext, request: AddOffsetsToTxnRequest
) -> AddOffsetsToTxnResponse:
    require_transactional_id(context, request.transactional_id)
    require_group(context, AclOperation.READ, request.group_id)
    await _require_offsets_topic(context)
    partition = context.broker.group_coordinator.partition_of(request.group_id)
    error = await context.broker.transaction_coordinator.add_partitions(
        PartitionsRequest(
            transactional_id=request.transactional_id,
            producer_id=request.producer_id,
            producer_epoch=request.producer_epoch,
            partitions=frozenset({partition}),
        )
    )
    return AddOffsetsToTxnResponse(error_code=spoken(context, error, fenced_since=FENCED_SINCE))


async def _require_offsets_topic(context: RequestContext) -> None:
    """A partition that this broker does not know counts as deleted when the markers are due."""
    broker = context.broker
    if OFFSETS_TOPIC not in broker.metadata_cache.image.topics:
        await broker.internal_topics.create(OFFSETS_TOPIC)
        if OFFSETS_TOPIC not in broker.metadata_cache.image.topics:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
