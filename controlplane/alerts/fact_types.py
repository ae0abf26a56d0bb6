"""What is known of a tenant or of hosts when rules are asked; null is not known, never 0. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from controlplane.clusters.capacity import NEVER, Capacity
from controlplane.clusters.host_states import ACTIVE

Points = tuple[tuple[datetime, int], ...]


def points_of(pairs: Iterable[tuple[str, int]]) -> Points:
    """As a `BrokerTrack` keeps them."""
    return tuple((datetime.fromisoformat(at), number) for at, number in pairs)


class FailedDir(NamedTuple):
    """A log directory that its broker has given up.

    Attributes:
        name: the host's name for it; empty where no agent of ours names it.
        error: Kafka's code.
    """

    path: str
    error: str
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerFact:
    """A broker that is live, placed, or named as a replica.

    Attributes:
        sizes: (when, bytes of its logs) of the last day, oldest first.
        starts: (when, starts that its agent has counted) as that changed, oldest first.
        disk_total_bytes: of the volume of a log directory that has the least left of it.
        largest_topic: by what its replicas here hold; null: not asked, as the disk is not half
            full, or not known.
        failed_dirs: none of one that named its directories, and all work; null: not known.
    """

    id: int
    live: bool
    size_bytes: int | None = None
    disk_total_bytes: int | None = None
    disk_usable_bytes: int | None = None
    largest_topic: str | None = None
    failed_dirs: tuple[FailedDir, ...] | None = None
    sizes: Points = ()
    starts: Points = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """Partitions of one topic in trouble: how many, by the brokers that they lack."""

    topic: str
    offline: Mapping[frozenset[int], tuple[int, ...]]
    under_replicated: Mapping[frozenset[int], tuple[int, ...]]
    under_min_isr: Mapping[frozenset[int], tuple[int, ...]]


class SeriesFact(NamedTuple):
    """A group on a topic, as last judged; only those that are in trouble or asked for by name.

    A tuple: a round in which everything stops makes a hundred thousand of them.

    Attributes:
        expires_in_s: until the oldest unread record is out.
        first_loss_in_s: until the first loss at the present pace.
    """

    group: str
    topic: str
    status: str
    risk: str | None = None
    lag_records: int | None = None
    lag_s: float | None = None
    lost_records: int | None = None
    expires_in_s: float | None = None
    first_loss_in_s: float | None = None
    retention_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFacts:
    """How the groups of a cluster were last judged.

    Attributes:
        missing: groups with an open alert of which nothing was said although they are there.
    """

    as_of: datetime
    series: tuple[SeriesFact, ...]
    missing: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnFact:
    """A group on a topic that burns, or may, the lag objective that somebody set for it.

    Attributes:
        seconds: of time lag that are good enough, for `share` of the time.
        burn_5m: how many times faster than allowed, over 5 minutes; the others alike.
        budget_left: share of the 14 days' budget, negative once it is overspent.
    """

    group: str
    topic: str
    objective_id: str
    seconds: float
    share: float
    burn_5m: float | None = None
    burn_30m: float | None = None
    burn_1h: float | None = None
    burn_6h: float | None = None
    budget_left: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnFacts:
    """What is in no row burns nothing; but for those beyond the bound, where it is not `whole`."""

    rows: tuple[BurnFact, ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationFact:
    id: str
    kind: str
    resource: str
    cluster_id: str
    state: str
    rolling_back: bool = False
    due_since: datetime | None = None
    step: str = ""
    step_since: datetime | None = None
    finished_at: datetime | None = None
    remains: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """A cluster that is up as far as the control plane has decided.

    Attributes:
        away: why it is not known of now; empty: it answers.
        is_refusing: it was asked and did not answer; else nobody has asked.
        brokers: null while they are not known of now; `troubles` and `groups` alike.
        agents_known: what agents report of its brokers was read.
        certificates: (broker, when it ends) of those that have one of ours.
        judged_at: of when the newest results of Spark are.
        burns: of objectives that somebody set, none where nobody did; null: not known of now.
    """

    id: str
    name: str
    is_managed: bool
    created_at: datetime
    away: str = ""
    is_refusing: bool = False
    seen_at: datetime | None = None
    brokers: tuple[BrokerFact, ...] | None = None
    controller_id: int | None = None
    troubles: tuple[Trouble, ...] | None = None
    min_isr_known: bool = True
    agents_known: bool = False
    certificates: tuple[tuple[int, datetime], ...] = ()
    sampled_at: datetime | None = None
    sample_error: str = ""
    groups: GroupFacts | None = None
    groups_unknown_because: str = ""
    judged_at: datetime | None = None
    burns: BurnFacts | None = BurnFacts()
    burns_unknown_because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFact:
    name: str
    made_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class LimitFact:
    """How much of what the service gives to a tenant is in use."""

    name: str
    used: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantFacts:
    """All that the rules of one tenant ask.

    Attributes:
        zookeeper: why it does not answer, empty when it does; null: not asked, as none of the
            tenant's clusters needs it.
    """

    id: str
    clusters: tuple[ClusterFacts, ...] = ()
    operations: tuple[OperationFact, ...] = ()
    keys: tuple[KeyFact, ...] = ()
    limits: tuple[LimitFact, ...] = ()
    zookeeper: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFact:
    """A host as its agent describes it and as operators have decided about it.

    Attributes:
        alive: its agent is heard.
        state: of `clusters.host_states`.
        brokers: how many are to run there.
        capacity: what it has left; each figure null where the agent does not say it.
        capacity_age_s: null: never reported.
        ports_free: of its range; null: the agent does not say which are busy.
    """

    id: str
    alive: bool
    state: str = ACTIVE
    brokers: int = 0
    capacity: Capacity = NEVER
    capacity_age_s: float | None = None
    ports_free: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorFacts:
    """All that the rules about hosts ask.

    Attributes:
        hosts: null: not known, as ZooKeeper does not answer, `unknown_because` of what.
        certificates: by host, (broker, when it ends) of those that the service made.
    """

    hosts: tuple[HostFact, ...] | None
    unknown_because: str = ""
    certificates: Mapping[str, tuple[tuple[str, datetime], ...]] = field(default_factory=dict)
