"""A transaction coordinator's answers to brokers that verify (KIP-890)."""

from __future__ import annotations

from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)


def verified(message, error=ErrorCode.NONE) -> AddPartitionsToTxnResponse:
    """The answer in which every partition has this error."""
    return AddPartitionsToTxnResponse(
        results_by_transaction=[
            AddPartitionsToTxnResult(
                transactional_id=asked.transactional_id,
                topic_results=[
                    AddPartitionsToTxnTopicResult(
                        name=topic.name,
                        results_by_partition=[
                            AddPartitionsToTxnPartitionResult(
                                partition_index=index, partition_error_code=error
                            )
                            for index in topic.partitions
                        ],
                    )
                    for topic in asked.topics
                ],
            )
            for asked in message.transactions
        ]
    )
