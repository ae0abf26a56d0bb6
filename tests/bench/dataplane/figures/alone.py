"""Figures without a peer: many partitions, mass failover, controller failover, compaction."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from tests.bench.dataplane import protocol
from tests.bench.dataplane.cluster import OURS, Cluster
from tests.bench.dataplane.load import ROOT, BenchError
from tests.bench.dataplane.proc import resident_mib
from tests.bench.dataplane.results import value_at_least, value_at_most
from tests.bench.dataplane.zookeeper import Watcher

if TYPE_CHECKING:
    from dataplane.wire.messages.create_topics import CreatableTopic
    from tests.bench.dataplane.bench import Bench, Sample

MANY = 5000
PER_TOPIC = 1000
SETTLE_S = 5.0
MIB = 1 << 20
RESIDENT_MIB_MAX = (60e6 + MANY * 20 * 1024) / MIB
BROKERS = 3
FAILED_OVER = 1000
CLEANED_MIB = 256
CLEANER_LINE = re.compile(r"^(.{28}) .*?(\d+) MB/s CPU .* map (\d+) MiB, longest step ([\d.]+) ms$")
CLEANER_PEAK = re.compile(r"^peak memory (\d+) MiB, (\d+) MiB of it here$")


def resident(bench: Bench) -> None:
    """One broker that leads 5,000 partitions, and has been left in peace for a while."""
    bench.close()

    def once(_side: None) -> Sample:
        with Cluster(OURS, 1) as cluster:
            cluster.start()
            empty = resident_mib(cluster.pids[0])
            topics = [
                protocol.topic(f"many-{number}", PER_TOPIC, 1)
                for number in range(MANY // PER_TOPIC)
            ]
            _create(cluster, topics, 1)
            time.sleep(SETTLE_S)
            full = resident_mib(cluster.pids[0])
            return {"mib": full, "kib_each": (full - empty) * 1024 / MANY}

    samples = bench.rounds([None], once, lambda _side: "ours")
    goal = value_at_most(round(RESIDENT_MIB_MAX))
    bench.row("resident at 5,000 partitions", "MiB", samples, "mib", goal=goal)
    bench.row("  per partition above an empty broker", "KiB", samples, "kib_each")


def partitions_failed_over(bench: Bench) -> None:
    """From the end of the dead broker's registration until all its partitions have new leaders.

    The dead one is not the controller. Leaders are asked of both who live.
    """
    bench.close()

    def once(_side: None) -> Sample:
        with (
            Cluster(OURS, BROKERS) as cluster,
            Watcher(cluster.zookeeper.connect_string) as watcher,
        ):
            cluster.start()
            dead = next(b for b in cluster.brokers if b.id != watcher.controller())
            others = [broker.id for broker in cluster.brokers if broker is not dead]
            placed = [[dead.id, *others] for _ in range(FAILED_OVER)]
            _create(cluster, [protocol.assigned_topic("failed-over", placed)], BROKERS)
            dead.kill()
            known = watcher.forgotten_at(dead.id)
            done = cluster.wait_until(
                lambda client: _is_led(client, ["failed-over"], dead.id), "new leaders"
            )
            return {"s": done - known}

    samples = bench.rounds([None], once, lambda _side: "ours")
    bench.row("1,000 partitions failed over", "s", samples, "s", goal=value_at_most(2))


def controller_failed_over(bench: Bench) -> None:
    """The controller gets SIGKILL while the cluster has 5,000 partitions of replication factor 2.

    From the end of its registration until the survivors name a leader for each partition and a
    topic can be created again.
    """
    bench.close()

    def once(_side: None) -> Sample:
        with (
            Cluster(OURS, BROKERS) as cluster,
            Watcher(cluster.zookeeper.connect_string) as watcher,
        ):
            cluster.start()
            names = [f"many-{number}" for number in range(MANY // PER_TOPIC)]
            _create(cluster, [protocol.topic(name, PER_TOPIC, 2) for name in names], 2)
            dead = cluster.brokers[watcher.controller() or 0]
            dead.kill()
            known = watcher.forgotten_at(dead.id)
            cluster.wait_until(lambda client: _is_led(client, names, dead.id), "new leaders")
            port = next(broker.port for broker in cluster.brokers if broker is not dead)
            protocol.create_topics(port, [protocol.topic("afterwards", 1, 2)])
            return {"s": time.perf_counter() - known}

    samples = bench.rounds([None], once, lambda _side: "ours")
    bench.row("controller failed over, 5,000 partitions", "s", samples, "s", goal=value_at_most(5))


def compaction(bench: Bench) -> None:
    """tests/bench/bench_cleaner.py: the slowest of its four logs counts."""

    def once(_side: None) -> Sample:
        with tempfile.TemporaryDirectory(prefix="penstock-bench-") as work:
            done = subprocess.run(
                [sys.executable, "tests/bench/bench_cleaner.py", work, str(CLEANED_MIB)],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
            )
        lines = [CLEANER_LINE.match(line) for line in done.stdout.splitlines()]
        speeds = [float(line[2]) for line in lines if line]
        peak = CLEANER_PEAK.match(done.stdout.splitlines()[-1] if done.stdout else "")
        if done.returncode or not speeds or peak is None:
            raise BenchError(f"bench_cleaner: {done.stdout[-500:]}{done.stderr[-500:]}")
        return {"mb_s": min(speeds), "mib": float(peak[2])}

    samples = bench.rounds([None], once, lambda _side: "ours")
    bench.row("compaction, 1 KiB records", "MB/s/core", samples, "mb_s", goal=value_at_least(100))
    bench.row("  memory that it takes", "MiB", samples, "mib", goal=value_at_most(128))


def _create(cluster: Cluster, topics: list[CreatableTopic], replicas: int) -> None:
    names = [topic.name for topic in topics]
    count = sum(max(topic.num_partitions, len(topic.assignments)) for topic in topics)
    protocol.create_topics(cluster.port, topics)
    cluster.wait_until(
        lambda client: protocol.is_full(client.metadata(names), count, replicas), "created"
    )


def _is_led(client: protocol.Client, names: list[str], dead: int) -> bool:
    metadata = client.metadata(names)
    return all(
        partition.leader_id not in (-1, dead)
        for each in metadata.topics
        for partition in each.partitions
    )
