"""The part of KafkaGateway about the directories that replicas lie in."""

from collections.abc import Collection, Mapping
from typing import Any

from kafka.errors import NoError, for_code

from controlplane.gateway.kafka_link import BrokerLink, KafkaLink, check, refusal
from controlplane.gateway.types import TP, LogDirectory, LogDirSpace, ReplicaSize


class KafkaLogDirsMixin:
    _link: KafkaLink | BrokerLink

    def _broker_ids(self) -> list[int]:
        """Of all that are registered. `KafkaGateway` has it."""
        raise NotImplementedError

    def log_dirs(
        self, topics: Collection[str] | None = None, *, brokers: Collection[int] | None = None
    ) -> list[ReplicaSize]:
        asked = self._broker_ids() if brokers is None else sorted(brokers)
        wanted = None if topics is None else sorted(topics)
        found = self._link.call(
            lambda admin: admin.describe_log_dirs(wanted, brokers=asked), what="log dirs"
        )
        sizes = []
        for broker in found:
            for directory in broker["log_dirs"]:
                check(directory["error_code"], None, f"log dirs of broker {broker['broker']}")
                sizes += [
                    ReplicaSize(
                        broker=broker["broker"],
                        log_dir=directory["log_dir"],
                        tp=TP(topic["name"], part["partition_index"]),
                        size_bytes=part["partition_size"],
                        offset_lag=part["offset_lag"],
                        is_future=part["is_future_key"],
                    )
                    for topic in directory["topics"]
                    for part in topic["partitions"]
                ]
        return sizes

    def log_dir_space(self, brokers: Collection[int]) -> list[LogDirSpace]:
        asked = sorted(brokers)
        found = self._link.call(
            # No topic is asked for: the directories are said all the same.
            lambda admin: admin.describe_log_dirs({}, brokers=asked),
            what="log dirs",
        )
        return [
            _log_dir_space(broker["broker"], directory)
            for broker in found
            for directory in broker["log_dirs"]
        ]

    def log_directories(self, brokers: Collection[int]) -> list[LogDirectory]:
        asked = sorted(brokers)
        found = self._link.call(
            lambda admin: admin.describe_log_dirs(None, brokers=asked), what="log dirs"
        )
        return [
            _log_directory(broker["broker"], directory)
            for broker in found
            for directory in broker["log_dirs"]
        ]

    def alter_replica_log_dirs(self, broker: int, wanted: Mapping[TP, str]) -> dict[TP, str]:
        what = "alter replica log dirs"
        answer = self._link.call(
            lambda admin: admin.alter_replica_log_dirs(
                {(tp.topic, tp.partition, broker): path for tp, path in wanted.items()}
            ),
            what=what,
            write=True,
        )
        return {
            TP(replica.topic, replica.partition): refusal(error, what).code
            for replica, error in answer.items()
            if error is not None and error is not NoError
        }


def _log_dir_space(broker: int, directory: Mapping[str, Any]) -> LogDirSpace:
    path = directory["log_dir"]
    if error := _error_of(directory):
        return LogDirSpace(broker=broker, log_dir=path, error=error)
    return LogDirSpace(
        broker=broker,
        log_dir=path,
        total_bytes=_known_size(directory.get("total_bytes")),
        usable_bytes=_known_size(directory.get("usable_bytes")),
    )


def _error_of(directory: Mapping[str, Any]) -> str:
    code = directory["error_code"]
    return refusal(for_code(code), "log dirs").code if code else ""


def _log_directory(broker: int, directory: Mapping[str, Any]) -> LogDirectory:
    path = directory["log_dir"]
    if error := _error_of(directory):
        return LogDirectory(broker=broker, log_dir=path, error=error)
    return LogDirectory(
        broker=broker,
        log_dir=path,
        total_bytes=_known_size(directory.get("total_bytes")),
        usable_bytes=_known_size(directory.get("usable_bytes")),
        replicas=tuple(
            ReplicaSize(
                broker=broker,
                log_dir=path,
                tp=TP(topic["name"], part["partition_index"]),
                size_bytes=part["partition_size"],
                offset_lag=part["offset_lag"],
                is_future=part["is_future_key"],
            )
            for topic in directory["topics"]
            for part in topic["partitions"]
        ),
    )


def _known_size(size: int | None) -> int | None:
    """Kafka says -1 where it does not know."""
    return None if size is None or size < 0 else size
