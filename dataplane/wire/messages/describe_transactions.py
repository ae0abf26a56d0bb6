"""DescribeTransactions (key 65), version 0, flexible from 0.

The state of transactional ids.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, INT64, STRING, Message, array, field, struct


@struct
class DescribeTransactionsRequest(Message):
    API_KEY: ClassVar[int] = 65
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    transactional_ids: list[str] = field(array(STRING), "0+")


@struct
class TopicData:
    topic: str = field(STRING, "0+")
    partitions: list[int] = field(array(INT32), "0+")


@struct
class TransactionState:
    error_code: int = field(INT16, "0+")
    transactional_id: str = field(STRING, "0+")
    transaction_state: str = field(STRING, "0+")
    transaction_timeout_ms: int = field(INT32, "0+")
    transaction_start_time_ms: int = field(INT64, "0+")
    producer_id: int = field(INT64, "0+")
    producer_epoch: int = field(INT16, "0+")
    topics: list[TopicData] = field(array(TopicData), "0+")


@struct
class DescribeTransactionsResponse(Message):
    API_KEY: ClassVar[int] = 65
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    transaction_states: list[TransactionState] = field(array(TransactionState), "0+")
