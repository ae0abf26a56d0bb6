"""In the end every broker's picture of the cluster is what ZooKeeper holds, and nothing besides.

Topics with their ids, partition counts, leaders, epochs, ISRs and replicas; the live brokers;
and the memory of the active controller. A topic that was deleted is in none of them. Metadata that
is merely on its way is waited for: `Simulation` asks `is_settled` for SPREAD_MAX_S of virtual time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.simulation.invariants.base import Invariant

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterator, Mapping

    from dataplane.cluster.image import ClusterImage
    from dataplane.model.partition import PartitionState

    Truth = Mapping[str, tuple[uuid.UUID, Mapping[int, PartitionState]]]

FIELDS = ("leader", "leader_epoch", "partition_epoch", "isr", "replicas")
CONTROLLER_FIELDS = (*FIELDS, "adding", "removing")


class SameMetadata(Invariant):
    name = "metadata is what ZooKeeper holds"

    def is_settled(self) -> bool:
        return next(self._differences(), None) is None

    def finish(self) -> None:
        for difference in self._differences():
            self.broken(difference)
            return

    def _differences(self) -> Iterator[str]:
        truth = self._truth()
        registered = {int(n) for n in self.sim.zookeeper.nodes["/brokers/ids"].children}
        for machine, process in self.sim.running():
            image = process.broker.components.metadata_cache.image
            for difference in _of_image(image, truth):
                yield f"{machine.name}: {difference}"
            if image.brokers.keys() != registered:
                yield f"{machine.name} knows brokers {sorted(image.brokers)} of {registered}"
            context = process.broker.components.controller.context
            if context is not None:
                for difference in _of_controller(context, truth):
                    yield f"the controller on {machine.name}: {difference}"

    def _truth(self) -> Truth:
        """Topics that are still being deleted have to be done with first: see `unsettled`."""
        topics: dict[str, tuple[uuid.UUID, dict[int, PartitionState]]] = {}
        for tp, (topic_id, state) in self.sim.partition_states().items():
            topics.setdefault(tp.topic, (topic_id, {}))[1][tp.partition] = state
        return topics


def _of_image(image: ClusterImage, truth: Truth) -> Iterator[str]:
    yield from _of_names(image.topics.keys(), truth)
    for name, (topic_id, states) in truth.items():
        topic = image.topics.get(name)
        if topic is None:
            continue
        if topic.topic_id != topic_id or image.names_by_id.get(topic_id) != name:
            yield f"{name} has id {topic.topic_id} instead of {topic_id}"
        known = {state.index: state for state in topic.partitions}
        yield from _of_partitions(name, known, states, FIELDS)
        for state in topic.partitions:
            if state.offline_replicas:
                yield f"{name}-{state.index}: replicas {state.offline_replicas} are called offline"
    surplus = image.names_by_id.keys() - {topic_id for topic_id, _ in truth.values()}
    if surplus:
        yield f"ids of no topic are known: {sorted(map(str, surplus))}"


def _of_controller(context: Any, truth: Truth) -> Iterator[str]:
    yield from _of_names(context.topics.keys(), truth)
    if context.topics_to_be_deleted or context.reassigning:
        yield f"deletes {sorted(context.topics_to_be_deleted)}, moves {sorted(context.reassigning)}"
    for name, (topic_id, states) in truth.items():
        topic = context.topics.get(name)
        if topic is None:
            continue
        if topic.topic_id != topic_id or context.names_by_id.get(topic_id) != name:
            yield f"{name} has id {topic.topic_id} instead of {topic_id}"
        yield from _of_partitions(name, topic.partitions, states, CONTROLLER_FIELDS)


def _of_names(known: Any, truth: Truth) -> Iterator[str]:
    for name in sorted(known - truth.keys()):
        yield f"{name} is known, and ZooKeeper does not hold it"
    for name in sorted(truth.keys() - known):
        yield f"{name} is not known"


def _of_partitions(
    name: str,
    known: Mapping[int, PartitionState],
    states: Mapping[int, PartitionState],
    fields: tuple[str, ...],
) -> Iterator[str]:
    if known.keys() != states.keys():
        yield f"{name} has partitions {sorted(known)} instead of {sorted(states)}"
        return
    for index, state in states.items():
        for field in fields:
            found, expected = getattr(known[index], field), getattr(state, field)
            if found != expected:
                yield f"{name}-{index}: {field} is {found} instead of {expected}"
