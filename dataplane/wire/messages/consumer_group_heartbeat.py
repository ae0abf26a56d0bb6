"""ConsumerGroupHeartbeat (key 68), versions 0-1, flexible from 0.

The whole of the consumer group protocol (KIP-848): join, stay, leave, and learn one's assignment.
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
    """Null, or a timeout of -1: as in the last heartbeat."""

    API_KEY: ClassVar[int] = 68
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
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
    subscribed_topic_regex: str | None = field(STRING, "1+", nullable="1+", default=None)
    server_assignor: str | None = field(STRING, "0+", nullable="0+", default=None)
    topic_partitions: list[ConsumerGroupHeartbeatRequestTopicPartitions] | None = field(
        array(ConsumerGroupHeartbeatRequestTopicPartitions), "0+", nullable="0+", default=None
    )


@struct
class ConsumerGroupHeartbeatResponseTopicPartitions:
    topic_id: uuid.UUID = field(UUID, "0+")
    partitions: list[int] = field(array(INT32), "0+")


@struct
class ConsumerGroupHeartbeatResponseAssignment:
    topic_partitions: list[ConsumerGroupHeartbeatResponseTopicPartitions] = field(
        array(ConsumerGroupHeartbeatResponseTopicPartitions), "0+"
    )


@struct
class ConsumerGroupHeartbeatResponse(Message):
    API_KEY: ClassVar[int] = 68
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)
    member_id: str | None = field(STRING, "0+", nullable="0+", default=None)
    member_epoch: int = field(INT32, "0+")
    heartbeat_interval_ms: int = field(INT32, "0+")
    assignment: ConsumerGroupHeartbeatResponseAssignment | None = field(
        ConsumerGroupHeartbeatResponseAssignment, "0+", nullable="0+", default=None
    )
