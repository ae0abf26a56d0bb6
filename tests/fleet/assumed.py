"""What the simulated fleet is like: figures that are neither published nor measured, in one place."""

from dataclasses import dataclass
from typing import Final

GIB: Final = 2**30
MIB: Final = 2**20

SHAPES: Final = ((3, 0.60), (6, 0.25), (9, 0.10), (15, 0.05))
"""Brokers of a cluster, and the share of clusters that have so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """Sizes in bytes, times in seconds, rates by second.

    Attributes:
        led_per_broker: partitions for each broker of a cluster, three replicas of each.
        size_median_bytes: of one replica; sizes are log-normal, as in `make bench-controlplane`.
        written_bytes_per_s: what a broker's replicas get in all, leaders and followers.
        copied_bytes_per_s: how fast a follower reads what it has missed.
        throttle_bytes_per_s: the limit of a rebuild.
        stop_start_s: from, to: a broker's stop in good order until it has registered again.
        recovery_s: likewise after its host went down: logs are recovered.
        replace_after_s: for how long a host is silent until its brokers are put elsewhere.
        answered_after_s: likewise a proposal until somebody approves it.
        by_hand_after_s: likewise a host until an operator acts where self-healing is off.
        rolls_at_once: clusters that are rolled at the same time.
        threads: of workers that take ticks (`--concurrency 8` in deploy/systemd), on all hosts.
        tick_s: how long one tick holds its thread.
        database_statements_per_s, zookeeper_ops_per_s: what one server of each is taken to bear.
    """

    hosts: int = 1_000
    clusters: int = 500
    hosts_per_rack: int = 25
    ports_per_host: int = 20
    disks_per_host: int = 4
    disk_bytes: int = 4_000 * GIB
    led_per_broker: int = 10
    replicas: int = 3
    min_isr: int = 2
    size_median_bytes: int = 2 * GIB
    written_bytes_per_s: int = 2 * MIB
    copied_bytes_per_s: int = 100 * MIB
    throttle_bytes_per_s: int = 50 * MIB
    stop_start_s: tuple[float, float] = (3.0, 8.0)
    recovery_s: tuple[float, float] = (10.0, 60.0)
    session_timeout_s: float = 18.0
    replace_after_s: float = 1_800.0
    answered_after_s: float = 4 * 3_600.0
    by_hand_after_s: float = 24 * 3_600.0
    rolls_at_once: int = 20
    roll_at_day: float = 60.0
    days: float = 365.0
    threads: int = 8
    tick_s: float = 0.03
    database_statements_per_s: float = 5_000.0
    zookeeper_ops_per_s: float = 10_000.0


SMALL: Final = Assumed(
    hosts=30, clusters=12, hosts_per_rack=5, days=365.0, roll_at_day=5.0, rolls_at_once=4
)
"""Of the unit tests: it lives its year in a second or two."""
