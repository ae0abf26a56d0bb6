"""AddPartitionsToTxn (key 24), versions 0-5, flexible from 3.

Add partitions to a transaction, or (4+, between brokers) verify that they are in it.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BOOL, INT16, INT32, INT64, STRING, Message, array, field, struct


@struct
class AddPartitionsToTxnTopic:
    name: str = field(STRING, "0+")
    partitions: list[int] = field(array(INT32), "0+")


@struct
class AddPartitionsToTxnTransaction:
    transactional_id: str = field(STRING, "4+")
    producer_id: int = field(INT64, "4+")
    producer_epoch: int = field(INT16, "4+")
    verify_only: bool = field(BOOL, "4+")
    topics: list[AddPartitionsToTxnTopic] = field(array(AddPartitionsToTxnTopic), "4+")


@struct
class AddPartitionsToTxnRequest(Message):
    API_KEY: ClassVar[int] = 24
    VERSIONS: ClassVar[tuple[int, int]] = (0, 5)
    FLEXIBLE: ClassVar[int] = 3

    transactions: list[AddPartitionsToTxnTransaction] = field(
        array(AddPartitionsToTxnTransaction), "4+"
    )
    v3_and_below_transactional_id: str = field(STRING, "0-3")
    v3_and_below_producer_id: int = field(INT64, "0-3")
    v3_and_below_producer_epoch: int = field(INT16, "0-3")
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = field(
        array(AddPartitionsToTxnTopic), "0-3"
    )


@struct
class AddPartitionsToTxnPartitionResult:
    partition_index: int = field(INT32, "0+")
    partition_error_code: int = field(INT16, "0+")


@struct
class AddPartitionsToTxnTopicResult:
    name: str = field(STRING, "0+")
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = field(
        array(AddPartitionsToTxnPartitionResult), "0+"
    )


@struct
class AddPartitionsToTxnResult:
    transactional_id: str = field(STRING, "4+")
    topic_results: list[AddPartitionsToTxnTopicResult] = field(
        array(AddPartitionsToTxnTopicResult), "4+"
    )


@struct
class AddPartitionsToTxnResponse(Message):
    API_KEY: ClassVar[int] = 24
    VERSIONS: ClassVar[tuple[int, int]] = (0, 5)
    FLEXIBLE: ClassVar[int] = 3

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "4+")
    results_by_transaction: list[AddPartitionsToTxnResult] = field(
        array(AddPartitionsToTxnResult), "4+"
    )
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = field(
        array(AddPartitionsToTxnTopicResult), "0-3"
    )
