"""Fetch from one broker: 4 connections on 4 partitions, data in the page cache, read in a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.dataplane import frames, limits, protocol
from tests.bench.dataplane.bench import lanes, produced
from tests.bench.dataplane.load import drive
from tests.bench.dataplane.results import ratio_at_least, ratio_at_most, short
from tests.bench.dataplane.task import Lane, Task

if TYPE_CHECKING:
    from tests.bench.dataplane.bench import Bench, Sample
    from tests.bench.dataplane.cluster import Cluster
    from tests.bench.dataplane.results import Goal

CONNECTIONS = 4
IN_FLIGHT = 16 // CONNECTIONS
KIB = 1024
BATCH_BYTES = 16 * KIB
STORED_S = 1.0


def kib_64(bench: Bench) -> None:
    _fetch(bench, "64 KiB", 64 * KIB, ratio_at_least(1.1), None)


def mib_1(bench: Bench) -> None:
    _fetch(bench, "1 MiB", 1024 * KIB, ratio_at_least(0.9), ratio_at_most(1.0))


def _fetch(bench: Bench, title: str, size: int, goal: Goal, cpu_goal: Goal | None) -> None:
    batch, records = frames.batch(BATCH_BYTES)
    batches = size // len(batch)
    both = bench.both(1)
    stored = {cluster.kind.name: _store(bench, cluster, records) for cluster in both}

    def task(cluster: Cluster, seconds: float) -> Task:
        return Task(
            lanes=stored[cluster.kind.name],
            seconds=seconds,
            in_flight=IN_FLIGHT,
            fetch_bytes=batches * len(batch),
            fetch_batches=batches,
            records=records,
        )

    def once(cluster: Cluster, seconds: float = bench.options.seconds) -> Sample:
        outcome, cpu_s = drive(task(cluster, seconds), cluster.pids)
        return {"mb_s": outcome.mb_s, "cpu_s_gb": cpu_s / outcome.payload_bytes * 1e9}

    bench.warm_up(both, once, "mb_s")
    samples = bench.rounds(both, once, lambda cluster: cluster.kind.name)
    loopback = limits.loopback(task(both[0], 1.0))
    limit = f"loopback {short(loopback.mb_s)}"
    bench.row(f"fetch, {title}", "MB/s", samples, "mb_s", goal=goal, limit=limit)
    bench.row("  CPU per GB", "s", samples, "cpu_s_gb", goal=cpu_goal)
    for cluster in both:
        protocol.delete_topic(cluster.port, stored[cluster.kind.name][0].topic)
        cluster.wait_until_deleted()


def _store(bench: Bench, cluster: Cluster, records: int) -> list[Lane]:
    """Fill a topic by producing to it; every partition then counts the same batches."""
    topic = bench.new_topic(cluster, CONNECTIONS, 1)
    task = Task(
        lanes=lanes(cluster, topic, CONNECTIONS),
        seconds=STORED_S,
        in_flight=IN_FLIGHT,
        batch_bytes=BATCH_BYTES,
    )
    produced(cluster, task, records)
    with protocol.Client(cluster.port) as client:
        counts = [client.end_offsets(topic, [each]) // records for each in range(CONNECTIONS)]
    whole = min(counts) // 64 * 64  # a whole number of the largest fetches
    return [Lane(cluster.port, topic, each, stored_batches=whole) for each in range(CONNECTIONS)]
