"""Brokers of hosts that are silent for too long, put elsewhere by the product's own evaluator.

Real: since when hosts are silent, what is decided and why (`healing.rules`), the states of a case
(`healing.states`), what forbids a replacement (`clusters.replacing_rules`), where the broker goes
(`clusters.placing`). Simulated: people's answers, and bytes on their way: a broker that is built
anew copies all of its replicas under the limit of a rebuild before the first of them is in sync.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from controlplane.clusters.placing import NoCapacityError
from controlplane.clusters.replacing_rules import REBUILD, in_the_way
from controlplane.clusters.roll_look import look
from controlplane.healing.rules import (
    PER_DAY,
    PROPOSE,
    REPLACE,
    WAIT,
    BrokerFact,
    Decision,
    Facts,
    Policy,
    decide,
    silences,
)
from controlplane.healing.states import (
    ASK,
    AUTOMATIC,
    CASE_MOVES,
    FAILED,
    HEALED,
    OFF,
    OPEN,
    PROPOSED,
    REPLACING,
    WAITING,
    WITHDRAWN,
)
from tests.fleet.assumed import Assumed
from tests.fleet.cluster import SimulatedCluster
from tests.fleet.events import Events
from tests.fleet.gateway import Gateway

ROUND_S = 30.0
"""From one round to the next while a host is silent; the product's are 10 s apart."""
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_STATE_OF = {WAIT: WAITING, PROPOSE: PROPOSED, REPLACE: WAITING}


class World(Protocol):
    """What self-healing sees of the fleet, and does to it."""

    events: Events
    assumed: Assumed
    rng: random.Random

    def silent(self) -> set[str]:
        """Hosts with brokers whose sessions have ended."""

    def clusters_on(self, hosts: Iterable[str]) -> list[SimulatedCluster]: ...
    def is_rolled(self, cluster: SimulatedCluster) -> bool: ...
    def bytes_of(self, cluster: SimulatedCluster, broker: int) -> int: ...

    def put_elsewhere(self, cluster: SimulatedCluster, broker: int) -> str:
        """Its new host. Raises NoCapacityError."""

    def changed(self, cluster: SimulatedCluster) -> None: ...


@dataclass(slots=True)
class Case:
    """One broker that its host has left."""

    broker: int
    silent_since: datetime
    state: str = WAITING
    moved_at: datetime = EPOCH

    def move(self, state: str, now: datetime) -> None:
        """Raises IllegalTransitionError."""
        if state != self.state:
            CASE_MOVES.check(self.state, state)
            self.state, self.moved_at = state, now


@dataclass(slots=True)
class Kept:
    """What the service keeps of one cluster."""

    policy: Policy
    case: Case | None = None
    started: list[datetime] = field(default_factory=list)
    failed: list[tuple[int, datetime]] = field(default_factory=list)

    @property
    def open(self) -> Case | None:
        return self.case if self.case is not None and self.case.state in OPEN else None


@dataclass(slots=True)
class Account:
    """What came of it. `healed_s`: from a host's end to all replicas in sync, by who began it."""

    healed_s: dict[str, list[float]] = field(
        default_factory=lambda: {AUTOMATIC: [], ASK: [], OFF: []}
    )
    ended: Counter[str] = field(default_factory=Counter)
    waited: Counter[str] = field(default_factory=Counter)
    """Rounds in which a case waited, by the code of why."""
    begun: int = 0
    copied_bytes: int = 0


