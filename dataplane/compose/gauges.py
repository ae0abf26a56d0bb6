"""What a scrape reads from the state of a broker."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataplane.broker.controller.host import ControllerHost
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.metrics import Metrics
    from dataplane.broker.replicas.replica_manager import ReplicaManager
    from dataplane.compose.listeners import Listeners
    from dataplane.log.cleaner.driver import LogCleaner
    from dataplane.log.manager.log_manager import LogManager


def register(
    metrics: Metrics,
    partitions: ReplicaManager,
    metadata: MetadataCache,
    controller: ControllerHost,
    listeners: Listeners,
) -> None:
    """Register the gauges; each is computed only when somebody scrapes."""

    def under_replicated() -> int:
        return sum(
            1
            for partition in partitions.led()
            if partition.state is not None and len(partition.isr) < len(partition.state.replicas)
        )

    def per_topic_bytes() -> Mapping[str, float]:
        sizes: dict[str, float] = {}
        for partition in partitions:
            label = f'topic="{partition.topic_partition.topic}"'
            sizes[label] = sizes.get(label, 0) + partition.log.size_bytes
        return sizes

    metrics.gauge("partitions", "Replicas on this broker.", lambda: len(partitions))
    metrics.gauge("leaders", "Replicas that lead here.", lambda: len(partitions.led()))
    metrics.gauge(
        "under_replicated_partitions",
        "Partitions led here whose ISR lacks a replica.",
        under_replicated,
    )
    metrics.gauge(
        "under_min_isr_partitions",
        "Partitions led here that refuse acks=all.",
        lambda: sum(1 for partition in partitions.led() if partition.is_under_min_isr()),
    )
    metrics.gauge(
        "at_min_isr_partitions",
        "Partitions led here that refuse acks=all if one more replica falls out of the ISR.",
        lambda: sum(1 for partition in partitions.led() if partition.is_at_min_isr()),
    )
    metrics.gauge(
        "active_controller",
        "1 on the broker that is the controller.",
        lambda: int(controller.is_active),
    )
    metrics.gauge("brokers", "Live brokers in the image.", lambda: len(metadata.image.brokers))
    metrics.gauge("log_size_bytes", "Bytes of the logs here, by topic.", per_topic_bytes)
    _register_waiting(metrics, partitions)
    _register_connections(metrics, listeners)


def _register_waiting(metrics: Metrics, partitions: ReplicaManager) -> None:
    metrics.gauge(
        "parked_fetches",
        "Places where a fetch waits for data (one a partition it asks for).",
        lambda: sum(partition.watchers for partition in partitions),
    )
    purgatories = {
        "produce": partitions.produce_deadlines,
        "fetch": partitions.fetch_deadlines,
        "delete_records": partitions.delete_records_deadlines,
    }
    metrics.gauge(
        "purgatory_size",
        "Requests that wait for replicas, for data, or for their deadline.",
        lambda: {f'kind="{kind}"': len(each) for kind, each in purgatories.items()},
    )
    metrics.gauge(
        "purgatory_expired",
        "Requests whose deadline came before what they waited for, since the start.",
        lambda: {f'kind="{kind}"': each.expired for kind, each in purgatories.items()},
    )
    metrics.gauge(
        "fetch_read_memory_bytes",
        "Memory that fetches are read into before they are sent.",
        lambda: partitions.read_memory.size_bytes,
    )
    sessions = partitions.fetch_sessions.cache
    metrics.gauge("fetch_sessions", "Incremental fetch sessions.", lambda: len(sessions))
    metrics.gauge(
        "fetch_session_partitions",
        "Partitions that fetch sessions remember.",
        lambda: sessions.partitions,
    )
    metrics.gauge(
        "fetch_session_evictions",
        "Fetch sessions that made room for others, since the start.",
        lambda: sessions.evictions,
    )


def _register_connections(metrics: Metrics, listeners: Listeners) -> None:
    metrics.gauge("connections", "Open connections by listener.", listeners.connection_counts)
    budget = listeners.receive_budget
    metrics.gauge(
        "receive_buffer_bytes", "Grown receive buffers, all connections.", lambda: budget.used_bytes
    )
    metrics.gauge(
        "receive_buffer_paused",
        "Connections that wait for room in the receive buffers, not read from meanwhile.",
        lambda: budget.paused,
    )
    metrics.gauge(
        "receive_buffer_pauses",
        "How often a connection had to wait for room in the receive buffers, since the start.",
        lambda: budget.pauses,
    )
    metrics.gauge(
        "receive_buffer_refusals",
        "Connections closed because the receive buffers were full, since the start.",
        lambda: budget.refused,
    )


def _escaped(text: str) -> str:
    """A path as the value of a label."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def register_storage(metrics: Metrics, logs: LogManager) -> None:
    """These can be asked from the moment on that logs are being opened."""
    progress = logs.progress
    metrics.gauge(
        "remaining_logs_to_recover",
        "Logs that the start has found and not opened yet, by directory.",
        lambda: {
            f'dir="{_escaped(path)}"': each.remaining_logs
            for path, each in list(progress.directories.items())
        },
    )
    metrics.gauge(
        "remaining_segments_to_recover",
        "Segments still to be checked of the log that a thread of the start is at.",
        lambda: {
            f'dir="{_escaped(path)}",thread="{number}"': worker.remaining_segments
            for path, each in list(progress.directories.items())
            for number, worker in enumerate(each.workers)
        },
    )
    metrics.gauge(
        "recovery_scanned_bytes",
        "Bytes of segments that the start has checked.",
        lambda: progress.scanned_bytes,
    )
    metrics.gauge(
        "recovery_truncated_bytes",
        "Bytes behind damage that the start has cut.",
        lambda: progress.truncated_bytes,
    )
    metrics.gauge(
        "recovery_rebuilt_segments",
        "Segments whose indexes the start has written anew.",
        lambda: progress.rebuilt_segments,
    )
    metrics.gauge(
        "recovery_damaged_files",
        "Checkpoints, epoch files and producer snapshots that could not be read.",
        lambda: progress.damaged_files,
    )
    metrics.gauge(
        "offline_log_directories",
        "Log directories that have failed.",
        lambda: sum(1 for report in logs.directories() if report.error),
    )
    _register_cleaner(metrics, logs.cleaner)


def _register_cleaner(metrics: Metrics, cleaner: LogCleaner) -> None:
    metrics.gauge(
        "cleaner_uncleanable_partitions",
        "Compacted logs set aside because they cannot be compacted.",
        lambda: len(cleaner.uncleanable),
    )
    metrics.gauge(
        "cleaner_max_dirty_ratio",
        "Largest dirty share of a compacted log at the last look.",
        lambda: cleaner.dirtiest_ratio,
    )
    metrics.gauge(
        "cleaner_rounds",
        "Rounds of compaction since the start, by outcome.",
        lambda: {
            'outcome="done"': cleaner.stats.rounds,
            'outcome="given_up"': cleaner.stats.rounds_given_up,
        },
    )
    metrics.gauge(
        "cleaner_bytes",
        "Bytes of segments before and after compaction, since the start.",
        lambda: {
            'when="before"': cleaner.stats.bytes_before,
            'when="after"': cleaner.stats.bytes_after,
        },
    )
    metrics.gauge(
        "cleaner_last_round_ms",
        "How long the last round of compaction took.",
        lambda: cleaner.stats.last_round_ms,
    )
