"""ConsumerGroupDescribe (key 69), version 0, flexible from 0.

State and members of KIP-848 groups.
"""

from __future__ import annotations

import uuid
from typing import ClassVar

from dataplane.wire.schema import BOOL, INT16, INT32, STRING, UUID, Message, array, field, struct


@struct
class ConsumerGroupDescribeRequest(Message):
    API_KEY: ClassVar[int] = 69
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    group_ids: list[str] = field(array(STRING), "0+")
    include_authorized_operations: bool = field(BOOL, "0+")


@struct
class TopicPartitions:
    topic_id: uuid.UUID = field(UUID, "0+")
    topic_name: str = field(STRING, "0+")
    partitions: list[int] = field(array(INT32), "0+")


@struct
class Assignment:
    topic_partitions: list[TopicPartitions] = field(array(TopicPartitions), "0+")


@struct
class Member:
    member_id: str = field(STRING, "0+")
    instance_id: str | None = field(STRING, "0+", nullable="0+", default=None)
    rack_id: str | None = field(STRING, "0+", nullable="0+", default=None)
    member_epoch: int = field(INT32, "0+")
    client_id: str = field(STRING, "0+")
    client_host: str = field(STRING, "0+")
    subscribed_topic_names: list[str] = field(array(STRING), "0+")
    subscribed_topic_regex: str | None = field(STRING, "0+", nullable="0+", default=None)
    assignment: Assignment = field(Assignment, "0+")
    target_assignment: Assignment = field(Assignment, "0+")


@struct
class DescribedGroup:
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "0+", nullable="0+", default=None)
    group_id: str = field(STRING, "0+")
    group_state: str = field(STRING, "0+")
    group_epoch: int = field(INT32, "0+")
    assignment_epoch: int = field(INT32, "0+")
    assignor_name: str = field(STRING, "0+")
    members: list[Member] = field(array(Member), "0+")
    authorized_operations: int = field(INT32, "0+", default=-2147483648)


@struct
class ConsumerGroupDescribeResponse(Message):
    API_KEY: ClassVar[int] = 69
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)
    FLEXIBLE: ClassVar[int] = 0

    throttle_time_ms: int = field(INT32, "0+")
    groups: list[DescribedGroup] = field(array(DescribedGroup), "0+")
