"""Produce with acks=1 to one broker: 4 connections on 4 partitions, then more in flight.

The deep figures keep more in flight than a socket takes at once. In bursts, a broker whose answers
wait for the client's delayed acknowledgements stands still; a stream of requests hides that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.dataplane import frames, limits, protocol
from tests.bench.dataplane.bench import lanes, load_sample, produced
from tests.bench.dataplane.results import floor_at_most, ratio_at_least, ratio_at_most, short
from tests.bench.dataplane.task import Depth, Lane, Task

if TYPE_CHECKING:
    from tests.bench.dataplane.bench import Bench, Sample
    from tests.bench.dataplane.cluster import Cluster
    from tests.bench.dataplane.results import Goal

PARTITIONS = 4
DEPTH = Depth(PARTITIONS, 4)
DEPTH_SMALL = Depth(PARTITIONS, 125)
SMALL_BYTES = 200
KIB = 1024
DEPTHS = (
    (SMALL_BYTES, Depth(4, 1000, in_bursts=True)),
    (16 * KIB, Depth(4, 4, in_bursts=True)),
    (16 * KIB, Depth(4, 5, in_bursts=True)),
    (16 * KIB, Depth(4, 16, in_bursts=True)),
    (16 * KIB, Depth(4, 64, in_bursts=True)),
    (16 * KIB, Depth(4, 64)),
    (16 * KIB, Depth(64, 5)),
)
GOALS = {SMALL_BYTES: ratio_at_least(4), 16 * KIB: ratio_at_least(1.5)}
GB_GOAL = ratio_at_most(0.45)


def small(bench: Bench) -> None:
    samples = _measure(bench, bench.single(), SMALL_BYTES, DEPTH_SMALL)
    loopback = limits.loopback(_limit_task(SMALL_BYTES, DEPTH_SMALL))
    bench.load_rows(
        "produce acks=1, 200 B, pipelined",
        samples,
        goal=GOALS[SMALL_BYTES],
        request_goal=floor_at_most(2),
        limit=f"loopback {short(loopback.requests_s)}",
        unit="requests/s",
        has_gb=False,
    )


def kib_16(bench: Bench) -> None:
    _large(bench, 16 * KIB, GOALS[16 * KIB], GB_GOAL, floor_at_most(1.4), with_two=True)


def kib_64(bench: Bench) -> None:
    _large(bench, 64 * KIB, ratio_at_least(1.5), GB_GOAL, floor_at_most(1.4), with_two=True)


def kib_256(bench: Bench) -> None:
    _large(bench, 256 * KIB, ratio_at_least(1.1))


def mib_1(bench: Bench) -> None:
    # Kafka refuses batches above message.max.bytes = 1 MiB + 12; this one just fits.
    _large(bench, 1024 * KIB, ratio_at_least(1.1))


def depths(bench: Bench) -> None:
    """Samples of half the length: a stall shows in the first tenth of a second."""
    sides = bench.single()
    for number, (batch_bytes, depth) in enumerate(DEPTHS):
        samples = _measure(bench, sides, batch_bytes, depth, shorter=2, is_warm=number > 0)
        size = f"{batch_bytes // KIB} KiB" if batch_bytes >= KIB else f"{batch_bytes} B"
        bench.load_rows(
            f"produce acks=1, {size}, {depth}",
            samples,
            goal=GOALS[batch_bytes],
            unit="MB/s" if batch_bytes >= KIB else "requests/s",
            has_gb=False,
        )


def _large(
    bench: Bench,
    batch_bytes: int,
    goal: Goal,
    gb_goal: Goal | None = None,
    request_goal: Goal | None = None,
    *,
    with_two: bool = False,
) -> None:
    sides = bench.single(with_two=with_two)
    samples = _measure(bench, sides, batch_bytes, DEPTH)
    loopback = limits.loopback(_limit_task(batch_bytes, DEPTH))
    append = limits.append_mb_s(batch_bytes)
    title = f"{batch_bytes // KIB} KiB" if batch_bytes < KIB * KIB else "1 MiB"
    bench.load_rows(
        f"produce acks=1, {title}",
        samples,
        goal=goal,
        request_goal=request_goal,
        gb_goal=gb_goal,
        limit=f"loopback {short(loopback.mb_s)}, append {short(append)}",
    )


def _measure(
    bench: Bench,
    sides: list[Cluster],
    batch_bytes: int,
    depth: Depth,
    *,
    shorter: int = 1,
    is_warm: bool = False,
) -> dict[str, list[Sample]]:
    _batch, records = frames.batch(batch_bytes)

    def once(cluster: Cluster, seconds: float = bench.options.seconds / shorter) -> Sample:
        topic = bench.new_topic(cluster, PARTITIONS, 1)
        task = Task(
            lanes=lanes(cluster, topic, PARTITIONS, depth.connections),
            seconds=seconds,
            payload_bytes_max=limits.SAMPLE_BYTES,
            in_flight=depth.in_flight,
            in_bursts=depth.in_bursts,
            batch_bytes=batch_bytes,
        )
        if batch_bytes > SMALL_BYTES:
            limits.warm_pages(cluster.work)
        outcome, cpu_s = produced(cluster, task, records)
        protocol.delete_topic(cluster.port, topic)
        cluster.wait_until_deleted()
        return load_sample(outcome, cpu_s)

    if not is_warm:
        bench.warm_up(sides, once, "requests_s")
    return bench.rounds(sides, once, lambda cluster: cluster.kind.name)


def _limit_task(batch_bytes: int, depth: Depth) -> Task:
    lane = Lane(0, "limit", 0)
    return Task(
        lanes=[lane] * depth.connections,
        seconds=1,
        in_flight=depth.in_flight,
        batch_bytes=batch_bytes,
    )
