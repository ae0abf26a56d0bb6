"""StopReplica (key 5), versions 0-4, flexible from 2.

The controller takes replicas off a broker.

Version 0 lists partitions ungrouped, 1-2 by topic with one delete flag for the request, 3+ by topic
with leader epoch and delete flag in each partition (epoch -2: delete whatever the epoch).
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BOOL, INT16, INT32, INT64, STRING, Message, array, field, struct


@struct
class StopReplicaPartitionV0:
    topic_name: str = field(STRING, "0")
    partition_index: int = field(INT32, "0")


@struct
class StopReplicaTopicV1:
    name: str = field(STRING, "1-2")
    partition_indexes: list[int] = field(array(INT32), "1-2")


@struct
class StopReplicaPartitionState:
    partition_index: int = field(INT32, "3+")
    leader_epoch: int = field(INT32, "3+", default=-1)
    delete_partition: bool = field(BOOL, "3+")


@struct
class StopReplicaTopicState:
    topic_name: str = field(STRING, "3+")
    partition_states: list[StopReplicaPartitionState] = field(
        array(StopReplicaPartitionState), "3+"
    )


@struct
class StopReplicaRequest(Message):
    API_KEY: ClassVar[int] = 5
    VERSIONS: ClassVar[tuple[int, int]] = (0, 4)
    FLEXIBLE: ClassVar[int] = 2

    controller_id: int = field(INT32, "0+")
    is_k_raft_controller: bool = field(BOOL, "4+")
    controller_epoch: int = field(INT32, "0+")
    broker_epoch: int = field(INT64, "1+", default=-1)
    delete_partitions: bool = field(BOOL, "0-2")
    ungrouped_partitions: list[StopReplicaPartitionV0] = field(array(StopReplicaPartitionV0), "0")
    topics: list[StopReplicaTopicV1] = field(array(StopReplicaTopicV1), "1-2")
    topic_states: list[StopReplicaTopicState] = field(array(StopReplicaTopicState), "3+")


@struct
class StopReplicaPartitionError:
    topic_name: str = field(STRING, "0+")
    partition_index: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")


@struct
class StopReplicaResponse(Message):
    API_KEY: ClassVar[int] = 5
    VERSIONS: ClassVar[tuple[int, int]] = (0, 4)
    FLEXIBLE: ClassVar[int] = 2

    error_code: int = field(INT16, "0+")
    partition_errors: list[StopReplicaPartitionError] = field(
        array(StopReplicaPartitionError), "0+"
    )
