"""What operations ask of the brokers, answered by a simulated cluster."""

from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace

from controlplane.gateway.types import (
    TP,
    BrokerNode,
    ClusterDescription,
    ConfigEntry,
    TopicDescription,
)
from tests.fleet.cluster import SimulatedCluster


class Gateway:
    """As `controlplane.gateway`, as far as it is asked here."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        self.cluster = cluster

    def at(self, _broker: int) -> "Gateway":
        return self

    def describe_cluster(self) -> ClusterDescription:
        nodes = (BrokerNode(id=b, host="", port=1) for b in sorted(self.cluster.context.live))
        return ClusterDescription(
            cluster_id=self.cluster.name,
            controller_id=self.cluster.controller,
            brokers=tuple(nodes),
        )

    def list_topics(self) -> tuple[TopicDescription, ...]:
        return self.cluster.topics

    def describe_topics(self, names: Sequence[str]) -> dict[str, TopicDescription]:
        return {topic.name: topic for topic in self.cluster.topics if topic.name in names}

    def topic_configs(
        self, names: Iterable[str], keys: Sequence[str]
    ) -> Mapping[str, list[ConfigEntry]]:
        value = str(self.cluster.min_isr)
        row = ConfigEntry(name=keys[0], value=value, source="TOPIC_CONFIG", is_default=False)
        return {name: [row] for name in names}

    def list_reassignments(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(tp=tp) for tp in sorted(self.cluster.moving())]

    def elect_preferred_leaders(self, partitions: Iterable[TP]) -> None:
        self.cluster.elect(partitions)
