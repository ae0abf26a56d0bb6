"""AllocateProducerIds (key 67), version 0, flexible from 0.

A broker asks the controller for a block of producer ids.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, INT64, Message, field, struct


@struct
class AllocateProducerIdsRequest(Message):
    API_KEY: ClassVar[int] = 67
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    broker_id: int = field(INT32, "0+")
    broker_epoch: int = field(INT64, "0+", default=-1)


@struct
class AllocateProducerIdsResponse(Message):
    API_KEY: ClassVar[int] = 67
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    producer_id_start: int = field(INT64, "0+")
    producer_id_len: int = field(INT32, "0+")
