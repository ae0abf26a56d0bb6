"""CreateTopics (key 19), versions 0-7, flexible from 5.

Create topics, with partitions or with assignments.
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
class CreatableReplicaAssignment:
    partition_index: int = field(INT32, "0+")
    broker_ids: list[int] = field(array(INT32), "0+")


@struct
class CreatableTopicConfig:
    name: str = field(STRING, "0+")
    value: str | None = field(STRING, "0+", nullable="0+")


@struct
class CreatableTopic:
    name: str = field(STRING, "0+")
    num_partitions: int = field(INT32, "0+")
    replication_factor: int = field(INT16, "0+")
    assignments: list[CreatableReplicaAssignment] = field(array(CreatableReplicaAssignment), "0+")
    configs: list[CreatableTopicConfig] = field(array(CreatableTopicConfig), "0+")


@struct
class CreateTopicsRequest(Message):
    API_KEY: ClassVar[int] = 19
    VERSIONS: ClassVar[tuple[int, int]] = (0, 7)
    FLEXIBLE: ClassVar[int] = 5

    topics: list[CreatableTopic] = field(array(CreatableTopic), "0+")
    timeout_ms: int = field(INT32, "0+", default=60000)
    validate_only: bool = field(BOOL, "1+")


@struct
class CreatableTopicConfigs:
    name: str = field(STRING, "5+")
    value: str | None = field(STRING, "5+", nullable="5+")
    read_only: bool = field(BOOL, "5+")
    config_source: int = field(INT8, "5+", default=-1)
    is_sensitive: bool = field(BOOL, "5+")


@struct
class CreatableTopicResult:
    name: str = field(STRING, "0+")
    topic_id: uuid.UUID = field(UUID, "7+")
    error_code: int = field(INT16, "0+")
    error_message: str | None = field(STRING, "1+", nullable="0+", default=None)
    topic_config_error_code: int = field(INT16, "5+", tag=0)
    num_partitions: int = field(INT32, "5+", default=-1)
    replication_factor: int = field(INT16, "5+", default=-1)
    configs: list[CreatableTopicConfigs] | None = field(
        array(CreatableTopicConfigs), "5+", nullable="5+"
    )


@struct
class CreateTopicsResponse(Message):
    API_KEY: ClassVar[int] = 19
    VERSIONS: ClassVar[tuple[int, int]] = (0, 7)
    FLEXIBLE: ClassVar[int] = 5

    throttle_time_ms: int = field(INT32, "2+")
    topics: list[CreatableTopicResult] = field(array(CreatableTopicResult), "0+")
