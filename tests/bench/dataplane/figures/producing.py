"""Produce with acks=1 to one broker: 4 connections on 4 partitions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.bench.dataplane import frames, limits, protocol
from tests.bench.dataplane.bench import lanes, produced
from tests.bench.dataplane.results import ratio_at_least, short
from tests.bench.dataplane.task import Lane, Task

if TYPE_CHECKING:
    from tests.bench.dataplane.bench import Bench, Sample
    from tests.bench.dataplane.cluster import Cluster
    from tests.bench.dataplane.results import Goal

CONNECTIONS = 4
IN_FLIGHT = 16 // CONNECTIONS
IN_FLIGHT_SMALL = 500 // CONNECTIONS
SMALL_BYTES = 200
KIB = 1024


def small(bench: Bench) -> None:
    samples = _measure(bench, SMALL_BYTES, IN_FLIGHT_SMALL)
    limit = limits.loopback(_limit_task(bench, SMALL_BYTES, IN_FLIGHT_SMALL))
    bench.row(
        "produce acks=1, 200 B, pipelined",
        "requests/s",
        samples,
        "requests_s",
        goal=ratio_at_least(1.5),
        limit=f"loopback {short(limit.requests_s)}",
    )
    bench.row("  CPU per request", "µs", samples, "cpu_us")


def kib_16(bench: Bench) -> None:
    _large(bench, "16 KiB", 16 * KIB, ratio_at_least(1.5))


def kib_64(bench: Bench) -> None:
    _large(bench, "64 KiB", 64 * KIB, ratio_at_least(1.5))


def kib_256(bench: Bench) -> None:
    _large(bench, "256 KiB", 256 * KIB, ratio_at_least(1.1))


def mib_1(bench: Bench) -> None:
    # Kafka refuses batches above message.max.bytes = 1 MiB + 12; this one just fits.
    _large(bench, "1 MiB", 1024 * KIB, ratio_at_least(1.1))


def _large(bench: Bench, title: str, batch_bytes: int, goal: Goal) -> None:
    samples = _measure(bench, batch_bytes, IN_FLIGHT)
    loopback = limits.loopback(_limit_task(bench, batch_bytes, IN_FLIGHT))
    append = limits.append_mb_s(batch_bytes)
    bench.row(
        f"produce acks=1, {title}",
        "MB/s",
        samples,
        "mb_s",
        goal=goal,
        limit=f"loopback {short(loopback.mb_s)}, append {short(append)}",
    )
    bench.row("  CPU per GB", "s", samples, "cpu_s_gb")


def _measure(bench: Bench, batch_bytes: int, in_flight: int) -> dict[str, list[Sample]]:
    _batch, records = frames.batch(batch_bytes)
    seconds = bench.options.seconds

    def once(cluster: Cluster, seconds: float = seconds) -> Sample:
        topic = bench.new_topic(cluster, CONNECTIONS, 1)
        task = Task(
            lanes=lanes(cluster, topic, CONNECTIONS),
            seconds=seconds,
            payload_bytes_max=limits.SAMPLE_BYTES,
            in_flight=in_flight,
            batch_bytes=batch_bytes,
        )
        if batch_bytes > SMALL_BYTES:
            limits.warm_pages(cluster.work)
        outcome, cpu_s = produced(cluster, task, records)
        protocol.delete_topic(cluster.port, topic)
        cluster.wait_until_deleted()
        return {
            "requests_s": outcome.requests_s,
            "mb_s": outcome.mb_s,
            "cpu_us": cpu_s / outcome.requests * 1e6,
            "cpu_s_gb": cpu_s / outcome.payload_bytes * 1e9,
        }

    both = bench.both(1)
    bench.warm_up(both, once, "requests_s")
    return bench.rounds(both, once, lambda cluster: cluster.kind.name)


def _limit_task(bench: Bench, batch_bytes: int, in_flight: int) -> Task:
    lane = Lane(0, "limit", 0)
    task = Task(lanes=[lane] * CONNECTIONS, seconds=1, in_flight=in_flight)
    return replace(task, batch_bytes=batch_bytes)
