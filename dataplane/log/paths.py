"""Names of files and directories of a log, exactly as Kafka writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition

if TYPE_CHECKING:
    import uuid

LOG = ".log"
OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
SNAPSHOT = ".snapshot"
DELETED = ".deleted"
CLEANED = ".cleaned"
SWAP = ".swap"
TEMPORARY = ".tmp"
SEGMENT_SUFFIXES = (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)

LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
META_PROPERTIES = "meta.properties"
LOCK = ".lock"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
RECOVERY_POINT_CHECKPOINT = "recovery-point-offset-checkpoint"
LOG_START_CHECKPOINT = "log-start-offset-checkpoint"
HIGH_WATERMARK_CHECKPOINT = "replication-offset-checkpoint"
CLEANER_CHECKPOINT = "cleaner-offset-checkpoint"

DELETE_DIRECTORY = "-delete"
FUTURE_DIRECTORY = "-future"
STRAY_DIRECTORY = "-stray"

_NAME_LENGTH_MAX = 255
_SAFE_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def segment_path(directory: str, base_offset: int, suffix: str) -> str:
    return f"{directory}/{base_offset:020d}{suffix}"


def parse_base_offset(name: str, suffix: str) -> int | None:
    """The offset in a file name such as `00000000000000000042.log`, None for any other name."""
    if not name.endswith(suffix):
        return None
    stem = name.removesuffix(suffix)
    if len(stem) != 20 or not stem.isascii() or not stem.isdigit():  # %020d
        return None
    return int(stem)


def partition_directory_name(partition: TopicPartition) -> str:
    """`topic-N`, which lies in the log directory and nowhere else.

    Names come over the network too: one with a slash would lead out of it.

    Raises:
        KafkaError: INVALID_TOPIC_EXCEPTION for a name that no topic has, or a negative number.
    """
    if partition.partition < 0 or not _SAFE_TOPIC.fullmatch(partition.topic):
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, "There can be no log of this name.")
    return str(partition)


def parse_partition_directory(name: str) -> TopicPartition | None:
    """The partition of a directory `topic-N`; None for a name that is not one."""
    topic, dash, number = name.rpartition("-")
    if not dash or not topic or not number.isascii() or not number.isdigit():
        return None
    if number != "0" and number.startswith("0"):  # else two names would mean one partition
        return None
    return TopicPartition(topic, int(number))


def deleted_directory_name(partition: TopicPartition, unique: uuid.UUID) -> str:
    """`topic-N.<32 hex>-delete`, the topic shortened so that the name stays legal."""
    return _retired_name(partition, unique, DELETE_DIRECTORY)


def future_directory_name(partition: TopicPartition, unique: uuid.UUID) -> str:
    """`topic-N.<32 hex>-future`: a copy that is to take the replica's place."""
    return _retired_name(partition, unique, FUTURE_DIRECTORY)


def parse_future_directory(name: str) -> TopicPartition | None:
    """The partition of a `-future` directory; None for any other name."""
    stem, dot, unique = name.removesuffix(FUTURE_DIRECTORY).rpartition(".")
    if not name.endswith(FUTURE_DIRECTORY) or not dot or len(unique) != 32:  # a UUID in hex
        return None
    return parse_partition_directory(stem)


def stray_directory_name(partition: TopicPartition, unique: uuid.UUID) -> str:
    """`topic-N.<32 hex>-stray`: a log that the cluster does not know any more, kept aside."""
    return _retired_name(partition, unique, STRAY_DIRECTORY)


def _retired_name(partition: TopicPartition, unique: uuid.UUID, state: str) -> str:
    suffix = f"-{partition.partition}.{unique.hex}{state}"
    return partition.topic[: _NAME_LENGTH_MAX - len(suffix)] + suffix
