"""What every figure is given: the two sides, the rounds, the place for rows."""

from __future__ import annotations

import contextlib
import itertools
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.bench.dataplane import protocol
from tests.bench.dataplane.cluster import FLOOR, KAFKA, OURS, TWO, Cluster
from tests.bench.dataplane.load import BenchError, drive
from tests.bench.dataplane.results import Row, client_share, short
from tests.bench.dataplane.task import Lane

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.dataplane.cluster import Kind
    from tests.bench.dataplane.results import Goal
    from tests.bench.dataplane.task import Outcome, Task

Sample = dict[str, float]
MB_S = "MB/s"
WARM_UPS_MAX = 12
WARM_UP_S = 1.0  # of what no virtual machine runs
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
        self._running: dict[Kind, Cluster] = {}
        self._stack = contextlib.ExitStack()

    def close(self) -> None:
        self._running = {}
        self._stack.close()

    def say(self, text: str) -> None:
        sys.stderr.write(f"  {text}\n")

    def single(self, *, with_two: bool = False) -> list[Cluster]:
        """One broker of ours, of Kafka's and the floor; `with_two`, a pair of ours as well."""
        kinds = {OURS: 1, KAFKA: 1, FLOOR: 1}
        return self._stand({**kinds, TWO: 2} if with_two else kinds)

    def replicated(self) -> list[Cluster]:
        """Three brokers of ours and three of Kafka's."""
        return self._stand({OURS: 3, KAFKA: 3})

    def _stand(self, counts: dict[Kind, int]) -> list[Cluster]:
        """A cluster of each kind, kept for the figures that follow."""
        if any(
            counts.get(kind, len(c.brokers)) != len(c.brokers) for kind, c in self._running.items()
        ):
            self.close()
        for kind, count in counts.items():
            if kind not in self._running:
                cluster = self._stack.enter_context(Cluster(kind, count))
                self._running[kind] = cluster.start()
        return [self._running[kind] for kind in counts]

    def warm_up(self, sides: list[Any], measure: Callable[[Any, float], Sample], key: str) -> None:
        """Load each side; Kafka's until it gets no faster: a JVM compiles what runs often."""
        for side in sides:
            best, in_vain = 0.0, 0
            is_compiled = side.kind is KAFKA
            for _ in range(WARM_UPS_MAX if is_compiled else 1):
                rate = measure(side, self.options.warm_up_s if is_compiled else WARM_UP_S)[key]
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
                figures = ", ".join(f"{key} {short(value)}" for key, value in sample.items())
                self.say(f"round {number + 1} {name(side):<6} {figures}")
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
        ours, kafka, floor = (
            [sample[key] for sample in samples.get(kind.name, []) if key in sample]
            for kind in (OURS, KAFKA, FLOOR)
        )
        self.rows.append(Row(name, unit, ours, kafka, goal, limit, floor))

    def load_rows(
        self,
        name: str,
        samples: dict[str, list[Sample]],
        *,
        goal: Goal | None = None,
        request_goal: Goal | None = None,
        gb_goal: Goal | None = None,
        limit: str = "",
        unit: str = MB_S,
        has_gb: bool = True,
    ) -> None:
        """A throughput; below it what a request and a GB cost, and what two brokers reach."""
        key = "mb_s" if unit == MB_S else "requests_s"
        two = samples.get(TWO.name)
        share = client_share({side: each for side, each in samples.items() if each is not two})
        limit = f"{limit}, {share}" if limit else share
        self.row(name, unit, samples, key, goal=goal, limit=limit)
        self.row("  CPU per request", "µs", samples, "cpu_us", goal=request_goal)
        if has_gb:
            self.row("  CPU per GB", "s", samples, "cpu_s_gb", goal=gb_goal)
        if two is not None:
            pair = {OURS.name: two, KAFKA.name: samples[KAFKA.name]}
            share = client_share({TWO.name: two})
            self.row("  two of our brokers", unit, pair, key, limit=share)

    def new_topic(self, cluster: Cluster, partitions: int, replicas: int) -> str:
        name = f"bench-{next(self._names):05d}"
        protocol.create_topics(cluster.port, [protocol.topic(name, partitions, replicas)])
        cluster.wait_until(
            lambda client: protocol.is_full(client.metadata([name]), partitions, replicas), name
        )
        return name


def load_sample(outcome: Outcome, cpu_s: float) -> Sample:
    return {
        "requests_s": outcome.requests_s,
        "mb_s": outcome.mb_s,
        "cpu_us": cpu_s / outcome.requests * 1e6,
        "cpu_s_gb": cpu_s / outcome.payload_bytes * 1e9,
        "client": outcome.client_percent,
    }


def produced(
    cluster: Cluster, task: Task, records: int, driven: Task | None = None
) -> tuple[Outcome, float]:
    """Drive a produce task; what the leaders really stored must be what they answered for.

    `driven` is the same task by way of another listener.
    """
    before = _end_offsets(task)
    outcome, cpu_s = drive(driven or task, cluster.pids)
    stored = _end_offsets(task) - before
    if stored != outcome.requests * records:
        raise BenchError(
            f"{cluster.kind.name}: {outcome.requests * records} records acknowledged, "
            f"{stored} stored"
        )
    return outcome, cpu_s


def _end_offsets(task: Task) -> int:
    places = sorted({(lane.port, lane.partition) for lane in task.lanes})
    total = 0
    for port, partition in places:
        with protocol.Client(port) as client:
            total += client.end_offsets(task.lanes[0].topic, [partition])
    return total


def lanes(cluster: Cluster, topic: str, partitions: int, connections: int = 0) -> list[Lane]:
    """Connections to the partitions' leaders in turn; without a number, one a partition."""
    with protocol.Client(cluster.port) as client:
        (answer,) = client.metadata([topic]).topics
    ports = {
        each.partition_index: cluster.brokers[each.leader_id].port for each in answer.partitions
    }
    count = connections or partitions
    return [
        Lane(ports[number % partitions], topic, number % partitions, is_alone=count <= partitions)
        for number in range(count)
    ]
