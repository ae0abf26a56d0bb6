"""Hosts, clusters and their misfortunes: a year under virtual time, decided by one seed."""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from controlplane.clusters.capacity import Capacity
from controlplane.clusters.placing import Candidate, NoCapacityError, place
from controlplane.clusters.rules import Placement
from tests.fleet import published
from tests.fleet.assumed import GIB, SHAPES, Assumed
from tests.fleet.cluster import SimulatedCluster
from tests.fleet.events import Events
from tests.fleet.heal import SelfHealing
from tests.fleet.roll import FleetRoll, catch_up_s

DISK_MIN_BYTES = GIB
FIRST_PORT = 9_000


@dataclass(slots=True)
class HostLife:
    """`brokers`: cluster and broker id. `life` grows with each return and each end."""

    rack: str
    brokers: list[tuple[SimulatedCluster, int]] = field(default_factory=list)
    is_up: bool = True
    life: int = 0


@dataclass(slots=True, kw_only=True)
class Tally:
    """What has happened; times in seconds."""

    outages: int = 0
    lost_hosts: int = 0
    rack_failures: int = 0
    elections: int = 0
    no_place: int = 0
    unwritable: int = 0
    """Times that a cluster had partitions that refuse acks=all, by failures of hosts."""
    unwritable_s: float = 0.0
    longest_unwritable_s: float = 0.0
    shared_hosts: int = 0
    """Partitions with two replicas on one host, ever seen after a placement."""


