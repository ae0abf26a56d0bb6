"""Three brokers, replication factor 3, acks=all: throughput, latency, memory, and CPU at rest."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from tests.bench.dataplane import frames, limits, protocol
from tests.bench.dataplane.bench import load_sample, produced
from tests.bench.dataplane.proc import PeakMemory, cpu_s, resident_mib
from tests.bench.dataplane.results import percentile, ratio_at_least, ratio_at_most, short
from tests.bench.dataplane.task import Depth, Lane, Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.dataplane.bench import Bench, Sample
    from tests.bench.dataplane.cluster import Cluster

BROKERS = 3
DEPTH = Depth(4, 4)
DEPTH_DEEP = Depth(4, 16, in_bursts=True)
BATCH_BYTES = 64 * 1024
SMALL_BYTES = 1024
PER_SECOND = 1000
ALL = -1
SETTLE_S = 5.0
IDLE_PARTITIONS = 100
IDLE_S = 10.0


def throughput(bench: Bench) -> None:
    """One partition over 4 connections; resident memory before and at the peak."""
    both = bench.replicated()
    time.sleep(SETTLE_S)
    idle = {c.kind.name: [{"mib": _mean_mib(c)}] for c in both}
    measure = _throughput(bench, DEPTH)
    bench.warm_up(both, measure, "mb_s")
    samples = bench.rounds(both, measure, lambda cluster: cluster.kind.name)
    append = limits.append_mb_s(BATCH_BYTES)
    bench.load_rows(
        "acks=all, RF 3, 64 KiB",
        samples,
        goal=ratio_at_least(1.5),
        limit=f"append {short(append)}, three times {short(append / 3)}",
    )
    goal = ratio_at_most(0.15)
    bench.row("  resident per broker, idle", "MiB", idle, "mib", goal=goal)
    bench.row("  resident per broker, under it", "MiB", samples, "mib", goal=goal)
    deep = bench.rounds(both, _throughput(bench, DEPTH_DEEP), lambda each: each.kind.name)
    title = f"acks=all, RF 3, 64 KiB, {DEPTH_DEEP}"
    bench.load_rows(title, deep, goal=ratio_at_least(1.5), has_gb=False)


def _throughput(bench: Bench, depth: Depth) -> Callable[..., Sample]:
    records = frames.batch(BATCH_BYTES)[1]

    def once(cluster: Cluster, seconds: float = bench.options.seconds) -> Sample:
        topic, port = _led_topic(bench, cluster)
        lanes = [Lane(port, topic, 0, is_alone=False)] * depth.connections
        task = Task(
            lanes=lanes,
            seconds=seconds,
            payload_bytes_max=limits.SAMPLE_BYTES // BROKERS,
            in_flight=depth.in_flight,
            in_bursts=depth.in_bursts,
            batch_bytes=BATCH_BYTES,
            acks=ALL,
        )
        limits.warm_pages(cluster.work)
        with PeakMemory(cluster.pids) as memory:
            outcome, spent_s = produced(cluster, task, records)
        _remove(cluster, topic)
        memory_mib = statistics.mean(memory.peaks_mib.values())
        return {**load_sample(outcome, spent_s), "mib": memory_mib}

    return once


def latency(bench: Bench) -> None:
    """1 KiB batches at a fixed pace over one connection, timed from when each was due."""
    records = frames.batch(SMALL_BYTES)[1]
    both = bench.replicated()

    def once(cluster: Cluster, seconds: float = bench.options.seconds) -> Sample:
        topic, port = _led_topic(bench, cluster)
        task = Task(
            lanes=[Lane(port, topic, 0)],
            seconds=seconds,
            batch_bytes=SMALL_BYTES,
            acks=ALL,
            per_second=PER_SECOND,
        )
        outcome, _cpu_s = produced(cluster, task, records)
        _remove(cluster, topic)
        return {
            "p50_ms": percentile(outcome.latencies_ms, 50),
            "p99_ms": percentile(outcome.latencies_ms, 99),
        }

    for cluster in both:
        once(cluster, 4 * bench.options.warm_up_s)  # the pace is given: nothing gets faster
    samples = bench.rounds(both, once, lambda cluster: cluster.kind.name)
    lane = Lane(0, "limit", 0)
    bare = limits.loopback(
        Task(lanes=[lane], seconds=1, batch_bytes=SMALL_BYTES, per_second=PER_SECOND)
    )
    limit = f"loopback {short(percentile(bare.latencies_ms, 99))}"
    bench.row(
        "acks=all, RF 3, 1 KiB at 1,000/s: p99",
        "ms",
        samples,
        "p99_ms",
        goal=ratio_at_most(0.7),
        limit=limit,
    )
    limit = f"loopback {short(percentile(bare.latencies_ms, 50))}"
    bench.row("  p50", "ms", samples, "p50_ms", limit=limit)


def idle_cpu(bench: Bench) -> None:
    """Followers that fetch nothing, all at the same time: nobody loads the machine meanwhile."""
    both = bench.replicated()
    topics = {each.kind.name: bench.new_topic(each, IDLE_PARTITIONS, BROKERS) for each in both}
    time.sleep(SETTLE_S)
    samples: dict[str, list[Sample]] = {name: [] for name in topics}
    for number in range(bench.options.rounds):
        begun = time.monotonic()
        before = [cpu_s(cluster.pids) for cluster in both]
        time.sleep(IDLE_S)
        for cluster, spent_s in zip(both, before, strict=True):
            used_ms = (cpu_s(cluster.pids) - spent_s) * 1000 / BROKERS
            sample = {"cpu_ms_s": used_ms / (time.monotonic() - begun)}
            samples[cluster.kind.name].append(sample)
            bench.say(f"round {number + 1} {cluster.kind.name:<6} {sample['cpu_ms_s']:.1f} ms/s")
    title = f"idle, {IDLE_PARTITIONS} partitions RF 3: CPU per broker"
    bench.row(title, "ms/s", samples, "cpu_ms_s")
    for cluster in both:
        _remove(cluster, topics[cluster.kind.name])


def _mean_mib(cluster: Cluster) -> float:
    return statistics.mean(resident_mib(pid) for pid in cluster.pids)


def _led_topic(bench: Bench, cluster: Cluster) -> tuple[str, int]:
    """A new topic of one partition, and the port of its leader."""
    topic = bench.new_topic(cluster, 1, BROKERS)
    with protocol.Client(cluster.port) as client:
        leader = client.metadata([topic]).topics[0].partitions[0].leader_id
    return topic, cluster.brokers[leader].port


def _remove(cluster: Cluster, topic: str) -> None:
    protocol.delete_topic(cluster.port, topic)
    cluster.wait_until_deleted()
