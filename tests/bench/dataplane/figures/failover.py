"""The leader of a partition gets SIGKILL under a producing client, everything at its defaults.

The client is librdkafka as it comes, idempotent; the gap is the longest time between two
acknowledgements. Ours is measured twice: under its supervisor, and with nobody to fence the dead.
Kafka has no supervisor, so that both stand beside the same figure of its.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.runtime.parent_death import die_with_parent
from tests.bench.dataplane import protocol
from tests.bench.dataplane.cluster import KAFKA, OURS, Cluster
from tests.bench.dataplane.load import ROOT, BenchError
from tests.bench.dataplane.protocol import Client
from tests.bench.dataplane.results import ratio_at_most, value_at_most
from tests.local_cluster import local_cluster

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.dataplane.bench import Bench, Sample
    from tests.bench.dataplane.cluster import Kind

BROKERS = 3
TOPIC = "bench-failover"
BEFORE_S = 1.0
SUPERVISED_S, ALONE_S = 6.0, 30.0  # longer than any gap expected
SESSION_TIMEOUT_S = 18.0  # zookeeper.session.timeout.ms, its default


def gap(bench: Bench) -> None:
    bench.close()

    def supervised(_side: None) -> Sample:
        with (
            tempfile.TemporaryDirectory(prefix="penstock-bench-") as work,
            local_cluster(Path(work)) as cluster,
        ):
            leader = _create_topic(cluster.port)
            return {
                "gap_s": _longest_gap(
                    cluster.bootstrap, lambda: cluster.kill_broker(leader), SUPERVISED_S
                )
            }

    def alone(kind: Kind) -> Sample:
        with Cluster(kind, BROKERS) as cluster:
            cluster.start()
            leader = cluster.brokers[_create_topic(cluster.port)]
            bootstrap = ",".join(f"127.0.0.1:{broker.port}" for broker in cluster.brokers)
            return {"gap_s": _longest_gap(bootstrap, leader.kill, ALONE_S)}

    fenced = bench.rounds([None], supervised, lambda _side: "ours")
    unfenced = bench.rounds([OURS, KAFKA], alone, lambda kind: kind.name)
    bench.row(
        "leader SIGKILL: longest gap in acks",
        "s",
        {**fenced, "kafka": unfenced["kafka"]},
        "gap_s",
        goal=ratio_at_most(0.1),
    )
    bench.row(
        "  its supervisor killed with it",
        "s",
        unfenced,
        "gap_s",
        goal=value_at_most(SESSION_TIMEOUT_S + 1),
        limit=f"session timeout {SESSION_TIMEOUT_S:g}",
    )


def _create_topic(port: int) -> int:
    """The topic of one partition; answers its leader."""
    protocol.create_topics(port, [protocol.topic(TOPIC, 1, BROKERS)])
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with Client(port) as client:
            metadata = client.metadata([TOPIC])
        if protocol.is_full(metadata, 1, BROKERS):
            return metadata.topics[0].partitions[0].leader_id
        time.sleep(0.05)
    raise BenchError(f"{TOPIC} has no full ISR")


def _longest_gap(bootstrap: str, kill: Callable[[], object], wait_s: float) -> float:
    """Produce in a process of its own, kill after a while, stop when acks have come back."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bench.dataplane.steady_producer", bootstrap, TOPIC],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent(),  # noqa: PLW1509 - one prctl call, no locks
    ) as producer:
        assert producer.stdout is not None
        if producer.stdout.readline() != "steady\n":
            raise BenchError("the producer got no acknowledgements")
        time.sleep(BEFORE_S)
        kill()
        time.sleep(wait_s)
        output, _ = producer.communicate("stop\n", timeout=60)
        if producer.returncode:
            raise BenchError("records were lost or stay open after the failover")
    acknowledged_s: list[float] = json.loads(output)
    return max(later - earlier for earlier, later in itertools.pairwise(acknowledged_s))
