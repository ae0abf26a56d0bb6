"""A roll over a cluster's brokers: whose turn is next, and what is in the way of it. Pure.

A broker is taken only while everything but itself is whole: every other broker up, every other
replica in sync, nothing moving. Then what it takes away is what its topics can never do without it,
and the plan has named those topics.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from controlplane.gateway.types import TP, PartitionDescription, TopicDescription
from controlplane.operations.details import Detail, broker_params, detail_of, name_params, together

NAMES_SAID_MAX = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Why a broker is not taken now; `text` is a clause without its full stop, a detail."""

    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one look at the cluster has shown.

    Attributes:
        live: ids of the brokers that have registered.
        wanted: ids of all brokers that the cluster should have.
        starting: of those, whose process runs and has not registered.
        min_isr: by topic; None or absent where nobody said it.
    """

    live: frozenset[int]
    wanted: frozenset[int]
    controller: int | None
    topics: tuple[TopicDescription, ...]
    min_isr: Mapping[str, int | None] = field(default_factory=dict)
    moving: frozenset[TP] = frozenset()
    starting: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavoidable:
    """Topics that lose something whenever this broker is away, however whole the cluster is."""

    offline: frozenset[str]
    unwritable: frozenset[str]
    unknown: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A broker as the order counts it."""

    id: int
    leads: int
    is_live: bool


def order(members: Iterable[Member], controller: int | None) -> list[int]:
    """Who is away first, then by leaders, the fewest first; the active controller last."""
    found = sorted(
        members,
        key=lambda one: (one.id == controller and one.is_live, one.is_live, one.leads, one.id),
    )
    return [one.id for one in found]


def candidates(waiting: Iterable[int], controller: int | None) -> list[int]:
    """Those that wait, as planned, with whoever is the controller now at the end."""
    planned = list(waiting)
    return [one for one in planned if one != controller] + [
        one for one in planned if one == controller
    ]


def unavoidable(
    broker: int, topics: Iterable[TopicDescription], min_isr: Mapping[str, int | None]
) -> Unavoidable:
    """Measured by the replicas, not by who is in sync now: a roll waits for those."""
    offline, unwritable, unknown = set(), set(), set()
    for topic, part in held(broker, topics):
        others = len(part.replicas) - 1
        least = min_isr.get(topic)
        if not others:
            offline.add(topic)
        elif least is None:
            unknown.add(topic)
        elif others < least:
            unwritable.add(topic)
    return Unavoidable(
        offline=frozenset(offline), unwritable=frozenset(unwritable), unknown=frozenset(unknown)
    )


def obstacles(
    broker: int, facts: Facts, accepted: Unavoidable, *, seen_by: int | None = None
) -> list[Obstacle]:
    """What forbids to take this broker away now; nothing when it may go.

    Its own faults do not count: a restart may mend them. But one whose process runs and has not
    registered may be recovering its logs, and is left alone.
    """
    found = [
        *_of_brokers(broker, facts),
        *_of_replicas(broker, facts.topics),
        *_of_minimum(broker, facts, accepted),
    ]
    if facts.moving:
        found.append(
            Obstacle(
                code="reassigning",
                text=_of_partitions(
                    "obstacle/reassigning", [f"{tp.topic}-{tp.partition}" for tp in facts.moving]
                ),
            )
        )
    if seen_by is None:
        return found
    says = detail_of("tail/as-broker-says", broker=str(seen_by))
    return [Obstacle(code=one.code, text=together(one.text, says)) for one in found]


def _of_partitions(code: str, names: Collection[str]) -> Detail:
    return detail_of(code, partitions=len(names), **name_params(names, NAMES_SAID_MAX))


def _of_brokers(broker: int, facts: Facts) -> Iterator[Obstacle]:
    if broker in facts.starting:
        yield Obstacle(
            code="broker-starting",
            text=detail_of("obstacle/broker-starting", broker=str(broker)),
        )
    away = facts.wanted - facts.live - {broker}
    if away:
        named = name_params(map(str, away), NAMES_SAID_MAX)
        text = detail_of("obstacle/broker-away", brokers=named["names"], more=named["more"])
        yield Obstacle(code="broker-away", text=text)
    if facts.controller is None:
        yield Obstacle(code="no-controller", text=detail_of("obstacle/no-controller"))


def _of_replicas(broker: int, topics: Iterable[TopicDescription]) -> Iterator[Obstacle]:
    behind, leaderless = [], []
    for topic in topics:
        for part in topic.partitions:
            name = f"{topic.name}-{part.partition}"
            if set(part.replicas) - set(part.isr) - {broker}:
                behind.append(name)
            if part.leader is None and set(part.replicas) != {broker}:
                leaderless.append(name)
    if leaderless:
        yield Obstacle(
            code="partitions-offline",
            text=_of_partitions("obstacle/partitions-offline", leaderless),
        )
    if behind:
        yield Obstacle(
            code="replicas-behind",
            text=_of_partitions("obstacle/replicas-behind", behind),
        )