class SelfHealing:
    """Rounds over the clusters that a silent host concerns; none while every host is there."""

    def __init__(self, world: World, clusters: Iterable[SimulatedCluster]) -> None:
        self.world = world
        self.account = Account()
        self._kept = {
            cluster.name: Kept(self._policy(number)) for number, cluster in enumerate(clusters)
        }
        self._by_name = {cluster.name: cluster for cluster in clusters}
        self._since: dict[str, datetime] = {}
        self._looked_at: datetime | None = None
        self._is_looking = False
        self._lacking: dict[tuple[str, int], float] = {}

    def _policy(self, number: int) -> Policy:
        """Every tenth cluster has none, three of ten ask first."""
        mode = {0: OFF, 1: ASK, 4: ASK, 7: ASK}.get(number % 10, AUTOMATIC)
        after_s = int(self.world.assumed.replace_after_s)
        return Policy(mode=mode, replace_after_s=after_s, per_day_max=PER_DAY)

    @property
    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=self.world.events.now_s)

    def wake(self) -> None:
        """A host has fallen silent."""
        if not self._is_looking:
            self._is_looking = True
            self._looked_at = None
            self._round()

    def is_replacing(self, cluster: SimulatedCluster) -> bool:
        case = self._kept[cluster.name].open
        return case is not None and case.state == REPLACING

    def lacking_s(self, cluster: SimulatedCluster, broker: int) -> float:
        """How long a broker whose replicas were never whole has to copy when it comes back."""
        return self._lacking.get((cluster.name, broker), 0.0)

    # -- a round
    def _round(self) -> None:
        silent = self.world.silent()
        self._since = silences(self._since.items(), self._looked_at, silent, self.now)
        self._looked_at = self.now
        names = {cluster.name for cluster in self.world.clusters_on(silent)}
        names |= {name for name, kept in self._kept.items() if kept.open is not None}
        for name in sorted(names):
            self._heal(self._by_name[name])
        self._is_looking = bool(silent or names)
        if self._is_looking:
            self.world.events.after(ROUND_S, self._round)

    def _heal(self, cluster: SimulatedCluster) -> None:
        kept = self._kept[cluster.name]
        if kept.open is not None and kept.open.state == REPLACING:
            return
        facts = self._facts(cluster, kept)
        decision = decide(kept.policy, facts)
        if decision.act not in _STATE_OF or decision.broker is None:
            self._withdraw(kept)
            self._by_hand(cluster, kept, facts)
            return
        if decision.act == WAIT:
            self.account.waited[decision.code] += 1
        case = self._case(kept, decision, facts)
        if decision.act == REPLACE:
            self._begin(cluster, kept, case)
        elif case.state != _STATE_OF[decision.act]:
            case.move(_STATE_OF[decision.act], self.now)
            if decision.act == PROPOSE:
                self._ask(cluster, kept, case)

    def _withdraw(self, kept: Kept) -> None:
        if kept.open is not None:
            kept.open.move(WITHDRAWN, self.now)
            self.account.ended[WITHDRAWN] += 1

    def _case(self, kept: Kept, decision: Decision, facts: Facts) -> Case:
        if kept.open is not None and kept.open.broker != decision.broker:
            self._withdraw(kept)
        if kept.open is None:
            about = next(one for one in facts.brokers if one.id == decision.broker)
            kept.case = Case(about.id, about.silent_since or self.now, moved_at=self.now)
        assert kept.case is not None
        return kept.case

    def _facts(self, cluster: SimulatedCluster, kept: Kept) -> Facts:
        live = cluster.context.live
        return Facts(
            now=self.now,
            brokers=tuple(
                BrokerFact(
                    id=broker,
                    host_id=row.host_id,
                    silent_since=self._since.get(row.host_id),
                    is_up=broker in live,
                )
                for broker, row in sorted(cluster.placed.items())
            ),
            silent_hosts=self._since,
            under_way="cluster.restart" if self.world.is_rolled(cluster) else "",
            started=tuple(kept.started),
            failed=tuple(kept.failed),
            is_harmed=cluster.unwritable() > 0,
        )

    # -- people
    def _ask(self, cluster: SimulatedCluster, kept: Kept, case: Case) -> None:
        """Somebody answers yes, if it is still asked then."""

        def answered() -> None:
            if kept.open is case and case.state == PROPOSED:
                self._begin(cluster, kept, case)

        self.world.events.after(self.world.assumed.answered_after_s, answered)

    def _by_hand(self, cluster: SimulatedCluster, kept: Kept, facts: Facts) -> None:
        """Where nothing is done by itself, an operator plans it in the end."""
        if kept.policy.mode != OFF:
            return
        patience = timedelta(seconds=self.world.assumed.by_hand_after_s)
        for one in facts.brokers:
            if one.silent_since is not None and facts.now - one.silent_since >= patience:
                kept.case = Case(one.id, one.silent_since, moved_at=self.now)
                self._begin(cluster, kept, kept.case)
                return

    # -- a replacement
    def _begin(self, cluster: SimulatedCluster, kept: Kept, case: Case) -> None:
        refused = self._refused(cluster, case.broker)
        if not refused:
            try:
                host = self.world.put_elsewhere(cluster, case.broker)
            except NoCapacityError:
                refused = "no-capacity"
        if refused:
            self.account.waited[refused] += 1
            case.move(WAITING, self.now)
            return
        case.move(REPLACING, self.now)
        if kept.policy.mode == AUTOMATIC:
            kept.started = [at for at in kept.started if self.now - at < timedelta(days=1)]
            kept.started.append(self.now)
        self.account.begun += 1
        self._copy(cluster, kept, case, host)

    def _refused(self, cluster: SimulatedCluster, broker: int) -> str:
        """By the rules of the operation's plan."""
        gateway: Any = Gateway(cluster)
        reports: Mapping[tuple[str, str], Any] = {}
        found = in_the_way(REBUILD, broker, look(gateway, [], lambda _brokers: reports))
        return found[0].code if found else ""

    def _copy(self, cluster: SimulatedCluster, kept: Kept, case: Case, host: str) -> None:
        """Its process starts on the new host, and copies all that it holds."""
        assumed, broker = self.world.assumed, case.broker
        size = self.world.bytes_of(cluster, broker)
        copy_s = size / assumed.throttle_bytes_per_s
        self._lacking[cluster.name, broker] = copy_s
        start_s = self.world.rng.uniform(*assumed.stop_start_s)

        def starts() -> None:
            if cluster.placed[broker].host_id == host and host not in self.world.silent():
                cluster.register(broker)
                self.world.changed(cluster)

        def ends() -> None:
            is_there = cluster.placed[broker].host_id == host and broker in cluster.up
            self._end(cluster, kept, case, size if is_there else None)

        self.world.events.after(start_s, starts)
        self.world.events.after(start_s + copy_s, ends)

    def _end(
        self, cluster: SimulatedCluster, kept: Kept, case: Case, copied_bytes: int | None
    ) -> None:
        """`copied_bytes`: null where its new host went away meanwhile."""
        if copied_bytes is None:
            kept.failed.append((case.broker, self.now))
            case.move(FAILED, self.now)
        else:
            del self._lacking[cluster.name, case.broker]
            cluster.catch_up(case.broker)
            cluster.balance_leaders()
            self.account.copied_bytes += copied_bytes
            lasted_s = (self.now - case.silent_since).total_seconds()
            self.account.healed_s[kept.policy.mode].append(lasted_s)
            case.move(HEALED, self.now)
        self.account.ended[case.state] += 1
        self.world.changed(cluster)
