"""What alert rules ask and no request needs: late transactions, disks, the audit log's file."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from dataplane.broker.security.audit_log import LOGGER
from dataplane.runtime.log_file import AppendedLog

if TYPE_CHECKING:
    from dataplane.broker.controller.kafka_controller import KafkaController
    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.replicas.partition import Partition
    from dataplane.broker.replicas.replica_manager import ReplicaManager
    from dataplane.broker.security.authorizer import Authorizer
    from dataplane.log.manager.log_manager import LogManager
    from dataplane.ports.clock import Clock

LATE_MS: Final = 300_000
"""How much longer than `transaction.max.timeout.ms` a transaction is open when it is late."""


def register_producers(
    metrics: Metrics, replica_manager: ReplicaManager, configs: ConfigStore, clock: Clock
) -> None:
    """Producers and their open transactions, as Kafka's ReplicaManager counts them."""

    def is_late(partition: Partition, before_ms: int) -> bool:
        written_ms = partition.log.producers.oldest_open_written_ms()
        return written_ms is not None and 0 < written_ms < before_ms

    def late() -> int:
        longest_ms = configs.broker_config.get_int("transaction.max.timeout.ms")
        before_ms = clock.realtime_ms() - longest_ms - LATE_MS
        return sum(is_late(partition, before_ms) for partition in replica_manager.led())

    metrics.gauge(
        "kafka_server_replicamanager_partitionswithlatetransactionscount",
        "Partitions led here with a transaction that no coordinator can still have open.",
        late,
    )
    metrics.gauge(
        "kafka_server_replicamanager_produceridcount",
        "Producers that the replicas here remember.",
        lambda: sum(len(partition.log.producers.entries) for partition in replica_manager),
    )


def register_controller(metrics: Metrics, controller: KafkaController) -> None:
    metrics.counters(
        "kafka_controller_controllerstats_uncleanleaderelections_total",
        "Elections of replicas that were not in sync, by this broker as controller.",
        lambda: controller.unclean_elections,
    )


def register_disks(metrics: Metrics, logs: LogManager) -> None:
    metrics.gauge(
        "penstock_log_dir_total_bytes",
        "Size of the volume that a log directory lies on.",
        lambda: {path: usage.total_bytes for path, usage in logs.disk_usage().items()},
        labels=("dir",),
    )
    metrics.gauge(
        "penstock_log_dir_usable_bytes",
        "Free space of the volume that a log directory lies on.",
        lambda: {path: usage.usable_bytes for path, usage in logs.disk_usage().items()},
        labels=("dir",),
    )


def register_changes(metrics: Metrics, configs: ConfigStore, authorizer: Authorizer) -> None:
    metrics.counters(
        "penstock_change_read_retries_total",
        "Times that another broker's change could not be read from ZooKeeper, and was tried again.",
        lambda: {
            "configs": configs.change_retries,
            "users": authorizer.scram.change_retries,
            "delegation-tokens": authorizer.tokens.change_retries,
            "acls": authorizer.change_retries,
        },
        labels=("of",),
    )


def register_audit(metrics: Metrics) -> None:
    """The file is opened before there are metrics: its handler counts."""
    metrics.counters(
        "penstock_audit_write_failures_total",
        "Times that a line of the audit log could not be written, or its full file put aside.",
        lambda: sum(
            handler.failures
            for handler in logging.getLogger(LOGGER).handlers
            if isinstance(handler, AppendedLog)
        ),
    )
