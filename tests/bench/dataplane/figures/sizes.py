"""What grows with the size of a cluster or its clients: Metadata of 10,000 partitions, idle clients."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from dataplane.wire.messages.metadata import MetadataRequest
from tests.bench.dataplane import asking, protocol
from tests.bench.dataplane.cluster import KAFKA, OURS, Cluster
from tests.bench.dataplane.proc import cpu_s, resident_mib
from tests.bench.dataplane.results import value_at_most

if TYPE_CHECKING:
    from tests.bench.dataplane.bench import Bench, Sample
    from tests.bench.dataplane.cluster import Kind

TOPICS, PARTITIONS = 1000, 10
ASKED = 100
METADATA_MS_MAX = 3.0
IDLE = 5000
IDLE_MIB_MAX = 150e6 / (1 << 20)
SETTLE_S = 3.0


def metadata(bench: Bench) -> None:
    """All topics, one request after the other on one connection; a topic was made just before."""
    bench.close()
    with Cluster(OURS, 1) as ours, Cluster(KAFKA, 1) as kafka:
        sides = [ours.start(), kafka.start()]
        for side in sides:
            _create(side)

        def once(side: Cluster, _seconds: float = 0) -> Sample:
            topic = bench.new_topic(side, 1, 1)
            sample = asking.run(_ask_all(side))
            protocol.delete_topic(side.port, topic)
            side.wait_until_deleted()
            return sample

        bench.warm_up(sides, once, "requests_s")
        samples = bench.rounds(sides, once, lambda side: side.name)
    goal = value_at_most(METADATA_MS_MAX)
    bench.row("Metadata, 1,000 topics × 10 partitions", "ms", samples, "ms", goal=goal)
    bench.row("  CPU per request", "ms", samples, "cpu_ms")
    bench.row("  the first after a topic was created", "ms", samples, "first_ms")


def _create(side: Cluster) -> None:
    names = [f"wide-{number:04d}" for number in range(TOPICS)]
    protocol.create_topics(side.port, [protocol.topic(name, PARTITIONS, 1) for name in names])
    side.wait_until(
        lambda client: protocol.is_full(client.metadata(names), TOPICS * PARTITIONS, 1), "created"
    )


async def _ask_all(side: Cluster) -> Sample:
    async with asking.connections(side.port, 1) as (lane,):
        request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
        asked = time.perf_counter()
        answer = await lane.ask_many(request, 1)
        first_s = time.perf_counter() - asked
        begun, before = time.perf_counter(), cpu_s(side.pids)
        for _ in range(ASKED):
            await lane.ask_many(request, 1, answer)
        took_s, spent = time.perf_counter() - begun, cpu_s(side.pids) - before
    return {
        "first_ms": first_s * 1e3,
        "ms": took_s / ASKED * 1e3,
        "cpu_ms": spent / ASKED * 1e3,
        "requests_s": ASKED / took_s,
    }


def idle_connections(bench: Bench) -> None:
    """5,000 clients have asked for Metadata once and say nothing more."""
    bench.close()

    def once(kind: Kind) -> Sample:
        with Cluster(kind, 1) as side:
            side.start()
            return asking.run(_hold(side))

    samples = bench.rounds([OURS, KAFKA], once, lambda kind: kind.name)
    goal = value_at_most(round(IDLE_MIB_MAX))
    bench.row("resident with 5,000 idle connections", "MiB", samples, "mib", goal=goal)
    bench.row("  per connection above a broker without", "KiB", samples, "kib_each")


async def _hold(side: Cluster) -> Sample:
    empty = resident_mib(side.pids[0])
    async with asking.connections(side.port, IDLE) as lanes:
        request = MetadataRequest(topics=[], allow_auto_topic_creation=False)
        await asyncio.gather(*(lane.ask(request) for lane in lanes))
        await asyncio.sleep(SETTLE_S)
        full = resident_mib(side.pids[0])
    return {"mib": full, "kib_each": (full - empty) * 1024 / IDLE}
