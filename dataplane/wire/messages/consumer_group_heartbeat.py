"""ConsumerGroupHeartbeat (key 68), version 0, flexible from 0.

The whole protocol of a KIP-848 group member.
"""

from __future__ import annotations

import uuid
from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, STRING, UUID, Message, array, field, struct


@struct
class ConsumerGroupHeartbeatRequestTopicPartitions:
    topic_id: uuid.UUID = field(UUID, "0+")
    partitions: list[int] = field(array(INT32), "0+")


@struct
class ConsumerGroupHeartbeatRequest(Message):
    API_KEY: ClassVar[int] = 68
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    group_id: str = field(STRING, "0+")
    member_id: str = field(STRING, "0+")
    member_epoch: int = field(INT32, "0+")
    instance_id: str | None = field(STRING, "0+", nullable="0+", default=None)
    rack_id: str | None = field(STRING, "0+", nullable="0+", default=None)
    rebalance_timeout_ms: int = field(INT32, "0+", default=-1)
    subscribed_topic_names: list[str] | None = field(
        array(STRING), "0+", nullable="0+", default=None
    )
    server_assignor: str | None = field(STRING, "0+", nullable="0+", default=None)
    topic_partitions: list[ConsumerGroupHeartbeatRequestTopicPartitions] | None = field(
        array(ConsumerGroupHeartbeatRequestTopicPartitions), "0+", nullable="0+", default=None
    )


@struct
class ConsumerGroupHeartbeatResponseTopicPartitions:
    topic_id: uuid.UUID = field(UUID, "0+")
    partitions: list[int] = field(array(INT32), "0+")


@struct
class Assignment:
    topic_partitions: list[ConsumerGroupHeartbeatResponseTopicPartitions] = field(
        array(ConsumerGroupHeartbeatResponseTopicPartitions), "0+"
    )


@struct
class ConsumerGroupHeartbeatResponse(Message):
    API_KEY: ClassVar[int] = 68
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)
    member_id: str | None = field(STRING, "0+", nullable="0+", default=None)
    member_epoch: int = field(INT32, "0+")
    heartbeat_interval_ms: int = field(INT32, "0+")
    assignment: Assignment | None = field(Assignment, "0+", nullable="0+", default=None)
