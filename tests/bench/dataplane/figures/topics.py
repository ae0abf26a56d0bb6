"""1,000 topics of replication factor 3 in one CreateTopics, until every ISR is full.

Full means: each broker's metadata has a leader and an ISR of three for every topic. Afterwards one
record with acks=all goes to each topic: what the metadata says must be true.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.bench.dataplane import protocol
from tests.bench.dataplane.cluster import KAFKA, OURS, Cluster
from tests.bench.dataplane.everywhere import produce_everywhere
from tests.bench.dataplane.results import ratio_at_most

if TYPE_CHECKING:
    from tests.bench.dataplane.bench import Bench, Sample
    from tests.bench.dataplane.cluster import Kind

TOPICS = 1000
BROKERS = 3


def thousand(bench: Bench) -> None:
    bench.close()  # each sample has a fresh cluster

    def once(kind: Kind) -> Sample:
        with Cluster(kind, BROKERS) as cluster:
            cluster.start()
            names = [f"wide-{number:04d}" for number in range(TOPICS)]
            begun = time.perf_counter()
            protocol.create_topics(
                cluster.port, [protocol.topic(name, 1, BROKERS) for name in names]
            )
            answered = time.perf_counter()
            full = cluster.wait_until(
                lambda client: protocol.is_full(client.metadata(names), TOPICS, BROKERS),
                "every ISR is full",
            )
            begun_acks = time.perf_counter()
            produce_everywhere(cluster, names)
            return {
                "full_s": full - begun,
                "answered_s": answered - begun,
                "acks_s": time.perf_counter() - begun_acks,
            }

    samples = bench.rounds([OURS, KAFKA], once, lambda kind: kind.name)
    bench.row(
        "1,000 topics RF 3 until every ISR is full", "s", samples, "full_s", goal=ratio_at_most(0.4)
    )
    bench.row("  until CreateTopics is answered", "s", samples, "answered_s")
    bench.row("  then a record acks=all to each", "s", samples, "acks_s")
