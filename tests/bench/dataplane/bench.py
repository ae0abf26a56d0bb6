"""What every figure is given: the two sides, the rounds, the place for rows."""

from __future__ import annotations

import contextlib
import itertools
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.bench.dataplane import limits, protocol
from tests.bench.dataplane.cluster import KAFKA, OURS, Cluster
from tests.bench.dataplane.load import BenchError, drive
from tests.bench.dataplane.results import Row, percentile, short
from tests.bench.dataplane.task import Lane

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.dataplane.results import Goal
    from tests.bench.dataplane.task import Outcome, Task

Sample = dict[str, float]
WARM_UPS_MAX = 12
FASTER = 1.1


class Options(NamedTuple):
    rounds: int
    seconds: float
    warm_up_s: float
    restart_gb: float


class Bench:
    """The rounds alternate between the two sides; only one of them is under load at a time."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.rows: list[Row] = []
        self._names = itertools.count()
        self._standing: list[Cluster] = []
        self._stack = contextlib.ExitStack()

    def close(self) -> None:
        self._standing = []
        self._stack.close()

    def say(self, text: str) -> None:
        sys.stderr.write(f"  {text}\n")

    def both(self, count: int) -> list[Cluster]:
        """Ours and Kafka's cluster of `count` brokers, kept for the figures that follow."""
        if not self._standing or len(self._standing[0].brokers) != count:
            self.close()
            for kind in (OURS, KAFKA):
                cluster = self._stack.enter_context(Cluster(kind, count))
                self._standing.append(cluster.start())
        return self._standing

    def warm_up(self, sides: list[Any], measure: Callable[[Any, float], Sample], key: str) -> None:
        """Load each side until it gets no faster: a virtual machine compiles what runs often."""
        for side in sides:
            best, in_vain = 0.0, 0
            for _ in range(WARM_UPS_MAX):
                rate = measure(side, self.options.warm_up_s)[key]
                self.say(f"warm-up {side.kind.name:<5} {key} {short(rate)}")
                # Twice: on a busy machine one slow run says nothing.
                in_vain = in_vain + 1 if rate < FASTER * best else 0
                if in_vain == 2:
                    break
                best = max(best, rate)

    def rounds(
        self, sides: list[Any], measure: Callable[[Any], Sample], name: Callable[[Any], str]
    ) -> dict[str, list[Sample]]:
        """`rounds` samples a side, the sides in turn, the first one changing."""
        samples: dict[str, list[Sample]] = {name(side): [] for side in sides}
        for number in range(self.options.rounds):
            for side in sides if number % 2 == 0 else reversed(sides):
                sample = measure(side)
                samples[name(side)].append(sample)
                told = ", ".join(f"{key} {short(value)}" for key, value in sample.items())
                self.say(f"round {number + 1} {name(side):<6} {told}")
        return samples

    def row(
        self,
        name: str,
        unit: str,
        samples: dict[str, list[Sample]],
        key: str,
        *,
        goal: Goal | None = None,
        limit: str = "",
    ) -> None:
        ours, kafka = (
            [sample[key] for sample in samples.get(kind, []) if key in sample]
            for kind in ("ours", "kafka")
        )
        self.rows.append(Row(name, unit, ours, kafka, goal, limit))

    def new_topic(self, cluster: Cluster, partitions: int, replicas: int) -> str:
        name = f"bench-{next(self._names):05d}"
        protocol.create_topics(cluster.port, [protocol.topic(name, partitions, replicas)])
        cluster.wait_until(
            lambda client: protocol.is_full(client.metadata([name]), partitions, replicas), name
        )
        return name


def produced(cluster: Cluster, task: Task, records: int) -> tuple[Outcome, float]:
    """Drive a produce task; what the leaders really stored must be what they answered for."""
    topic = task.lanes[0].topic
    partitions = sorted({lane.partition for lane in task.lanes})
    with protocol.Client(task.lanes[0].port) as client:
        before = client.end_offsets(topic, partitions)
    outcome, cpu_s = drive(task, cluster.pids)
    with protocol.Client(task.lanes[0].port) as client:
        stored = client.end_offsets(topic, partitions) - before
    if stored != outcome.requests * records:
        raise BenchError(
            f"{cluster.kind.name}: {outcome.requests * records} records acknowledged, "
            f"{stored} stored"
        )
    return outcome, cpu_s


def lanes(cluster: Cluster, topic: str, count: int) -> list[Lane]:
    """One connection a partition, to the first broker."""
    return [Lane(cluster.port, topic, partition) for partition in range(count)]


__all__ = ["Bench", "Options", "Sample", "lanes", "limits", "percentile", "produced"]
