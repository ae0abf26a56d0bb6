"""Reads: the truth a plan is made of."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from controlplane.common.problems import field_problem
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import ClusterReader, Gap, without_leader
from controlplane.gateway.types import TP, TopicDescription, partitions_by_tp
from controlplane.reassignments.planner.types import Broker, Partition, Role
from controlplane.reassignments.rules import Replicas


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What the brokers say now, of every topic.

    What a broker did not say is not in the mappings; `gaps` names the reasons.

    Attributes:
        chosen: the topics that the plan is about; `assignment` and `sizes` are of these.
        sizes: of one replica: the leader's.
        racks: of every live broker.
        held: bytes by partition, for every broker that answered.
        in_sync: the ISR of each of the chosen partitions; `unled`: those of them without a leader.
    """

    topics: Mapping[str, TopicDescription]
    chosen: Collection[str]
    assignment: Mapping[TP, Replicas]
    sizes: Mapping[TP, int]
    racks: Mapping[int, str | None]
    held: Mapping[int, Mapping[TP, int]]
    in_sync: Mapping[TP, Replicas]
    unled: Collection[TP] = ()
    gaps: tuple[Gap, ...] = ()

    def chosen_partitions(self) -> list[Partition]:
        return [
            Partition(tp=tp, replicas=replicas, size_bytes=self.sizes.get(tp))
            for tp, replicas in self.assignment.items()
        ]

    def brokers(self, role_of: Callable[[int], Role]) -> list[Broker]:
        """Every live broker, with what it holds of topics that were not chosen."""
        others = partitions_by_tp(
            topic for name, topic in self.topics.items() if name not in self.chosen
        )
        replicas, leaders, led_bytes = Counter[int](), Counter[int](), Counter[int]()
        for tp, part in others.items():
            preferred = part.replicas[0]
            replicas.update(part.replicas)
            leaders[preferred] += 1
            led_bytes[preferred] += self.held.get(preferred, {}).get(tp, 0)

        def broker(id_: int) -> Broker:
            held = self.held.get(id_)
            return Broker(
                id=id_,
                rack=self.racks[id_],
                role=role_of(id_),
                said_bytes=None if held is None else sum(held.values()),
                fixed_bytes=None
                if held is None
                else sum(size for tp, size in held.items() if tp not in self.assignment),
                fixed_replicas=replicas[id_],
                fixed_leaders=leaders[id_],
                fixed_leader_bytes=None if held is None else led_bytes[id_],
            )

        return [broker(id_) for id_ in self.racks]


def read_truth(gateway: ClusterGateway, topics: Collection[str] | None) -> Truth:
    """None asks for all topics.

    Raises:
        Problem: a topic that was named is not there.
        GatewayError: topics or brokers cannot be read. What one broker holds is a gap instead.
    """
    described = {topic.name: topic for topic in gateway.list_topics()}
    chosen = frozenset(described if topics is None else topics)
    for index, name in enumerate(topics or ()):
        if name not in described:
            raise field_problem(f"/inputs/topics/{index}", f"There is no topic {name}.")
    racks = {node.id: node.rack for node in gateway.describe_cluster().brokers}
    replicas = ClusterReader(gateway).replicas(racks)
    silent = {broker for gap in replicas.gaps for broker in gap.brokers}
    held: dict[int, dict[TP, int]] = {broker: {} for broker in racks if broker not in silent}
    for replica in replicas.known:
        if not replica.is_future:
            held[replica.broker][replica.tp] = replica.size_bytes
    parts = partitions_by_tp(described[name] for name in chosen)
    unled = [part for part in parts.values() if part.leader is None]
    return Truth(
        gaps=(*replicas.gaps, *([without_leader(unled)] if unled else [])),
        topics=described,
        chosen=chosen,
        assignment={tp: part.replicas for tp, part in parts.items()},
        sizes={
            tp: held[part.leader][tp]
            for tp, part in parts.items()
            if part.leader in held and tp in held[part.leader]
        },
        racks=racks,
        held=held,
        in_sync={tp: part.isr for tp, part in parts.items()},
        unled=frozenset(tp for tp, part in parts.items() if part.leader is None),
    )
