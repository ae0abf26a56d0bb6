"""AlterPartition (key 56), versions 0-3, flexible from 0.

A leader proposes a new ISR to the controller.
"""

from __future__ import annotations

import uuid
from typing import ClassVar

from dataplane.wire.schema import (
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    UUID,
    Message,
    array,
    field,
    struct,
)


@struct
class BrokerState:
    broker_id: int = field(INT32, "3+")
    broker_epoch: int = field(INT64, "3+", default=-1)


@struct
class AlterPartitionRequestPartitionData:
    partition_index: int = field(INT32, "0+")
    leader_epoch: int = field(INT32, "0+")
    new_isr: list[int] = field(array(INT32), "0-2")
    new_isr_with_epochs: list[BrokerState] = field(array(BrokerState), "3+")
    leader_recovery_state: int = field(INT8, "1+")
    partition_epoch: int = field(INT32, "0+")


@struct
class AlterPartitionRequestTopicData:
    topic_name: str = field(STRING, "0-1")
    topic_id: uuid.UUID = field(UUID, "2+")
    partitions: list[AlterPartitionRequestPartitionData] = field(
        array(AlterPartitionRequestPartitionData), "0+"
    )


@struct
class AlterPartitionRequest(Message):
    API_KEY: ClassVar[int] = 56
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 0

    broker_id: int = field(INT32, "0+")
    broker_epoch: int = field(INT64, "0+", default=-1)
    topics: list[AlterPartitionRequestTopicData] = field(
        array(AlterPartitionRequestTopicData), "0+"
    )


@struct
class AlterPartitionResponsePartitionData:
    partition_index: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    leader_id: int = field(INT32, "0+")
    leader_epoch: int = field(INT32, "0+")
    isr: list[int] = field(array(INT32), "0+")
    leader_recovery_state: int = field(INT8, "1+")
    partition_epoch: int = field(INT32, "0+")


@struct
class AlterPartitionResponseTopicData:
    topic_name: str = field(STRING, "0-1")
    topic_id: uuid.UUID = field(UUID, "2+")
    partitions: list[AlterPartitionResponsePartitionData] = field(
        array(AlterPartitionResponsePartitionData), "0+"
    )


@struct
class AlterPartitionResponse(Message):
    API_KEY: ClassVar[int] = 56
    VERSIONS: ClassVar[tuple[int, int]] = (0, 3)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    topics: list[AlterPartitionResponseTopicData] = field(
        array(AlterPartitionResponseTopicData), "0+"
    )
