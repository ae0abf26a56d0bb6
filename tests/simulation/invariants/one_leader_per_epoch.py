"""At most one broker leads a partition in one leader epoch, and only one that ZooKeeper named.

And at most one broker accepts being the controller in one controller epoch.
"""

from __future__ import annotations

import uuid

from dataplane.model.ids import TopicPartition
from tests.simulation.invariants.base import Invariant
from tests.simulation.machine import Machine, Process


class OneLeaderPerEpoch(Invariant):
    name = "one leader per epoch"

    def __init__(self, sim) -> None:
        super().__init__(sim)
        self._leaders: dict[tuple[uuid.UUID, int, int], int] = {}
        self._controllers: dict[int, int] = {}

    def leadership(
        self, machine: Machine, process: Process, tp: TopicPartition, leads: bool, epoch: int
    ) -> None:
        partition = process.broker.components.replica_manager.get(tp)
        if leads and partition is not None:
            self._note(machine.number, tp, partition.topic_id, epoch)

    def observe(self) -> None:
        for tp, replicas in self.sim.replicas().items():
            for replica in replicas:
                partition = replica.partition
                if partition.is_leader:
                    self._note(replica.number, tp, partition.topic_id, partition.leader_epoch)
        for machine, process in self.sim.running():
            epoch = process.broker.components.controller.epoch
            if epoch is not None:
                first = self._controllers.setdefault(epoch, machine.number)
                if first != machine.number:
                    self.broken(f"brokers {first} and {machine.number} control in epoch {epoch}")

    def _note(self, broker: int, tp: TopicPartition, topic_id: uuid.UUID, epoch: int) -> None:
        first = self._leaders.setdefault((topic_id, tp.partition, epoch), broker)
        if first != broker:
            self.broken(f"brokers {first} and {broker} both lead {tp} in epoch {epoch}")
