"""ElectLeaders (key 43), versions 0-2, flexible from 2.

Elect preferred or unclean leaders.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT8, INT16, INT32, STRING, Message, array, field, struct


@struct
class TopicPartitions:
    topic: str = field(STRING, "0+")
    partitions: list[int] = field(array(INT32), "0+")


@struct
class ElectLeadersRequest(Message):
    API_KEY: ClassVar[int] = 43
    VERSIONS: ClassVar[tuple[int, int]] = (0, 2)
    FLEXIBLE: ClassVar[int] = 2

    election_type: int = field(INT8, "1+")
    topic_partitions: list[TopicPartitions] | None = field(
        array(TopicPartitions), "0+", nullable="0+"
    )
    timeout_ms: int = field(INT32, "0+", default=60000)


@struct
class PartitionResult:
    partition_id: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)


@struct
class ReplicaElectionResult:
    topic: str = field(STRING, "0+")
    partition_result: list[PartitionResult] = field(array(PartitionResult), "0+")


@struct
class ElectLeadersResponse(Message):
    API_KEY: ClassVar[int] = 43
    VERSIONS: ClassVar[tuple[int, int]] = (0, 2)
    FLEXIBLE: ClassVar[int] = 2

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "1+")
    replica_election_results: list[ReplicaElectionResult] = field(
        array(ReplicaElectionResult), "0+"
    )
