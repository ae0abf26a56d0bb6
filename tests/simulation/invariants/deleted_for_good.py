"""Once a topic's deletion is complete in ZooKeeper, nothing of it is on a live broker's disk either.

What brokers list and which partitions they hold is `same_metadata`'s and `no_forgotten_replicas`'; here
are the directories: in service, being copied (`-future`), being removed (`-delete`), set aside
(`-stray`). The last is right in one case alone, as in Kafka: a move took the replica off a broker that
was away, so nobody asks it when the topic is deleted. It keeps the files for an operator.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from dataplane.cluster import znodes
from dataplane.log import paths
from dataplane.log.partition_metadata import read_topic_id
from dataplane.model.ids import TopicPartition
from tests.simulation.invariants.base import Invariant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.simulation.machine import Machine
    from tests.simulation.simulation import Simulation
    from tests.simulation.world.zookeeper import Node

Replica = tuple[uuid.UUID, int, int]
"""Topic id, partition, broker."""


class DeletedForGood(Invariant):
    name = "a deleted topic leaves no directory"

    def __init__(self, sim: Simulation) -> None:
        super().__init__(sim)
        self._held: dict[tuple[uuid.UUID, int], set[int]] = {}
        self._moved_off: set[Replica] = set()

    def node_changed(self, path: str, node: Node | None) -> None:
        parent, _, name = path.rpartition("/")
        if parent != znodes.TOPICS or node is None or not name:
            return
        topic = znodes.decode_topic(node.data)
        if topic.topic_id is None:
            return
        for index, replicas in topic.replicas.items():
            key = topic.topic_id, index
            gone = self._held.get(key, set()) - set(replicas)
            self._moved_off |= {(*key, broker) for broker in gone}
            self._held[key] = set(replicas)

    def is_settled(self) -> bool:
        return next(self._left(), None) is None

    def finish(self) -> None:
        for found in self._left():
            self.broken(found)
            return

    def _left(self) -> Iterator[str]:
        for machine, _process in self.sim.running():
            for log_dir in self.sim.log_dirs:
                if log_dir in machine.disk.broken:
                    continue
                for name in sorted(machine.disk.list_dir(log_dir)):
                    path = f"{log_dir}/{name}"
                    if machine.disk.is_dir(path) and not self._may_be(machine, path, name):
                        yield f"{machine.name} still has {path}"

    def _may_be(self, machine: Machine, path: str, name: str) -> bool:
        if name.endswith(paths.DELETE_DIRECTORY):
            return False
        if name.endswith(paths.STRAY_DIRECTORY):
            stem = name.removesuffix(paths.STRAY_DIRECTORY).rpartition(".")[0]
            tp = paths.parse_partition_directory(stem)
            topic_id = read_topic_id(machine.disk, path)
            return tp is not None and self._is_moved_off(topic_id, tp, machine.number)
        tp = paths.parse_future_directory(name) or paths.parse_partition_directory(name)
        if tp is None:
            return True  # not a log's
        topic_id, state = self.sim.partition_states().get(tp, (None, None))
        return state is not None and machine.number in state.replicas

    def _is_moved_off(self, topic_id: uuid.UUID | None, tp: TopicPartition, broker: int) -> bool:
        return topic_id is not None and (topic_id, tp.partition, broker) in self._moved_off
