"""What the cluster has decided about one partition."""

from __future__ import annotations

import dataclasses

from dataplane.model.ids import NO_LEADER


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PartitionState:
    """Leadership and replica sets of a partition, as of one partition epoch.

    `partition_epoch` is the version of the partition's state node in ZooKeeper; it grows with
    every change. `replicas` is ordered: its head is the preferred leader. `adding` and `removing`
    are non-empty only while the partition is being reassigned.
    """

    index: int
    leader: int = NO_LEADER
    leader_epoch: int = 0
    partition_epoch: int = 0
    controller_epoch: int = 0
    replicas: tuple[int, ...] = ()
    isr: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    offline_replicas: tuple[int, ...] = ()
    leader_recovery_state: int = 0

    @property
    def preferred_leader(self) -> int:
        return self.replicas[0] if self.replicas else NO_LEADER

    @property
    def is_reassigning(self) -> bool:
        return bool(self.adding or self.removing)