class Fleet:
    """`run` lives the days that are asked for."""

    def __init__(self, seed: int, assumed: Assumed, *, misfortunes: bool = True) -> None:
        self.assumed = assumed
        self.rng = random.Random(seed)
        self.events = Events()
        self.tally = Tally()
        self.clusters: list[SimulatedCluster] = []
        self.hosts = {f"host-{n:04}": HostLife(rack=self._rack(n)) for n in range(assumed.hosts)}
        self.candidates = {name: self._candidate(name, host) for name, host in self.hosts.items()}
        self.roll: FleetRoll | None = None
        self._silent: set[str] = set()
        self._unwritable_since_s: dict[str, float] = {}
        self._is_foreseen = not misfortunes
        self._build()
        self.healing = SelfHealing(self, self.clusters)

    def _rack(self, number: int) -> str:
        return f"rack-{number // self.assumed.hosts_per_rack:02}"

    def _candidate(self, name: str, host: HostLife) -> Candidate:
        total = self.assumed.disk_bytes
        return Candidate(
            host_id=name,
            rack=host.rack,
            address=name,
            port_first=FIRST_PORT,
            port_last=FIRST_PORT + self.assumed.ports_per_host - 1,
            alive=True,
            has_key=True,
            capacity=Capacity(
                disk_total_bytes=total,
                disk_free_bytes=total,
                memory_total_bytes=64 * GIB,
                memory_free_bytes=32 * GIB,
                cores=16,
                load=0.0,
            ),
            capacity_age_s=1.0,
        )

    def _build(self) -> None:
        sizes = [size for size, _ in SHAPES]
        shares = [share for _, share in SHAPES]
        for number in range(self.assumed.clusters):
            count = self.rng.choices(sizes, shares)[0]
            decision = place(
                list(self.candidates.values()),
                broker_ids=range(1, count + 1),
                disk_min_bytes=DISK_MIN_BYTES,
            )
            cluster = SimulatedCluster(f"cluster-{number:03}", decision.placed)
            cluster.fill(self.rng, self.assumed)
            self.clusters.append(cluster)
            for row in decision.placed:
                self._take(cluster, row)
            self.tally.shared_hosts += cluster.shared()

    def _take(self, cluster: SimulatedCluster, row: Placement) -> None:
        self.hosts[row.host_id].brokers.append((cluster, row.broker_id))
        self._report(row.host_id)

    def _report(self, host_id: str) -> None:
        """As its agent reports it and the tables say: ports, brokers, disk."""
        host, before = self.hosts[host_id], self.candidates[host_id]
        rows = [cluster.placed[broker] for cluster, broker in host.brokers]
        used = sum(self.bytes_of(cluster, broker) for cluster, broker in host.brokers)
        total = self.assumed.disk_bytes
        self.candidates[host_id] = replace(
            before,
            alive=host.is_up,
            brokers=len(rows),
            ports_taken=frozenset(p for row in rows for p in (row.client_port, row.internal_port)),
            capacity=replace(before.capacity, disk_free_bytes=max(total - used, 0)),
        )

    def bytes_of(self, cluster: SimulatedCluster, broker: int) -> int:
        return sum(
            cluster.sizes[tp] for tp, replicas in cluster.assignment.items() if broker in replicas
        )

    # -- misfortunes
    def run(self) -> None:
        """Raises IllegalTransitionError: a state machine was asked for what its table has not."""
        self.run_until(self.assumed.days * 86_400.0)

    def run_until(self, at_s: float) -> None:
        if not self._is_foreseen:
            self._is_foreseen = True
            self._foresee()
        self.events.run(at_s)

    def _foresee(self) -> None:
        for name in self.hosts:
            self._each(published.MACHINE_FAILURES_PER_YEAR, lambda name=name: self._crash(name))
            lost = published.DISK_FAILURES_PER_YEAR * self.assumed.disks_per_host
            self._each(lost, lambda name=name: self.lose(name))
        for rack in sorted({host.rack for host in self.hosts.values()}):
            self._each(published.RACK_FAILURES_PER_YEAR, lambda rack=rack: self._cut(rack))
        self.events.after(self.assumed.roll_at_day * 86_400.0, self._roll)

    def _each(self, per_year: float, action: Callable[[], None]) -> None:
        """Again and again, at exponential distances."""

        def happens() -> None:
            action()
            self._each(per_year, action)

        self.events.after(self.rng.expovariate(per_year / published.YEAR_S), happens)

    def _roll(self) -> None:
        self.roll = FleetRoll(
            self.clusters,
            self.events,
            self.rng,
            self.assumed,
            on_change=self.changed,
            is_busy=self.healing.is_replacing,
        )
        self.roll.start()

    def _crash(self, name: str) -> None:
        if self.hosts[name].is_up:
            self.tally.outages += 1
            self._down(name, published.MACHINE_AWAY_S)

    def _cut(self, rack: str) -> None:
        self.tally.rack_failures += 1
        away_s = self.rng.uniform(*published.RACK_AWAY_S)
        for name, host in self.hosts.items():
            if host.rack == rack and host.is_up:
                self._down(name, away_s)

    def lose(self, name: str) -> None:
        """With a disk its data is gone; the host is mended and comes back empty, much later."""
        if self.hosts[name].is_up:
            self.tally.lost_hosts += 1
            self._down(name, 7 * 86_400.0)

    def _down(self, name: str, away_s: float) -> None:
        host = self.hosts[name]
        host.is_up, host.life = False, host.life + 1
        life = host.life
        for cluster, broker in host.brokers:
            cluster.end(broker)
            self.changed(cluster)
        self._report(name)
        self.events.after(self.assumed.session_timeout_s, lambda: self._noticed(name, life))
        self.events.after(away_s, lambda: self._up(name, away_s))

    def _noticed(self, name: str, life: int) -> None:
        host = self.hosts[name]
        if host.life == life and not host.is_up:
            self._silent.add(name)
            for cluster, _ in host.brokers:
                self._forget_dead(cluster)
            self.healing.wake()

    def _forget_dead(self, cluster: SimulatedCluster) -> None:
        before = cluster.writes
        cluster.forget_dead()
        self.tally.elections += cluster.writes - before
        self.changed(cluster)

    def _up(self, name: str, away_s: float) -> None:
        host = self.hosts[name]
        host.is_up, host.life = True, host.life + 1
        self._silent.discard(name)
        self._report(name)
        life = host.life
        for cluster, broker in list(host.brokers):
            start_s = self.rng.uniform(*self.assumed.recovery_s)
            self.events.after(
                start_s,
                lambda c=cluster, b=broker: self._returned(c, b, name, life, away_s),
            )

    def _returned(
        self, cluster: SimulatedCluster, broker: int, name: str, life: int, away_s: float
    ) -> None:
        if self.hosts[name].life != life or cluster.placed[broker].host_id != name:
            return
        cluster.register(broker)
        self.changed(cluster)

        def in_sync() -> None:
            if broker in cluster.up and self.hosts[name].life == life:
                cluster.catch_up(broker)
                cluster.balance_leaders()
                self.changed(cluster)

        lacking_s = self.healing.lacking_s(cluster, broker)
        self.events.after(lacking_s + catch_up_s(self.assumed, away_s), in_sync)

    # -- mending
    def silent(self) -> set[str]:
        return {name for name in self._silent if self.hosts[name].brokers}

    def clusters_on(self, hosts: Iterable[str]) -> list[SimulatedCluster]:
        return [cluster for name in hosts for cluster, _ in self.hosts[name].brokers]

    def is_rolled(self, cluster: SimulatedCluster) -> bool:
        return self.roll is not None and cluster.name in self.roll.rolled

    def put_elsewhere(self, cluster: SimulatedCluster, broker: int) -> str:
        """Under its id, as a rebuild has it; what its old host has of it is wiped there.

        Raises NoCapacityError.
        """
        others = [row for b, row in cluster.placed.items() if b != broker]
        try:
            decision = place(
                list(self.candidates.values()),
                broker_ids=[broker],
                disk_min_bytes=DISK_MIN_BYTES,
                present=[(row.host_id, row.rack) for row in others],
            )
        except NoCapacityError:
            self.tally.no_place += 1
            raise
        old, row = cluster.placed[broker], decision.placed[0]
        self.hosts[old.host_id].brokers.remove((cluster, broker))
        cluster.placed[broker] = row
        self._report(old.host_id)
        self._take(cluster, row)
        self.tally.shared_hosts += cluster.shared()
        return row.host_id

    # -- what is seen of it
    def changed(self, cluster: SimulatedCluster) -> None:
        """Whether some partition refuses acks=all, and for how long it does."""
        is_bad = cluster.unwritable() > 0
        since_s = self._unwritable_since_s.get(cluster.name)
        if is_bad and since_s is None:
            self._unwritable_since_s[cluster.name] = self.events.now_s
            self.tally.unwritable += 1
        elif not is_bad and since_s is not None:
            del self._unwritable_since_s[cluster.name]
            lasted_s = self.events.now_s - since_s
            self.tally.unwritable_s += lasted_s
            self.tally.longest_unwritable_s = max(self.tally.longest_unwritable_s, lasted_s)

    def per_host(self) -> dict[str, Counter[str]]:
        """By figure: how much of it each host has."""
        found = {name: Counter[str]() for name in ("brokers", "bytes", "leaders", "rack brokers")}
        for name, host in self.hosts.items():
            for figure in ("brokers", "bytes", "leaders"):
                found[figure][name] = 0
            found["rack brokers"][host.rack] += len(host.brokers)
            for cluster, broker in host.brokers:
                found["brokers"][name] += 1
                found["bytes"][name] += self.bytes_of(cluster, broker)
                found["leaders"][name] += sum(
                    state.leader == broker for _, state in cluster.context.partitions()
                )
        return found
