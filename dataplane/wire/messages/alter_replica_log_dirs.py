"""AlterReplicaLogDirs (key 34), versions 0-2, flexible from 2.

Move replicas between log directories of a broker.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import INT16, INT32, STRING, Message, array, field, struct


@struct
class AlterReplicaLogDirTopic:
    name: str = field(STRING, "0+")
    partitions: list[int] = field(array(INT32), "0+")


@struct
class AlterReplicaLogDir:
    path: str = field(STRING, "0+")
    topics: list[AlterReplicaLogDirTopic] = field(array(AlterReplicaLogDirTopic), "0+")


@struct
class AlterReplicaLogDirsRequest(Message):
    API_KEY: ClassVar[int] = 34
    VERSIONS: ClassVar[tuple[int, int]] = (0, 2)
    FLEXIBLE: ClassVar[int] = 2

    dirs: list[AlterReplicaLogDir] = field(array(AlterReplicaLogDir), "0+")


@struct
class AlterReplicaLogDirPartitionResult:
    partition_index: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")


@struct
class AlterReplicaLogDirTopicResult:
    topic_name: str = field(STRING, "0+")
    partitions: list[AlterReplicaLogDirPartitionResult] = field(
        array(AlterReplicaLogDirPartitionResult), "0+"
    )


@struct
class AlterReplicaLogDirsResponse(Message):
    API_KEY: ClassVar[int] = 34
    VERSIONS: ClassVar[tuple[int, int]] = (0, 2)
    FLEXIBLE: ClassVar[int] = 2

    throttle_time_ms: int = field(INT32, "0+")
    results: list[AlterReplicaLogDirTopicResult] = field(array(AlterReplicaLogDirTopicResult), "0+")
