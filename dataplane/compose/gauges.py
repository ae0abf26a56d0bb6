"""What a scrape reads from the state of a broker."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dataplane.broker.controller.kafka_controller import KafkaController
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.replicas.replica_manager import ReplicaManager
    from dataplane.cluster.context import ControllerContext
    from dataplane.compose.listeners import Listeners
    from dataplane.log.cleaner.driver import LogCleaner
    from dataplane.log.manager.log_manager import LogManager


def register(
    metrics: Metrics,
    replica_manager: ReplicaManager,
    metadata_cache: MetadataCache,
    controller: KafkaController,
    listeners: Listeners,
) -> None:
    """Register the gauges; each is computed only when somebody scrapes."""

    def under_replicated() -> int:
        return sum(
            1
            for partition in replica_manager.led()
            if partition.state is not None and len(partition.isr) < len(partition.state.replicas)
        )

    def per_topic_bytes() -> Mapping[str, float]:
        sizes: dict[str, float] = {}
        for partition in replica_manager:
            topic = partition.topic_partition.topic
            sizes[topic] = sizes.get(topic, 0) + partition.log.size_bytes
        return sizes

    metrics.gauge(
        "kafka_server_replicamanager_partitioncount",
        "Replicas on this broker.",
        lambda: len(replica_manager),
    )
    metrics.gauge(
        "kafka_server_replicamanager_leadercount",
        "Replicas that lead here.",
        lambda: len(replica_manager.led()),
    )
    metrics.gauge(
        "kafka_server_replicamanager_underreplicatedpartitions",
        "Partitions led here whose ISR lacks a replica.",
        under_replicated,
    )
    metrics.gauge(
        "kafka_server_replicamanager_underminisrpartitioncount",
        "Partitions led here that refuse acks=all.",
        lambda: sum(1 for partition in replica_manager.led() if partition.is_under_min_isr()),
    )
    metrics.gauge(
        "kafka_server_replicamanager_atminisrpartitioncount",
        "Partitions led here that refuse acks=all if one more replica falls out of the ISR.",
        lambda: sum(1 for partition in replica_manager.led() if partition.is_at_min_isr()),
    )
    metrics.gauge(
        "kafka_controller_kafkacontroller_activebrokercount",
        "Live brokers in the image.",
        lambda: len(metadata_cache.image.brokers),
    )
    metrics.gauge(
        "penstock_idle_followers",
        "Followers of partitions led here that have caught up and cost nothing until an append.",
        lambda: sum(partition.idle_followers for partition in replica_manager.led()),
    )
    metrics.gauge(
        "kafka_log_log_size",
        "Bytes of the logs here, by topic.",
        per_topic_bytes,
        labels=("topic",),
    )
    _register_controller(metrics, controller)
    _register_producers(metrics, replica_manager)
    _register_waiting(metrics, replica_manager)
    _register_connections(metrics, listeners)


def _register_producers(metrics: Metrics, replica_manager: ReplicaManager) -> None:
    metrics.gauge(
        "penstock_producers_crowded_out",
        "Producers that partitions led here forgot because they had 50,000.",
        lambda: sum(each.log.producers.crowded_out for each in replica_manager.led()),
    )


def _register_controller(metrics: Metrics, controller: KafkaController) -> None:
    def of_context(count: Callable[[ControllerContext], int]) -> Callable[[], int]:
        def read() -> int:
            context = controller.context
            return 0 if context is None else count(context)

        return read

    metrics.gauge(
        "kafka_controller_kafkacontroller_activecontrollercount",
        "1 on the broker that is the controller.",
        lambda: int(controller.is_active),
    )
    metrics.gauge(
        "kafka_controller_kafkacontroller_globaltopiccount",
        "Topics of the cluster, on the controller; 0 elsewhere.",
        of_context(lambda context: len(context.topics)),
    )
    metrics.gauge(
        "kafka_controller_kafkacontroller_globalpartitioncount",
        "Partitions of the cluster, on the controller; 0 elsewhere.",
        of_context(lambda context: context.partition_count),
    )
    metrics.gauge(
        "kafka_controller_kafkacontroller_offlinepartitionscount",
        "Partitions without a live leader, on the controller; 0 elsewhere.",
        of_context(lambda context: context.offline_partition_count),
    )
    metrics.gauge(
        "kafka_controller_kafkacontroller_topicstodeletecount",
        "Topics whose deletion has not ended, on the controller; 0 elsewhere.",
        of_context(lambda context: len(context.topics_to_be_deleted)),
    )


def _register_waiting(metrics: Metrics, replica_manager: ReplicaManager) -> None:
    purgatories = {
        "Produce": replica_manager.produce_purgatory,
        "Fetch": replica_manager.fetch_purgatory,
        "DeleteRecords": replica_manager.delete_records_purgatory,
    }
    metrics.gauge(
        "kafka_server_delayedoperationpurgatory_numdelayedoperations",
        "Requests that wait for replicas, for data, or for their deadline.",
        lambda: {name: len(each) for name, each in purgatories.items()},
        labels=("delayedOperation",),
    )
    metrics.gauge(
        "kafka_server_delayedoperationpurgatory_purgatorysize",
        "Places where a fetch waits for data (one a partition it asks for).",
        lambda: {"Fetch": sum(partition.watchers for partition in replica_manager)},
        labels=("delayedOperation",),
    )
    for name, each in purgatories.items():
        metrics.counters(
            f"kafka_server_delayed{name.lower()}metrics_expires_total",
            f"{name} requests whose deadline came before what they waited for.",
            functools.partial(getattr, each, "expired"),
        )
    metrics.gauge(
        "penstock_fetch_read_memory_bytes",
        "Memory that fetches are read into before they are sent.",
        lambda: replica_manager.read_memory.size_bytes,
    )
    sessions = replica_manager.fetch_sessions.cache
    metrics.gauge(
        "kafka_server_fetchsessioncache_numincrementalfetchsessions",
        "Incremental fetch sessions.",
        lambda: len(sessions),
    )
    metrics.gauge(
        "kafka_server_fetchsessioncache_numincrementalfetchpartitionscached",
        "Partitions that fetch sessions remember.",
        lambda: sessions.partitions,
    )
    metrics.counters(
        "kafka_server_fetchsessioncache_incrementalfetchsessionevictions_total",
        "Fetch sessions that made space for others.",
        lambda: sessions.evictions,
    )


def _register_connections(metrics: Metrics, listeners: Listeners) -> None:
    metrics.gauge(
        "kafka_server_socket_server_metrics_connection_count",
        "Open connections by listener.",
        listeners.connection_counts,
        labels=("listener",),
    )
    metrics.gauge(
        "kafka_server_socket_server_metrics_connection_creation_rate",
        "Connections admitted a second by listener, over the quotas' window.",
        listeners.creation_rates,
        labels=("listener",),
    )
    metrics.counters(
        "penstock_delayed_connections_total",
        "Connections that came too fast, by whose rate was over: looked at later, or closed later.",
        lambda: metrics.delayed_connections,
        labels=("reason",),
    )
    metrics.gauge(
        "penstock_muted_connections",
        "Connections whose client is over a quota: none of their requests is looked at.",
        lambda: metrics.muted_connections,
    )
    metrics.gauge(
        "penstock_requests_in_work",
        "Requests whose answers are waited for, by listener; at most 64 a connection.",
        listeners.requests_in_work,
        labels=("listener",),
    )
    metrics.gauge(
        "penstock_connections_with_unread_answers",
        "Connections whose client has not read all that was answered, by listener.",
        listeners.unread_answers,
        labels=("listener",),
    )
    metrics.gauge(
        "penstock_tls_handshakes",
        "TLS handshakes under way, by listener.",
        listeners.handshake_counts,
        labels=("listener",),
    )
    metrics.gauge(
        "penstock_tls_certificate_expiry_timestamp_seconds",
        "When the certificate shown ends, by listener; peers: to other brokers.",
        listeners.certificate_expiries_s,
        labels=("listener",),
    )
    budget = listeners.receive_budget
    metrics.gauge(
        "kafka_network_socketserver_memorypoolused",
        "Grown receive buffers, all connections.",
        lambda: budget.used_bytes,
    )
    metrics.gauge(
        "penstock_receive_buffer_paused",
        "Connections that wait for space in the receive buffers, not read from meanwhile.",
        lambda: budget.paused,
    )
    metrics.gauge(
        "penstock_receive_buffer_pauses",
        "How often a connection had to wait for space in the receive buffers, since the start.",
        lambda: budget.pauses,
    )
    metrics.gauge(
        "penstock_receive_buffer_refusals",
        "Connections closed because the receive buffers were full, since the start.",
        lambda: budget.refused,
    )


def register_storage(metrics: Metrics, logs: LogManager) -> None:
    """These can be asked from the moment on that logs are being opened."""
    progress = logs.progress
    metrics.gauge(
        "kafka_log_logmanager_remaininglogstorecover",
        "Logs that the start has found and not opened yet, by directory.",
        lambda: {path: each.remaining_logs for path, each in list(progress.directories.items())},
        labels=("dir",),
    )
    metrics.gauge(
        "kafka_log_logmanager_remainingsegmentstorecover",
        "Segments still to be checked of the log that a thread of the start is at.",
        lambda: {
            (path, str(number)): worker.remaining_segments
            for path, each in list(progress.directories.items())
            for number, worker in enumerate(each.workers)
        },
        labels=("dir", "threadNum"),
    )
    metrics.gauge(
        "penstock_recovery_scanned_bytes",
        "Bytes of segments that the start has checked.",
        lambda: progress.scanned_bytes,
    )
    metrics.gauge(
        "penstock_recovery_truncated_bytes",
        "Bytes behind damage that the start truncated.",
        lambda: progress.truncated_bytes,
    )
    metrics.gauge(
        "penstock_recovery_rebuilt_segments",
        "Segments whose indexes the start has rebuilt.",
        lambda: progress.rebuilt_segments,
    )
    metrics.gauge(
        "penstock_recovery_damaged_files",
        "Checkpoints, epoch files and producer snapshots that could not be read.",
        lambda: progress.damaged_files,
    )
    metrics.gauge(
        "kafka_log_logmanager_offlinelogdirectorycount",
        "Log directories that have failed.",
        lambda: sum(1 for report in logs.directories() if report.error),
    )
    _register_cleaner(metrics, logs.cleaner)


def _register_cleaner(metrics: Metrics, cleaner: LogCleaner) -> None:
    metrics.gauge(
        "kafka_log_logcleanermanager_uncleanable_partitions_count",
        "Compacted logs set aside because they cannot be compacted.",
        lambda: len(cleaner.uncleanable),
    )
    metrics.gauge(
        "kafka_log_logcleanermanager_max_dirty_percent",
        "Largest dirty share of a compacted log at the last look, in percent.",
        lambda: 100 * cleaner.dirtiest_ratio,
    )
    metrics.gauge(
        "penstock_cleaner_rounds",
        "Rounds of compaction since the start, by outcome.",
        lambda: {"done": cleaner.stats.rounds, "aborted": cleaner.stats.rounds_aborted},
        labels=("outcome",),
    )
    metrics.gauge(
        "penstock_cleaner_bytes",
        "Bytes of segments before and after compaction, since the start.",
        lambda: {"before": cleaner.stats.bytes_before, "after": cleaner.stats.bytes_after},
        labels=("when",),
    )
    metrics.gauge(
        "kafka_log_logcleaner_max_clean_time_secs",
        "How many seconds the last round of compaction took.",
        lambda: cleaner.stats.last_round_ms / 1000,
    )
