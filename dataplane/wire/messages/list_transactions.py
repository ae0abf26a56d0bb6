"""ListTransactions (key 66), versions 0-1, flexible from 0.

The transactional ids that a broker coordinates.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, INT64, STRING, Message, array, field, struct


@struct
class ListTransactionsRequest(Message):
    API_KEY: ClassVar[int] = 66
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 0

    state_filters: list[str] = field(array(STRING), "0+")
    producer_id_filters: list[int] = field(array(INT64), "0+")
    duration_filter: int = field(INT64, "1+", default=-1)


@struct
class TransactionState:
    transactional_id: str = field(STRING, "0+")
    producer_id: int = field(INT64, "0+")
    transaction_state: str = field(STRING, "0+")


@struct
class ListTransactionsResponse(Message):
    API_KEY: ClassVar[int] = 66
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    unknown_state_filters: list[str] = field(array(STRING), "0+")
    transaction_states: list[TransactionState] = field(array(TransactionState), "0+")
