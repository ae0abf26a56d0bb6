"""The ISR never keeps a replica that lags beyond the rule, and holds no hollow one.

Lag: a member whose log has not reached the end of its leader's log for replica.lag.time.max.ms is
out after the leader's next look (every half of that) and the controller's answer. This is demanded
while leader, controller and the way between them are undisturbed; MARGIN_S covers the answer.
Hollow: every live member of the set in ZooKeeper has all that its leader calls committed.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from tests.simulation.invariants.base import Invariant

if TYPE_CHECKING:
    from tests.simulation.simulation import Replica

MARGIN_S = 2.5

Place = tuple[TopicPartition, uuid.UUID, PartitionState]


class InSyncLag(Invariant):
    name = "in-sync replicas keep up"

    def __init__(self, sim) -> None:
        super().__init__(sim)
        self._reached_s: dict[tuple[uuid.UUID, int, int, int], float] = {}
        self._ends: dict[tuple[uuid.UUID, int, int], int] = {}
        self._lag_s = int(sim.plan.settings["replica.lag.time.max.ms"]) / 1000
        self._calm_since_s = 0.0
        self._had: dict[tuple[uuid.UUID, int, int, int], int] = {}

    def observe(self) -> None:
        replicas = self.sim.replicas()
        states = self.sim.partition_states()
        for tp, (topic_id, state) in states.items():
            found = {r.number: r for r in replicas.get(tp, ()) if r.partition.topic_id == topic_id}
            leader = found.get(state.leader)
            if (
                leader is None
                or not leader.partition.is_leader
                or leader.partition.leader_epoch != state.leader_epoch
            ):
                continue
            for number in state.replicas:
                if number not in state.isr:
                    # Out, and measured afresh when it comes back: by a fetch, so it has a log.
                    key = (topic_id, tp.partition, state.leader_epoch, number)
                    self._reached_s.pop(key, None)
                    self._had[key] = 0
                    continue
                if number == state.leader:
                    continue
                member = found.get(number)
                self._check_lag((tp, topic_id, state), leader, number, member)
                if member is not None:
                    self._check_hollow(tp, state, leader, member)

    def ending(self) -> None:
        """What it has reached since the last look counts."""
        self.observe()

    def _check_lag(
        self, place: Place, leader: Replica, number: int, member: Replica | None
    ) -> None:
        tp, topic_id, state = place
        now_s = self.sim.now_s
        key = (topic_id, tp.partition, state.leader_epoch, number)
        end_key = (topic_id, tp.partition, state.leader_epoch)
        end = leader.partition.log.log_end_offset
        before = self._ends.get(end_key, 0)
        self._ends[end_key] = end
        # A dead member's log counts as it was: it is out when its registration goes, and a leader
        # that writes nothing has nobody lag behind.
        has = self._had.get(key, -1)
        if member is not None and member.partition.leader_epoch == state.leader_epoch:
            has = self._had[key] = member.partition.log.log_end_offset
        is_empty = end == 0 and member is None  # it may have died before anybody looked at its log
        if is_empty or has >= min(before, end) or key not in self._reached_s:
            self._reached_s[key] = now_s
            return
        allowed_s = self._lag_s * 1.5 + MARGIN_S
        since_s = max(self._reached_s[key], self._undisturbed_since_s(leader))
        if now_s - since_s > allowed_s:
            self.broken(
                f"{tp}: broker {number} ends at {has}, leader {leader.number} at {end}; "
                f"behind since {self._reached_s[key] - 1000:.2f}, still in the ISR {state.isr}"
            )

    def _undisturbed_since_s(self, leader: Replica) -> float:
        """Since when leader and controller run and nothing stands between them."""
        sim = self.sim
        since_s = max(leader.machine.healthy_since_s, self._calm_since_s)
        controllers = [m for m, p in sim.running() if p.broker.components.controller.is_active]
        node = sim.zookeeper.find("/controller")
        if len(controllers) != 1 or node is None or self._is_network_hurt():
            self._calm_since_s = sim.now_s
            return sim.now_s
        # One that is paused is healthy again, and not earlier, when it goes on.
        controller = controllers[0]
        process = controller.process
        if process is None or process.loop.is_paused or leader.process.loop.is_paused:
            return sim.now_s
        return max(since_s, controller.healthy_since_s)

    def _is_network_hurt(self) -> bool:
        hurting = {"cut", "cut_one_way", "isolate", "slow_link", "reset", "zk_cut", "zk_expiry"}
        hurting |= {"controller_change", "fence_alive", "stale_fence", "kill_unfenced"}
        return any(kind in hurting for kind in self.sim.chaos.active.values())

    def _check_hollow(
        self, tp: TopicPartition, state: PartitionState, leader: Replica, member: Replica
    ) -> None:
        partition = member.partition
        if partition.leader_epoch != state.leader_epoch or partition.is_leader:
            return
        committed, has = leader.partition.high_watermark, partition.log.log_end_offset
        if has < committed:
            self.broken(
                f"{tp}: broker {member.number} in the ISR {state.isr} ends at {has}, its leader "
                f"{leader.number} has committed {committed}"
            )
