"""What a seed decides before anything runs: how large, how busy, which misfortunes."""

from __future__ import annotations

import dataclasses
from random import Random

FAULTS = (
    "kill",
    "kill_unfenced",
    "stale_fence",
    "fence_alive",
    "power_loss",
    "restart",
    "pause",
    "cut",
    "cut_one_way",
    "cut_from_controller",
    "isolate",
    "slow_link",
    "reset",
    "zk_cut",
    "zk_expiry",
    "controller_change",
    "disk_full",
    "dir_failure",
    "failed_write",
    "failed_sync",
    "torn_write",
    "clock_step",
)
NEVER_S = 1_000.0
LONG_TRANSACTION_MS = 300_000
"""Longer than any seed: no transaction ends by its time."""


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """Times in seconds of virtual time, sizes in bytes."""

    brokers: int
    partitions: int
    producers: int
    consumers: int
    think_s: float
    chaos_s: float
    fault_gap_s: float
    faults: tuple[str, ...]
    settings: dict[str, str]
    admin_gap_s: float
    fleeting_gap_s: float = NEVER_S
    burst_batches_max: int = 1
    """What a producer sends at once to a partition; a broker remembers five batches of each."""
    chains: int = 0
    """Transactional ids that consume, transform and produce; none: no coordinator has work."""
    transaction_timeout_ms: int = LONG_TRANSACTION_MS
    chain_move_gap_s: float = 0.0
    """Between moves of coordinators' and chains' partitions; 0 is none."""
    marker_fault_gap_s: float = 0.0
    """Between times at which markers, or their answers, are lost or repeated; 0 is none."""
    members: int = 0
    """Of a classic group, beside the chains."""
    chroot: str = ""
    """Of the cluster in ZooKeeper, "" for none: supervisors fence from above it."""

    @classmethod
    def of(cls, random: Random) -> Plan:
        kinds = random.sample(FAULTS, random.choice((1, 2, 3, 4, 6, len(FAULTS))))
        return cls(
            brokers=random.choices((3, 4, 5, 7), (12, 4, 3, 1))[0],
            partitions=random.choice((1, 2, 3)),
            producers=random.choice((2, 3, 4)),
            consumers=random.choice((1, 2)),
            think_s=random.choice((0.1, 0.2, 0.4)),
            chaos_s=random.uniform(6, 15),
            fault_gap_s=random.choice((0.3, 0.8, 2.0)),
            faults=tuple(kinds),
            settings={
                "zookeeper.session.timeout.ms": str(random.choice((2_000, 4_000, 6_000))),
                "replica.lag.time.max.ms": str(random.choice((1_000, 2_000, 4_000))),
                "replica.fetch.wait.max.ms": str(random.choice((100, 500))),
                "replica.fetch.max.bytes": str(random.choice((1_000, 100_000))),
                "replica.fetch.backoff.ms": str(random.choice((100, 1_000))),
                "log.segment.bytes": str(random.choice((2_000, 20_000, 1 << 30))),
                "log.index.interval.bytes": str(random.choice((0, 300, 4096))),
                "log.flush.interval.messages": str(random.choice((1, 20, 1 << 40))),
                "replica.high.watermark.checkpoint.interval.ms": str(random.choice((500, 5_000))),
                "log.flush.offset.checkpoint.interval.ms": str(random.choice((1_000, 60_000))),
                "leader.imbalance.check.interval.seconds": str(random.choice((3, 300))),
            },
            admin_gap_s=random.choice((1.5, 5.0, NEVER_S)),
            fleeting_gap_s=random.choice((0.3, 1.5, NEVER_S)),
            burst_batches_max=random.choice((1, 1, 3, 5)),
            chains=random.choice((0, 0, 1, 2)),
            transaction_timeout_ms=random.choice((2_000, LONG_TRANSACTION_MS, LONG_TRANSACTION_MS)),
            chain_move_gap_s=random.choice((0.0, 0.8, 3.0)),
            marker_fault_gap_s=random.choice((0.0, 0.5, 2.0)),
            members=random.choice((0, 2, 3)),
            chroot=random.choice(("", "/shared/cluster")),
        )
