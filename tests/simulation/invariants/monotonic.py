"""High watermark and epochs only grow, by the rules that really hold in Kafka.

High watermark: within one leader epoch the leader's watermark never goes back. Across a change of
leader it may: a follower learns it one fetch late. But a new leader's log reaches at least to the
highest watermark that any leader before it had (clean election), so nothing below it can change.
Epochs: leader epoch and partition epoch of a topic id in ZooKeeper, the controller epoch, and the
leader epoch that one process has taken up for a partition, never go back.
"""

from __future__ import annotations

import json
import uuid

from dataplane.model.ids import TopicPartition
from tests.simulation.clients.consumer import Answer
from tests.simulation.invariants.base import Invariant
from tests.simulation.machine import Machine, Process
from tests.simulation.world.zookeeper import Node


class Monotonic(Invariant):
    name = "watermark and epochs are monotonic"

    def __init__(self, sim) -> None:
        super().__init__(sim)
        self._watermarks: dict[tuple[uuid.UUID, int, int], int] = {}
        self._answered: dict[tuple[uuid.UUID, int, int], tuple[int, float]] = {}
        self._highest: dict[tuple[uuid.UUID, int], int] = {}
        self._taken_up: dict[tuple[int, uuid.UUID, int], int] = {}
        self._nodes: dict[tuple[str, int], tuple[int, int]] = {}
        self._controller_epoch = 0

    def observe(self) -> None:
        for tp, replicas in self.sim.replicas().items():
            for replica in replicas:
                partition = replica.partition
                epoch = partition.leader_epoch
                key = (replica.process.pid, partition.topic_id, tp.partition)
                if epoch < self._taken_up.get(key, -1):
                    self.broken(f"{replica.machine.name} went back to epoch {epoch} of {tp}")
                self._taken_up[key] = epoch
                if partition.is_leader:
                    self._watermark(tp, partition.topic_id, epoch, partition.high_watermark)

    def _watermark(self, tp: TopicPartition, topic_id: uuid.UUID, epoch: int, now: int) -> None:
        key = (topic_id, tp.partition, epoch)
        before = self._watermarks.get(key, 0)
        if now < before:
            self.broken(f"{tp} epoch {epoch}: the watermark went back from {before} to {now}")
        self._watermarks[key] = max(now, before)
        place = (topic_id, tp.partition)
        self._highest[place] = max(now, self._highest.get(place, 0))

    def read(self, answer: Answer, epoch: int) -> None:
        """Answers of one leader epoch in the order in which they were asked."""
        key = (answer.topic_id, answer.partition, epoch)
        before, asked_s = self._answered.get(key, (0, 0.0))
        now_s = self.sim.now_s
        if answer.high_watermark < before and answer.sent_s >= asked_s:
            self.broken(
                f"{answer.topic}-{answer.partition} epoch {epoch}: a consumer got watermark "
                f"{before}, then {answer.high_watermark}"
            )
        if answer.high_watermark >= before:
            self._answered[key] = (answer.high_watermark, now_s)
        place = (answer.topic_id, answer.partition)
        self._highest[place] = max(answer.high_watermark, self._highest.get(place, 0))

    def leadership(
        self, machine: Machine, process: Process, tp: TopicPartition, leads: bool, epoch: int
    ) -> None:
        partition = process.broker.components.replica_manager.get(tp)
        if not leads or partition is None:
            return
        wanted = self._highest.get((partition.topic_id, tp.partition), 0)
        if partition.log.log_end_offset < wanted and self._is_true_leader(machine, tp, epoch):
            self.broken(
                f"{machine.name} leads {tp} in epoch {epoch} with a log that ends at "
                f"{partition.log.log_end_offset}; the watermark was at {wanted}"
            )

    def _is_true_leader(self, machine: Machine, tp: TopicPartition, epoch: int) -> bool:
        """Not one that takes up an old word: ZooKeeper says so now."""
        known = self.sim.partition_states().get(tp)
        return known is not None and (known[1].leader, known[1].leader_epoch) == (
            machine.number,
            epoch,
        )

    def node_changed(self, path: str, node: Node | None) -> None:
        if node is None:
            return
        if path == "/controller_epoch":
            epoch = int(node.data)
            if epoch < self._controller_epoch:
                self.broken(f"controller epoch went back from {self._controller_epoch} to {epoch}")
            self._controller_epoch = epoch
        elif path.startswith("/brokers/topics/") and path.endswith("/state"):
            epoch = json.loads(node.data)["leader_epoch"]
            before = self._nodes.get((path, node.czxid), (-1, -1))
            if epoch < before[0] or node.version < before[1]:
                self.broken(f"{path} went back from {before} to {(epoch, node.version)}")
            self._nodes[path, node.czxid] = (epoch, node.version)