def _of_minimum(broker: int, facts: Facts, accepted: Unavoidable) -> Iterator[Obstacle]:
    """Partitions that its going takes below the minimum, or offline, and the plan did not say."""
    offline, below, unknown = [], [], []
    for topic, part in held(broker, facts.topics):
        if broker not in part.isr:
            continue
        others = len(set(part.isr) - {broker})
        least = facts.min_isr.get(topic)
        name = f"{topic}-{part.partition}"
        if not others:
            if topic not in accepted.offline:
                offline.append(name)
        elif least is None:
            if topic not in accepted.unknown:
                unknown.append(topic)
        elif others < least and topic not in accepted.unwritable:
            below.append(name)
    if offline:
        yield Obstacle(
            code="would-be-offline",
            text=_of_partitions("obstacle/would-be-offline", offline),
        )
    if below:
        yield Obstacle(
            code="below-min-isr",
            text=_of_partitions("obstacle/below-min-isr", below),
        )
    if unknown:
        names = set(unknown)
        yield Obstacle(
            code="min-isr-unknown",
            text=detail_of(
                "obstacle/min-isr-unknown",
                topics=len(names),
                **name_params(names, NAMES_SAID_MAX),
            ),
        )


def held(
    broker: int, topics: Iterable[TopicDescription]
) -> Iterator[tuple[str, PartitionDescription]]:
    """(topic, partition) of every replica of this broker."""
    for topic in topics:
        for part in topic.partitions:
            if broker in part.replicas:
                yield topic.name, part


def behind(broker: int, topics: Iterable[TopicDescription]) -> tuple[int, int]:
    """(replicas of the broker that are in sync, all of them)."""
    found = [broker in part.isr for _, part in held(broker, topics)]
    return sum(found), len(found)


def to_elect(broker: int, topics: Iterable[TopicDescription]) -> list[TP]:
    """Partitions that prefer this broker, have it in sync and are led by another."""
    return [
        TP(topic, part.partition)
        for topic, part in held(broker, topics)
        if part.replicas[0] == broker != part.leader and broker in part.isr
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What a canary is measured by. Partitions; brokers of the cluster that are not up."""

    under_replicated: int
    offline: int
    away: int

    @classmethod
    def of(cls, facts: Facts) -> "Health":
        parts = [part for topic in facts.topics for part in topic.partitions]
        return cls(
            under_replicated=sum(len(part.isr) < len(part.replicas) for part in parts),
            offline=sum(part.leader is None for part in parts),
            away=len(facts.wanted - facts.live),
        )

    def worse_than(self, before: "Health") -> Detail:
        """What is worse, as a clause; empty when nothing is."""
        said = [
            detail_of(code, now=now, before=then)
            for code, now, then in (
                ("canary/under-replicated", self.under_replicated, before.under_replicated),
                ("canary/offline", self.offline, before.offline),
                ("canary/away", self.away, before.away),
            )
            if now > then
        ]
        return together(*said)


def summed_up(states: Mapping[int, str], done: Collection[str], failed: str) -> Detail:
    """Who has been restarted and who has not, of a roll that ends early, as sentences."""
    yes, bad, rest = _by_outcome(states, done, failed)
    said = []
    if yes:
        said.append(detail_of("remains/restarted", **broker_params(yes)))
    if bad:
        said.append(detail_of("remains/restart-failed", **broker_params(bad)))
    if rest and (yes or bad):
        said.append(detail_of("remains/not-restarted", **broker_params(rest)))
    return together(*said)


def who_is_done(states: Mapping[int, str], done: Collection[str], failed: str) -> Detail:
    """As `summed_up`, as clauses."""
    yes, bad, rest = _by_outcome(states, done, failed)
    said = []
    if yes:
        said.append(detail_of("roll/restarted", **broker_params(yes)))
    if bad:
        said.append(detail_of("roll/failed", **broker_params(bad)))
    if rest and (yes or bad):
        said.append(detail_of("roll/left", **broker_params(rest)))
    return together(*said)


def _by_outcome(
    states: Mapping[int, str], done: Collection[str], failed: str
) -> tuple[list[int], list[int], list[int]]:
    yes = [broker for broker, state in states.items() if state in done]
    bad = [broker for broker, state in states.items() if state == failed]
    rest = [broker for broker in states if broker not in yes and broker not in bad]
    return yes, bad, rest
