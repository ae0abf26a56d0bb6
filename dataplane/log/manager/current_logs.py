"""Which logs of a broker are in service, where each of them lies, and their topics' ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import uuid

    from dataplane.log.manager.log_directory import LogDirectory
    from dataplane.log.partition_log import PartitionLog
    from dataplane.model.ids import TopicPartition


class CurrentLogs:
    """`by_partition` is for reading; it changes as logs come and go."""

    def __init__(self) -> None:
        self.by_partition: dict[TopicPartition, PartitionLog] = {}
        self._parent_dirs: dict[TopicPartition, LogDirectory] = {}
        self._topic_ids: dict[TopicPartition, uuid.UUID] = {}

    def get(self, tp: TopicPartition) -> PartitionLog | None:
        return self.by_partition.get(tp)

    def all(self) -> list[PartitionLog]:
        return list(self.by_partition.values())

    def put(self, tp: TopicPartition, log: PartitionLog, parent: LogDirectory) -> None:
        """Take a log into service, instead of the one that was there."""
        self.by_partition[tp] = log
        self._parent_dirs[tp] = parent

    def remove(self, tp: TopicPartition) -> tuple[PartitionLog, LogDirectory] | None:
        """Take a log out of service; what it was and where."""
        log = self.by_partition.pop(tp, None)
        if log is None:
            return None
        self._topic_ids.pop(tp, None)
        return log, self._parent_dirs.pop(tp)

    def parent_dir_of(self, tp: TopicPartition) -> LogDirectory | None:
        return self._parent_dirs.get(tp)

    def in_directory(self, directory: LogDirectory) -> dict[TopicPartition, PartitionLog]:
        return {
            tp: log for tp, log in self.by_partition.items() if self._parent_dirs[tp] is directory
        }

    def count_in(self, directory: LogDirectory) -> int:
        return list(self._parent_dirs.values()).count(directory)

    def topic_id(self, tp: TopicPartition) -> uuid.UUID | None:
        return self._topic_ids.get(tp)

    def set_topic_id(self, tp: TopicPartition, topic_id: uuid.UUID) -> None:
        self._topic_ids[tp] = topic_id

    def clear(self) -> None:
        self.by_partition.clear()
        self._parent_dirs.clear()
