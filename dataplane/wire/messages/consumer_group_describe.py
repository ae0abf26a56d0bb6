"""ConsumerGroupDescribe (key 69), versions 0-1, flexible from 0.

State, members and assignments of groups of the consumer protocol.
"""

from __future__ import annotations

import uuid
from typing import ClassVar

from dataplane.wire.schema import (
    BOOL,
    INT8,
    INT16,
    INT32,
    STRING,
    UUID,
    Message,
    array,
    field,
    struct,
)


@struct
class ConsumerGroupDescribeRequest(Message):
    API_KEY: ClassVar[int] = 69
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 0

    group_ids: list[str] = field(array(STRING), "0+")
    include_authorized_operations: bool = field(BOOL, "0+")


@struct
class ConsumerGroupDescribeResponseTopicPartitions:
    topic_id: uuid.UUID = field(UUID, "0+")
    topic_name: str = field(STRING, "0+")
    partitions: list[int] = field(array(INT32), "0+")


@struct
class ConsumerGroupDescribeResponseAssignment:
    topic_partitions: list[ConsumerGroupDescribeResponseTopicPartitions] = field(
        array(ConsumerGroupDescribeResponseTopicPartitions), "0+"
    )


@struct
class ConsumerGroupDescribeResponseMember:
    """`member_type`: -1 unknown, 0 classic protocol, 1 consumer protocol."""

    member_id: str = field(STRING, "0+")
    instance_id: str | None = field(STRING, "0+", nullable="0+", default=None)
    rack_id: str | None = field(STRING, "0+", nullable="0+", default=None)
    member_epoch: int = field(INT32, "0+")
    client_id: str = field(STRING, "0+")
    client_host: str = field(STRING, "0+")
    subscribed_topic_names: list[str] = field(array(STRING), "0+")
    subscribed_topic_regex: str | None = field(STRING, "0+", nullable="0+", default=None)
    assignment: ConsumerGroupDescribeResponseAssignment = field(
        ConsumerGroupDescribeResponseAssignment, "0+"
    )
    target_assignment: ConsumerGroupDescribeResponseAssignment = field(
        ConsumerGroupDescribeResponseAssignment, "0+"
    )
    member_type: int = field(INT8, "1+", default=-1)


@struct
class ConsumerGroupDescribeResponseGroup:
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)
    group_id: str = field(STRING, "0+")
    group_state: str = field(STRING, "0+")
    group_epoch: int = field(INT32, "0+")
    assignment_epoch: int = field(INT32, "0+")
    assignor_name: str = field(STRING, "0+")
    members: list[ConsumerGroupDescribeResponseMember] = field(
        array(ConsumerGroupDescribeResponseMember), "0+"
    )
    authorized_operations: int = field(INT32, "0+", default=-2147483648)


@struct
class ConsumerGroupDescribeResponse(Message):
    API_KEY: ClassVar[int] = 69
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    groups: list[ConsumerGroupDescribeResponseGroup] = field(
        array(ConsumerGroupDescribeResponseGroup), "0+"
    )
