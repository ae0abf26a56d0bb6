"""The replicas of a topic as their holders say: bytes, lag, log directory. Asked now."""

import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import seen_gateway
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import NotFound
from controlplane.common.times import iso_of_ms
from controlplane.common.words import counted
from controlplane.gateway.readings import ClusterReader, Gap
from controlplane.gateway.types import PartitionDescription, ReplicaSize
from controlplane.topics.selectors import described_topic

PARTITIONS_SHOWN_MAX = 2_000
"""Of one topic: the first."""
PATIENCE_S = 10.0
"""How long brokers that do not answer are waited for, all together."""

Row = dict[str, Any]


def topic_replicas(cluster: Cluster, scope: Scope, name: str) -> Row:
    """{as_of, complete, gaps, partition_count, data}: each partition with its replicas.

    Raises:
        NotFound: there is no such topic, or the scope does not cover it.
        GatewayError: not even where its partitions are can be read.
    """
    if not scope.sees(Area.TOPIC, cluster.name, name):
        raise NotFound(f"There is no topic {name}.")
    gateway = seen_gateway(cluster, scope)
    topic = described_topic(gateway, name)
    shown = topic.partitions[:PARTITIONS_SHOWN_MAX]
    live = {node.id for node in gateway.describe_cluster().brokers}
    holders = sorted({broker for part in shown for broker in part.replicas})
    now_ms = int(time.time() * 1000)
    reader = ClusterReader(gateway, patience_s=PATIENCE_S)
    reading = reader.replicas([broker for broker in holders if broker in live], [name])
    away = [Gap(f"broker {each} is not there", (each,)) for each in holders if each not in live]
    gaps = [*reading.gaps, *away]
    silent = {broker: gap.reason for gap in gaps for broker in gap.brokers}
    held: dict[int, list[ReplicaSize]] = defaultdict(list)
    for replica in reading.known:
        held[replica.tp.partition].append(replica)
    # Where brokers keep their logs is theirs; what a topic takes there is the topic's.
    sees_whole = scope.sees(Area.CLUSTER, cluster.name)
    said = [gap.reason for gap in gaps]
    if len(shown) < len(topic.partitions):
        said.append(f"only the first {counted(len(shown), 'partition')} are shown")
    return {
        "as_of": iso_of_ms(now_ms),
        "complete": not said,
        "gaps": said,
        "partition_count": len(topic.partitions),
        "data": [
            {
                "partition": part.partition,
                "leader": part.leader,
                "replicas": replica_rows(part, held[part.partition], silent, dirs=sees_whole),
            }
            for part in shown
        ],
    }


def replica_rows(
    part: PartitionDescription,
    held: list[ReplicaSize],
    silent: Mapping[int, str],
    *,
    dirs: bool,
) -> list[Row]:
    """Those of the assignment in its order, future ones behind theirs, then what else lies about.

    Args:
        part: where the partition should be.
        held: what brokers said that they hold of it.
        silent: why a broker did not say, by broker.
        dirs: whether log directories are shown.
    """
    by_broker: dict[int, list[ReplicaSize]] = defaultdict(list)
    for replica in sorted(held, key=lambda each: each.is_future):
        by_broker[replica.broker].append(replica)
    rows: list[Row] = []
    for broker in dict.fromkeys((*part.replicas, *sorted(by_broker))):
        said = by_broker[broker]
        shared = {
            "broker": broker,
            "is_leader": broker == part.leader,
            "in_sync": broker in part.isr,
            "is_assigned": broker in part.replicas,
        }
        if not any(not each.is_future for each in said):
            missing = silent.get(broker) or f"broker {broker} has no log of it"
            rows.append({**shared, **_unknown(missing)})
        rows += [{**shared, **_known(each, dirs=dirs)} for each in said]
    return rows


def _unknown(reason: str) -> Row:
    return {
        "is_future": False,
        "size_bytes": None,
        "offset_lag": None,
        "log_dir": None,
        "unknown_because": reason,
    }


def _known(replica: ReplicaSize, *, dirs: bool) -> Row:
    return {
        "is_future": replica.is_future,
        "size_bytes": replica.size_bytes,
        # Kafka says -1 of what it cannot compare with the leader.
        "offset_lag": replica.offset_lag if replica.offset_lag >= 0 else None,
        "log_dir": replica.log_dir if dirs else None,
        "unknown_because": None,
    }
