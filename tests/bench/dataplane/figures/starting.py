"""From exec to serving: empty, with 2,000 partitions, and after a SIGKILL with a long log.

Serving means: Metadata names the broker, and it answers ListOffsets as leader of each partition.
After a SIGKILL both sides wait until ZooKeeper has forgotten the dead broker, because Kafka refuses
to start before.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.bench.dataplane import frames, protocol
from tests.bench.dataplane.bench import lanes, produced
from tests.bench.dataplane.cluster import KAFKA, OURS, Cluster
from tests.bench.dataplane.load import BenchError
from tests.bench.dataplane.results import ratio_at_most, short
from tests.bench.dataplane.task import Task
from tests.bench.dataplane.zookeeper import wait_until_forgotten

if TYPE_CHECKING:
    from tests.bench.dataplane.bench import Bench, Sample
    from tests.bench.dataplane.cluster import Broker, Kind

TOPIC = "bench-start"
PARTITIONS = 2000
LOG_PARTITIONS = 4
BATCH_BYTES = 64 * 1024
PIECE_S = 2.0
GB = 1e9


def empty(bench: Bench) -> None:
    bench.close()

    def once(kind: Kind) -> Sample:
        with Cluster(kind, 1) as cluster:
            return {"s": _served_s(cluster.brokers[0], "", 0)}

    samples = bench.rounds([OURS, KAFKA], once, lambda kind: kind.name)
    bench.row("exec to serving, empty", "s", samples, "s", goal=ratio_at_most(0.35))


def many_partitions(bench: Bench) -> None:
    bench.close()
    with Cluster(OURS, 1) as ours, Cluster(KAFKA, 1) as kafka:
        for cluster in (ours, kafka):
            cluster.start()
            _create(cluster, PARTITIONS)
            cluster.brokers[0].stop()

        def once(cluster: Cluster) -> Sample:
            served = _served_s(cluster.brokers[0], TOPIC, PARTITIONS)
            cluster.brokers[0].stop()
            return {"s": served}

        samples = bench.rounds([ours, kafka], once, lambda cluster: cluster.kind.name)
    bench.row("exec to serving, 2,000 partitions", "s", samples, "s", goal=ratio_at_most(0.35))


def after_sigkill(bench: Bench) -> None:
    """`--restart-gb` of log in four partitions, its pages still in the cache."""
    bench.close()
    wanted_bytes = bench.options.restart_gb * GB

    def once(kind: Kind) -> Sample:
        with Cluster(kind, 1) as cluster:
            cluster.start()
            _create(cluster, LOG_PARTITIONS)
            _fill(cluster, wanted_bytes)
            with protocol.Client(cluster.port) as client:
                before = client.end_offsets(TOPIC, range(LOG_PARTITIONS))
            cluster.brokers[0].kill()
            wait_until_forgotten(cluster.zookeeper.connect_string, 0)
            served = _served_s(cluster.brokers[0], TOPIC, LOG_PARTITIONS)
            with protocol.Client(cluster.port) as client:
                after = client.end_offsets(TOPIC, range(LOG_PARTITIONS))
            # A process died, not the machine: every page is there, so every record must be.
            if after != before:
                raise BenchError(f"{kind.name}: {before} records before, {after} after")
            return {"s": served}

    samples = bench.rounds([OURS, KAFKA], once, lambda kind: kind.name)
    bench.row(
        f"restart after SIGKILL, {short(bench.options.restart_gb)} GB",
        "s",
        samples,
        "s",
        goal=ratio_at_most(1),
    )


def _create(cluster: Cluster, partitions: int) -> None:
    protocol.create_topics(cluster.port, [protocol.topic(TOPIC, partitions, 1)])
    cluster.wait_until(
        lambda client: protocol.is_full(client.metadata([TOPIC]), partitions, 1), "created"
    )


def _served_s(broker: Broker, topic: str, partitions: int) -> float:
    def serves(client: protocol.Client) -> bool:
        is_known = bool(client.metadata([topic] if topic else ()).brokers)
        return is_known and (not partitions or client.serves(topic, range(partitions)))

    begun = broker.start()
    return broker.wait_until(serves, "serving") - begun


def _fill(cluster: Cluster, wanted_bytes: float) -> None:
    records = frames.batch(BATCH_BYTES)[1]
    task = Task(
        lanes=lanes(cluster, TOPIC, LOG_PARTITIONS),
        seconds=PIECE_S,
        in_flight=4,
        batch_bytes=BATCH_BYTES,
    )
    deadline = time.monotonic() + 600
    written = 0
    while written < wanted_bytes and time.monotonic() < deadline:
        written += produced(cluster, task, records)[0].payload_bytes
