"""LeaderAndIsr (key 4), versions 0-7, flexible from 4.

The controller sends replicas their roles.

Below version 2 partitions come ungrouped, with their topic's name in each. `type` 0 is unknown,
1 incremental, 2 full (5+). Errors are grouped by topic id from version 5 on.
"""

from __future__ import annotations

import uuid
from typing import ClassVar

from dataplane.wire.schema import (
    BOOL,
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
class LeaderAndIsrPartitionState:
    topic_name: str = field(STRING, "0-1")
    partition_index: int = field(INT32, "0+")
    controller_epoch: int = field(INT32, "0+")
    leader: int = field(INT32, "0+")
    leader_epoch: int = field(INT32, "0+")
    isr: list[int] = field(array(INT32), "0+")
    partition_epoch: int = field(INT32, "0+")
    replicas: list[int] = field(array(INT32), "0+")
    adding_replicas: list[int] = field(array(INT32), "3+")
    removing_replicas: list[int] = field(array(INT32), "3+")
    is_new: bool = field(BOOL, "1+")
    leader_recovery_state: int = field(INT8, "6+")


@struct
class LeaderAndIsrTopicState:
    topic_name: str = field(STRING, "2+")
    topic_id: uuid.UUID = field(UUID, "5+")
    partition_states: list[LeaderAndIsrPartitionState] = field(
        array(LeaderAndIsrPartitionState), "2+"
    )


@struct
class LeaderAndIsrLiveLeader:
    broker_id: int = field(INT32, "0+")
    host_name: str = field(STRING, "0+")
    port: int = field(INT32, "0+")


@struct
class LeaderAndIsrRequest(Message):
    API_KEY: ClassVar[int] = 4
    VERSIONS: ClassVar[tuple[int, int]] = (0, 7)
    FLEXIBLE: ClassVar[int] = 4

    controller_id: int = field(INT32, "0+")
    is_k_raft_controller: bool = field(BOOL, "7+")
    controller_epoch: int = field(INT32, "0+")
    broker_epoch: int = field(INT64, "2+", default=-1)
    type: int = field(INT8, "5+")
    ungrouped_partition_states: list[LeaderAndIsrPartitionState] = field(
        array(LeaderAndIsrPartitionState), "0-1"
    )
    topic_states: list[LeaderAndIsrTopicState] = field(array(LeaderAndIsrTopicState), "2+")
    live_leaders: list[LeaderAndIsrLiveLeader] = field(array(LeaderAndIsrLiveLeader), "0+")


@struct
class LeaderAndIsrPartitionError:
    topic_name: str = field(STRING, "0-4")
    partition_index: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")


@struct
class LeaderAndIsrTopicError:
    topic_id: uuid.UUID = field(UUID, "5+")
    partition_errors: list[LeaderAndIsrPartitionError] = field(
        array(LeaderAndIsrPartitionError), "5+"
    )


@struct
class LeaderAndIsrResponse(Message):
    API_KEY: ClassVar[int] = 4
    VERSIONS: ClassVar[tuple[int, int]] = (0, 7)
    FLEXIBLE: ClassVar[int] = 4

    error_code: int = field(INT16, "0+")
    partition_errors: list[LeaderAndIsrPartitionError] = field(
        array(LeaderAndIsrPartitionError), "0-4"
    )
    topics: list[LeaderAndIsrTopicError] = field(array(LeaderAndIsrTopicError), "5+")
