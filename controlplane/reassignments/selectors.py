"""Reads: what the brokers are moving right now, and the truth a plan is made of."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.clusters.models import Cluster
from controlplane.common.problems import field_problem
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import ClusterReader, Gap, without_leader
from controlplane.gateway.types import TP, TopicDescription, partitions_by_tp
from controlplane.reassignments.rules import Replicas


def active(cluster: Cluster, gateway: ClusterGateway) -> list[dict[str, Any]]:
    """Reassignments in progress, whoever started them."""
    del cluster  # every selector takes it; this one needs only the way in
    return [
        {
            "topic": row.tp.topic,
            "partition": row.tp.partition,
            "replicas": list(row.replicas),
            "adding": list(row.adding),
            "removing": list(row.removing),
        }
        for row in sorted(gateway.list_reassignments(), key=lambda row: row.tp)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What the brokers say now: assignment, leader sizes, and the load of every broker.

    What a broker did not say is not in the mappings; `gaps` names the reasons.
    """

    topics: Mapping[str, TopicDescription]
    assignment: Mapping[TP, Replicas]
    sizes: Mapping[TP, int]
    racks: Mapping[int, str | None]
    bytes_by_broker: Mapping[int, int]
    replicas_by_broker: Mapping[int, int]
    gaps: tuple[Gap, ...] = ()


def read_truth(gateway: ClusterGateway, topics: Collection[str]) -> Truth:
    described = gateway.describe_topics(topics)
    for index, name in enumerate(topics):
        if name not in described:
            raise field_problem(f"/inputs/topics/{index}", f"There is no topic {name}.")
    brokers = gateway.describe_cluster().brokers
    parts = partitions_by_tp(described.values())
    sizes: dict[TP, int] = {}
    replicas = ClusterReader(gateway).replicas(node.id for node in brokers)
    silent = {broker for gap in replicas.gaps for broker in gap.brokers}
    bytes_by_broker = dict.fromkeys((node.id for node in brokers if node.id not in silent), 0)
    replicas_by_broker = dict(bytes_by_broker)
    for replica in replicas.known:
        if replica.is_future:
            continue
        bytes_by_broker[replica.broker] += replica.size_bytes
        replicas_by_broker[replica.broker] += 1
        part = parts.get(replica.tp)
        if part is not None and part.leader == replica.broker:
            sizes[replica.tp] = replica.size_bytes
    unled = [
        part for topic in described.values() for part in topic.partitions if part.leader is None
    ]
    return Truth(
        gaps=(*replicas.gaps, *([without_leader(unled)] if unled else [])),
        topics=described,
        assignment={tp: part.replicas for tp, part in parts.items()},
        sizes=sizes,
        racks={node.id: node.rack for node in brokers},
        bytes_by_broker=bytes_by_broker,
        replicas_by_broker=replicas_by_broker,
    )
