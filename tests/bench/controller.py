"""`python -m tests.bench.controller`: what the controller itself costs, in CPU seconds.

The controller's own code with ZooKeeper and the brokers in memory: no disk, no network, so that the
figures mean something on a busy machine. `tests.bench.dataplane` measures the same events on real
processes, where logs, sockets and ZooKeeper take their part.
"""

from __future__ import annotations

import asyncio
import gc
import json
import pathlib
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from typing import Any

from dataplane.cluster import znodes
from dataplane.cluster.topic_plans import TopicRequest
from dataplane.ports.fakes.coordinator import FakeZooKeeper
from tests.dataplane.broker.controller.fake_brokers import FakeBroker, Network, active, until

BROKERS = (1, 2, 3)
TOPICS = 1_000
FAILED_OVER = 1_000
MANY = 5_000
PER_TOPIC = 1_000
WAIT_S = 120.0
KIB = 1024


class _Cluster:
    """Brokers that only apply the controller's requests, as in the controller's tests."""

    def __init__(self, work: pathlib.Path) -> None:
        self.zookeeper = FakeZooKeeper()
        network = Network()  # type: ignore[no-untyped-call]  # tests carry no types
        self.brokers: list[Any] = [
            FakeBroker(number, self.zookeeper.connect(), network, work)  # type: ignore[no-untyped-call]  # likewise
            for number in BROKERS
        ]

    async def start(self) -> None:
        for broker in self.brokers:
            await broker.start()
        await self.until(lambda: active(self.brokers), "a controller")  # type: ignore[no-untyped-call]  # likewise
        await self.until(
            lambda: all(len(b.image.brokers) == len(BROKERS) for b in self.brokers), "images"
        )

    async def stop(self) -> None:
        for broker in self.brokers:
            if broker.reachable:
                await broker.stop()

    async def until(self, is_true: Callable[[], object], what: str) -> None:
        await until(is_true, WAIT_S, what)  # type: ignore[no-untyped-call]  # likewise

    @property
    def host(self) -> Any:
        return active([b for b in self.brokers if b.reachable]).host  # type: ignore[no-untyped-call]  # likewise

    async def create(self, *requests: TopicRequest) -> None:
        await self.host.submit(
            lambda c: c.topic_creation.create_topics(list(requests), validate_only=False)
        )
        names = {request.name for request in requests}
        await self.until(
            lambda: all(b.image.topics.keys() >= names for b in self.brokers), "new topics"
        )

    def led_by(self, broker: int) -> int:
        """Partitions that `broker` or nobody leads, counted in each living broker's metadata."""
        return sum(
            state.leader in (-1, broker)
            for b in self.brokers
            if b.reachable
            for topic in b.image.topics.values()
            for state in topic.partitions
        )


async def _cpu_s(work: Callable[[], Awaitable[object]]) -> float:
    gc.collect()
    before = time.process_time()
    await work()
    return time.process_time() - before


async def _create(cluster: _Cluster) -> float:
    requests = [TopicRequest(f"wide-{n}", 1, 3) for n in range(TOPICS)]
    return await _cpu_s(lambda: cluster.create(*requests))


async def _fail_over(cluster: _Cluster) -> float:
    dead = next(b for b in cluster.brokers if b.host is not cluster.host)
    others = [b for b in BROKERS if b != dead.id]
    placed = dict.fromkeys(range(FAILED_OVER), (dead.id, *others))
    await cluster.create(TopicRequest("failed-over", assignments=placed))
    await dead.die()

    async def work() -> None:
        cluster.zookeeper.end_session(dead.coordinator.session_id)
        await cluster.until(lambda: not cluster.led_by(dead.id), "new leaders")

    return await _cpu_s(work)


async def _take_over(cluster: _Cluster) -> tuple[float, float]:
    """CPU seconds of a controller's start, and KiB that a partition takes in its memory."""
    for number in range(MANY // PER_TOPIC):
        await cluster.create(TopicRequest(f"many-{number}", PER_TOPIC, 3))

    async def work() -> None:
        before = cluster.host.epoch
        await cluster.brokers[0].coordinator.delete(znodes.CONTROLLER)
        await cluster.until(
            lambda: all(b.image.controller_epoch > before for b in cluster.brokers),
            "another controller's epoch",
        )

    spent_s = await _cpu_s(work)
    gc.collect()
    tracemalloc.start()
    await work()
    gc.collect()
    kept_bytes = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return spent_s, kept_bytes / KIB / MANY


async def _on_cluster(work: Callable[[_Cluster], Awaitable[Any]]) -> Any:
    with tempfile.TemporaryDirectory(prefix="controller-bench-") as directory:
        cluster = _Cluster(pathlib.Path(directory))
        await cluster.start()
        try:
            return await work(cluster)
        finally:
            await cluster.stop()


def measure() -> dict[str, float]:
    """Figures by name, which ends in the unit. They include the work of all three brokers."""
    started_s, kept_kib = asyncio.run(_on_cluster(_take_over))
    return {
        "create_1000_topics_cpu_s": asyncio.run(_on_cluster(_create)),
        "fail_over_1000_partitions_cpu_s": asyncio.run(_on_cluster(_fail_over)),
        "take_over_5000_partitions_cpu_s": started_s,
        "renewed_memory_per_partition_kib": kept_kib,
    }


def main() -> int:
    print(json.dumps({name: round(value, 3) for name, value in measure().items()}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
