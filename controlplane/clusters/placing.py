"""Which host gets which broker and which ports, and why; which hosts get none, and why. Pure.

A broker goes to the rack that has the fewest of its cluster's brokers, so that replicas on
different racks are possible as soon as there are two racks; there to the host that has the fewest
of them; then away from hosts that are nearly full; then to where the fewest brokers run, to the
least busy host and to the one with the most free disk. Steps of a tenth of the disk and of a
quarter of a core keep a choice from changing with every report.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from controlplane.clusters.capacity import Capacity
from controlplane.clusters.host_states import ACTIVE, CORDONED, DRAINING, LOST
from controlplane.clusters.placing_sentences import PLACED, lack_of
from controlplane.clusters.release_fit import ANY, Wanted, lack
from controlplane.clusters.rules import Placement
from controlplane.clusters.versions import NOT_KNOWN, Installed
from controlplane.common.said import Said, said_of
from controlplane.common.sentences import Param
from controlplane.common.words import counted

STALE_S = 120.0
"""An agent reports every 30 s: of one that has missed three reports nothing is known of now."""
PORTS_PER_BROKER = 2
TIGHT_SHARE = 0.1
TIGHT_MEMORY_BYTES = 256 * 2**20
# Between hosts that are known to have room and those that are known to be tight.
ROOMY, UNKNOWN, TIGHT = 0, 1, 2
GIB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One host as it is now. `brokers` are all that should run there; `capacity_age_s` is null
    where its agent never reported any.
    """

    host_id: str
    rack: str
    address: str
    port_first: int
    port_last: int
    alive: bool
    has_key: bool
    state: str = ACTIVE
    brokers: int = 0
    ports_taken: frozenset[int] = frozenset()
    capacity: Capacity = field(default_factory=Capacity)
    capacity_age_s: float | None = None
    installed: Installed = NOT_KNOWN

    @property
    def free_ports(self) -> list[int]:
        busy = self.ports_taken.union(self.capacity.ports_busy or ())
        return [port for port in range(self.port_first, self.port_last + 1) if port not in busy]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a host gets no broker: what is in the way, and the sentence of `LACKS` that says it."""

    host_id: str
    code: str
    text: str
    text_code: str
    params: Mapping[str, Param]

    @classmethod
    def by(cls, host_id: str, said: Said) -> Self:
        return cls(host_id=host_id, **said.beside())

    @property
    def said(self) -> Said:
        return Said(self.text_code, self.params, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """`reasons` are by broker id."""

    placed: list[Placement]
    reasons: dict[int, Said]
    refused: list[Refusal]


class NoCapacityError(Exception):
    """Fewer places than brokers. `found` is how many there are."""

    def __init__(self, *, found: int, wanted: int, refused: list[Refusal]) -> None:
        self.found = found
        self.wanted = wanted
        self.refused = refused
        super().__init__(f"there is room for {found} of {counted(wanted, 'broker')}")


def refusal(
    host: Candidate, *, disk_min_bytes: int, placed: int = 0, wants: Wanted = ANY
) -> Refusal | None:
    """Why the host gets no broker of that release now, after `placed` of this same plan; null when
    it may.
    """
    said = _unfit(host) or lack(host.installed, wants) or _full(host, disk_min_bytes, placed)
    return None if said is None else Refusal.by(host.host_id, said)


def _unfit(host: Candidate) -> Said | None:
    if host.state in {LOST, DRAINING, CORDONED}:
        return lack_of(host.state)
    if not host.alive:
        return lack_of("away")
    if not host.has_key:
        return lack_of("no-key")
    if host.capacity_age_s is not None and host.capacity_age_s > STALE_S:
        return lack_of("stale", age_s=int(host.capacity_age_s))
    return None


def _full(host: Candidate, disk_min_bytes: int, placed: int) -> Said | None:
    free = host.capacity.disk_free_bytes
    if free is not None and free < disk_min_bytes * (placed + 1):
        return lack_of("no-disk", free_gib=_gib(free), wanted_gib=_gib(disk_min_bytes))
    ports = len(host.free_ports)
    if ports < PORTS_PER_BROKER * (placed + 1):
        return lack_of("no-port", ports=ports)
    return None


def place(
    hosts: Sequence[Candidate],
    *,
    broker_ids: Sequence[int],
    disk_min_bytes: int,
    present: Collection[tuple[str, str]] = (),
    wants: Wanted = ANY,
) -> Decision:
    """A place for each broker, and what was refused.

    Args:
        hosts: all there are.
        broker_ids: of the brokers that have no place yet.
        disk_min_bytes: what has to be free for each of them.
        present: host and rack of each broker that the cluster has already.
        wants: the release that they shall run.

    Raises:
        NoCapacityError: there are fewer places.
    """
    own = Counter(host_id for host_id, _ in present)
    racks = Counter(rack for _, rack in present)
    taken: Counter[str] = Counter()
    refused = [
        found
        for host in hosts
        if (found := refusal(host, disk_min_bytes=disk_min_bytes, wants=wants))
    ]
    free = {host.host_id: iter(host.free_ports) for host in hosts}
    placed: list[Placement] = []
    reasons: dict[int, Said] = {}
    for broker_id in broker_ids:
        fit = [
            host
            for host in hosts
            if not refusal(
                host, disk_min_bytes=disk_min_bytes, placed=taken[host.host_id], wants=wants
            )
        ]
        if not fit:
            raise NoCapacityError(found=len(placed), wanted=len(broker_ids), refused=refused)
        host = min(fit, key=lambda h: _rank(h, own=own, racks=racks, taken=taken))
        reasons[broker_id] = _reason(host, own=own, racks=racks, taken=taken)
        ports = free[host.host_id]
        placed.append(
            Placement(
                broker_id=broker_id,
                host_id=host.host_id,
                rack=host.rack,
                address=host.address,
                client_port=next(ports),
                internal_port=next(ports),
            )
        )
        own[host.host_id] += 1
        racks[host.rack] += 1
        taken[host.host_id] += 1
    return Decision(placed=placed, reasons=reasons, refused=refused)


def _rank(
    host: Candidate, *, own: Counter[str], racks: Counter[str], taken: Counter[str]
) -> tuple[int | str, ...]:
    share, load = host.capacity.disk_free_share, host.capacity.load_per_core
    return (
        racks[host.rack],
        own[host.host_id],
        room_of(host.capacity),
        host.brokers + taken[host.host_id],
        # Of a host that does not say, as of one whose cores are all busy.
        4 if load is None else int(load * 4),
        0 if share is None else -int(share * 10),
        host.host_id,
    )


def room_of(capacity: Capacity) -> int:
    """Whether it has room beyond what a new broker needs, as far as it says."""
    share, memory = capacity.disk_free_share, capacity.memory_free_bytes
    if (share is not None and share < TIGHT_SHARE) or (
        memory is not None and memory < TIGHT_MEMORY_BYTES
    ):
        return TIGHT
    return UNKNOWN if share is None or memory is None else ROOMY


def _reason(
    host: Candidate, *, own: Counter[str], racks: Counter[str], taken: Counter[str]
) -> Said:
    free, load = host.capacity.disk_free_bytes, host.capacity.load_per_core
    return said_of(
        PLACED,
        "placed",
        rack=host.rack,
        on_rack=racks[host.rack],
        on_host=own[host.host_id],
        in_all=host.brokers + taken[host.host_id],
        free_gib=None if free is None else _gib(free),
        load=None if load is None else round(load, 2),
    )


def _gib(count: int) -> float:
    return round(count / GIB, 1)
