"""Fetch from one broker: 4 connections on 4 partitions, data in the page cache, read in a circle."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.bench.dataplane import frames, limits, protocol
from tests.bench.dataplane.bench import lanes, load_sample, produced
from tests.bench.dataplane.cluster import OURS
from tests.bench.dataplane.load import drive
from tests.bench.dataplane.results import floor_at_most, ratio_at_least, ratio_at_most, short
from tests.bench.dataplane.task import Depth, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.dataplane.bench import Bench, Sample
    from tests.bench.dataplane.cluster import Cluster
    from tests.bench.dataplane.results import Goal
    from tests.bench.dataplane.task import Lane

PARTITIONS = 4
DEPTH = Depth(PARTITIONS, 4)
DEPTHS = (Depth(4, 16, in_bursts=True), Depth(4, 64, in_bursts=True), Depth(64, 4))
KIB = 1024
BATCH_BYTES = 16 * KIB
STORED_BYTES = 256 << 20
STORED_S_MAX = 60.0


def kib_64(bench: Bench) -> None:
    _fetch(bench, 64 * KIB, ratio_at_least(1.1), None, floor_at_most(1.15))


def mib_1(bench: Bench) -> None:
    _fetch(bench, 1024 * KIB, ratio_at_least(0.9), ratio_at_most(1.0), None)


def _fetch(
    bench: Bench, size: int, goal: Goal, gb_goal: Goal | None, request_goal: Goal | None
) -> None:
    sides = bench.single(with_two=True)
    with _stored(bench, sides) as stored:
        samples = _measure(bench, sides, stored, size, DEPTH)
        task = _task(stored[OURS.name], 1.0, size, DEPTH)
    loopback = limits.loopback(task)
    bench.load_rows(
        f"fetch, {size // KIB} KiB" if size < KIB * KIB else "fetch, 1 MiB",
        samples,
        goal=goal,
        request_goal=request_goal,
        gb_goal=gb_goal,
        limit=f"loopback {short(loopback.mb_s)}",
    )


def depths(bench: Bench) -> None:
    """The answers that wait are many times what a socket takes at once."""
    sides = bench.single()
    with _stored(bench, sides) as stored:
        for number, depth in enumerate(DEPTHS):
            spread = {
                name: [lanes[place % PARTITIONS] for place in range(depth.connections)]
                for name, lanes in stored.items()
            }
            samples = _measure(bench, sides, spread, 64 * KIB, depth, shorter=2, is_warm=number > 0)
            title = f"fetch, 64 KiB, {depth}"
            bench.load_rows(title, samples, goal=ratio_at_least(1.1), has_gb=False)


def _task(lanes: list[Lane], seconds: float, size: int, depth: Depth) -> Task:
    batch, records = frames.batch(BATCH_BYTES)
    batches = size // len(batch)
    return Task(
        lanes=lanes,
        seconds=seconds,
        in_flight=depth.in_flight,
        in_bursts=depth.in_bursts,
        fetch_bytes=batches * len(batch),
        fetch_batches=batches,
        records=records,
    )


def _measure(
    bench: Bench,
    sides: list[Cluster],
    stored: dict[str, list[Lane]],
    size: int,
    depth: Depth,
    *,
    shorter: int = 1,
    is_warm: bool = False,
) -> dict[str, list[Sample]]:
    def once(cluster: Cluster, seconds: float = bench.options.seconds / shorter) -> Sample:
        task = _task(stored[cluster.kind.name], seconds, size, depth)
        return load_sample(*drive(task, cluster.pids))

    if not is_warm:
        bench.warm_up(sides, once, "mb_s")
    return bench.rounds(sides, once, lambda cluster: cluster.kind.name)


@contextlib.contextmanager
def _stored(bench: Bench, sides: list[Cluster]) -> Iterator[dict[str, list[Lane]]]:
    """A topic on each side, filled by producing, as long as the block runs."""
    stored = {cluster.kind.name: _store(bench, cluster) for cluster in sides}
    yield stored
    for cluster in sides:
        protocol.delete_topic(cluster.port, stored[cluster.kind.name][0].topic)
        cluster.wait_until_deleted()


def _store(bench: Bench, cluster: Cluster) -> list[Lane]:
    """The same on each side; every partition then counts the same batches."""
    records = frames.batch(BATCH_BYTES)[1]
    topic = bench.new_topic(cluster, PARTITIONS, 1)
    places = lanes(cluster, topic, PARTITIONS)
    task = Task(
        lanes=places,
        seconds=STORED_S_MAX,
        payload_bytes_max=STORED_BYTES,
        in_flight=DEPTH.in_flight,
        batch_bytes=BATCH_BYTES,
    )
    produced(cluster, task, records)
    counts = []
    for place in places:
        with protocol.Client(place.port) as client:
            counts.append(client.end_offsets(topic, [place.partition]) // records)
    whole = min(counts) // 64 * 64  # a whole number of the largest fetches
    return [replace(place, stored_batches=whole) for place in places]
