"""The directories in which brokers of the fake cluster keep replicas: a part of `FakeGateway`."""

from collections.abc import Collection, Mapping

from controlplane.gateway.fake_state import FIRST_DIR, FakeTopic, replica_sizes
from controlplane.gateway.types import TP, BrokerNode, LogDirectory, LogDirSpace, ReplicaSize


class FakeLogDirsMixin:
    """Needs the fake that it is mixed into: its topics, its brokers, its account of calls."""

    brokers: dict[int, BrokerNode]
    topics: dict[str, FakeTopic]
    disks: dict[int, tuple[int, int] | None]
    further_dirs: dict[int, dict[str, tuple[int, int] | None]]
    failed_dirs: set[tuple[int, str]]

    def called(self, method: str) -> None:
        """Notes the call; raises what was asked for. `FakeGateway` has it."""
        raise NotImplementedError

    def _answers(self, broker: int) -> None:
        """Raises when it is silent. `FakeGateway` has it."""
        raise NotImplementedError

    def log_dirs(
        self, topics: Collection[str] | None = None, *, brokers: Collection[int] | None = None
    ) -> list[ReplicaSize]:
        self.called("log_dirs")
        asked = self.brokers if brokers is None else brokers
        for broker in asked:
            self._answers(broker)
        return [
            row
            for name, topic in self.topics.items()
            if topics is None or name in topics
            for index, part in enumerate(topic.partitions)
            for row in replica_sizes(TP(name, index), part)
            if row.broker in asked
        ]

    def log_dir_space(self, brokers: Collection[int]) -> list[LogDirSpace]:
        self.called("log_dir_space")
        for broker in brokers:
            self._answers(broker)
        return [
            LogDirSpace(broker=broker, log_dir=path, error="KAFKA_STORAGE_ERROR")
            if (broker, path) in self.failed_dirs
            else LogDirSpace(broker=broker, log_dir=path, total_bytes=total, usable_bytes=usable)
            for broker in sorted(brokers)
            for path, room in self._rooms(broker).items()
            for total, usable in [room or (None, None)]
        ]

    def _rooms(self, broker: int) -> dict[str, tuple[int, int] | None]:
        return {FIRST_DIR: self.disks.get(broker), **self.further_dirs.get(broker, {})}

    def log_directories(self, brokers: Collection[int]) -> list[LogDirectory]:
        """What is on its way arrives by the second look."""
        self.called("log_directories")
        found = []
        for broker in sorted(brokers):
            self._answers(broker)
            held = self._held_by(broker)
            for path, room in self._rooms(broker).items():
                if (broker, path) in self.failed_dirs:
                    error = "KAFKA_STORAGE_ERROR"
                    found.append(LogDirectory(broker=broker, log_dir=path, error=error))
                    continue
                total, usable = room or (None, None)
                found.append(
                    LogDirectory(
                        broker=broker,
                        log_dir=path,
                        total_bytes=total,
                        usable_bytes=usable,
                        replicas=tuple(row for row in held if row.log_dir == path),
                    )
                )
            self.arrive(broker)
        return found

    def _held_by(self, broker: int) -> list[ReplicaSize]:
        return [
            row
            for name, topic in self.topics.items()
            for index, part in enumerate(topic.partitions)
            for row in replica_sizes(TP(name, index), part)
            if row.broker == broker
        ]

    def arrive(self, broker: int) -> None:
        """What is on its way to other directories of the broker lies there from now on."""
        for topic in self.topics.values():
            for part in topic.partitions:
                if broker in part.future:
                    part.lies_in[broker] = part.future.pop(broker)

    def alter_replica_log_dirs(self, broker: int, wanted: Mapping[TP, str]) -> dict[TP, str]:
        self.called("alter_replica_log_dirs")
        self._answers(broker)
        refused = {}
        for tp, path in wanted.items():
            if path != FIRST_DIR and path not in self.further_dirs.get(broker, {}):
                refused[tp] = "LOG_DIR_NOT_FOUND"
                continue
            part = self.topics[tp.topic].partitions[tp.partition]
            part.future.pop(broker, None)
            if part.lies_in.get(broker, FIRST_DIR) != path:
                part.future[broker] = path
        return refused
