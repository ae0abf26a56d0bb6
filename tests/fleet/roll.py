"""A roll by the product's own `Roller`: over a simulated cluster instead of hosts and tables."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from controlplane.clusters.roll_book import RollBook
from controlplane.clusters.roll_look import RUNNING, look
from controlplane.clusters.roll_steps import Roller
from controlplane.clusters.rolling import CANARY_S
from controlplane.clusters.rolls import Facts, Member, held, order, unavoidable
from controlplane.operations.operations import Done, StepFailedError, Wait
from tests.fleet.assumed import Assumed
from tests.fleet.cluster import SimulatedCluster
from tests.fleet.events import Events
from tests.fleet.gateway import Gateway
from tests.fleet.workers import Workers

AGAIN_S = 3_600.0
"""After a roll that was not safe somebody starts another for who is left."""


@dataclass(slots=True, kw_only=True)
class SimulatedRoller(Roller):
    """`start` restarts a broker of the simulation."""

    simulated: SimulatedCluster
    start: Callable[[int], None]

    def look_at_clients(self, broker: int) -> None:
        """There are none; what they see is measured by `make test-hosts`."""

    def facts(self) -> Facts:
        reports: Any = {broker: SimpleNamespace(state=RUNNING) for broker in self.simulated.up}
        return look(self.gateway, self.brokers, lambda _brokers: reports)

    def start_again(self, row: Any) -> None:
        row.generation = self.generations[row.broker_id]
        self.start(row.broker_id)

    def process_of(self, row: Any) -> Done | Wait:
        if row.broker_id in self.simulated.up:
            return Done(detail="the broker process runs")
        return Wait(seconds=0.25, detail="0 of 1 processes run")

    def registration_of(self, broker: int) -> Done | Wait:
        if broker in self.simulated.context.live:
            return Done(detail="the broker has registered")
        return Wait(seconds=0.25, detail=f"waiting for {broker}")


class FleetRoll:
    """Every cluster once, so many at a time; what each took, in seconds."""

    def __init__(
        self,
        clusters: Sequence[SimulatedCluster],
        events: Events,
        rng: random.Random,
        assumed: Assumed,
        *,
        on_change: Callable[[SimulatedCluster], None],
        is_busy: Callable[[SimulatedCluster], bool],
    ) -> None:
        self._waiting = list(clusters)
        self._events, self._rng, self._assumed = events, rng, assumed
        self._on_change, self._is_busy = on_change, is_busy
        self.rolled: set[str] = set()
        """Clusters that a roll holds now, by name."""
        self._workers = Workers(assumed.threads, assumed.tick_s)
        self.began_s = events.now_s
        self.ended_s: float | None = None
        self.open = 0
        self.ticks = 0
        self.restarts = 0
        self.took_s: list[float] = []
        self.not_safe: list[str] = []
        self.broken: list[str] = []
        """Where the roll itself took a partition below its minimum: has to stay empty."""

    def start(self) -> None:
        for _ in range(self._assumed.rolls_at_once):
            self._next()

    def _next(self) -> None:
        if self._waiting:
            cluster = self._waiting.pop(0)
            self.open += 1
            self._begin(cluster, sorted(cluster.placed))
        elif not self.open and self.ended_s is None:
            self.ended_s = self._events.now_s

    def _begin(self, cluster: SimulatedCluster, brokers: list[int]) -> None:
        brokers = [broker for broker in brokers if broker in cluster.placed]
        if not brokers:
            self.open -= 1
            self._next()
            return
        if self._is_busy(cluster):
            # Its lock is held: whoever wants the roll asks again.
            self._events.after(AGAIN_S, lambda: self._begin(cluster, brokers))
            return
        self.rolled.add(cluster.name)
        gateway: Any = Gateway(cluster)
        led = {
            broker: sum(part.leader == broker for _, part in held(broker, cluster.topics))
            for broker in brokers
        }
        live = cluster.context.live
        members = [Member(id=b, leads=led[b], is_live=b in live) for b in brokers]
        planned = order(members, cluster.controller)
        least = dict.fromkeys((topic.name for topic in cluster.topics), cluster.min_isr)
        lost = [unavoidable(broker, cluster.topics, least) for broker in planned]
        assert not any(one.offline or one.unwritable for one in lost)
        roller: Any = SimulatedRoller(
            context=SimpleNamespace(  # type: ignore[arg-type] # what a tick has of an operation
                operation=SimpleNamespace(
                    id=cluster.name, paused_at=None, plan=SimpleNamespace(impact={})
                )
            ),
            cluster=cluster,  # type: ignore[arg-type] # likewise
            brokers=[],
            broker_count=len(cluster.placed),
            gateway=gateway,
            generations=dict.fromkeys(planned, 2),
            book=RollBook({}, planned),
            canary_s=float(CANARY_S),
            now_s=self._events.now_s,
            simulated=cluster,
            start=lambda broker: self._restart(cluster, broker),
        )
        rows: dict[int, Any] = {}
        self._tick(roller, rows, self._events.now_s)

    def _tick(self, roller: Any, rows: dict[int, Any], began_s: float) -> None:
        cluster: SimulatedCluster = roller.simulated
        for broker in cluster.placed:
            rows.setdefault(broker, SimpleNamespace(broker_id=broker, generation=1, host_id=""))
        roller.brokers = [rows[broker] for broker in sorted(cluster.placed)]
        roller.now_s = self._events.now_s
        self.ticks += 1
        try:
            waits = roller.tick()
        except StepFailedError as error:
            self._failed(roller, error)
            return
        if waits is None:
            self.took_s.append(self._events.now_s - began_s)
            self.rolled.discard(cluster.name)
            self.open -= 1
            self._next()
            return
        self._events.after(waits.seconds, lambda: self._due(roller, rows, began_s))

    def _due(self, roller: Any, rows: dict[int, Any], began_s: float) -> None:
        """It is taken once a thread is free."""
        waits_s = self._workers.takes_s(self._events.now_s)
        self._events.after(waits_s, lambda: self._tick(roller, rows, began_s))

    def _failed(self, roller: Any, error: StepFailedError) -> None:
        """Whoever was not restarted is tried again later; meanwhile others have the place."""
        self.not_safe.append(error.code)
        cluster, left = roller.simulated, list(roller.book.waiting)
        self.rolled.discard(cluster.name)
        self.open -= 1
        if left:
            self.open += 1
            self._events.after(AGAIN_S, lambda: self._begin(cluster, left))
        self._next()

    def _restart(self, cluster: SimulatedCluster, broker: int) -> None:
        if broker not in cluster.up:
            return  # its host is away: nothing comes back, and the roller gives up in its time
        assumed = self._assumed
        before = cluster.unwritable()
        cluster.shut_down(broker)
        self.restarts += 1
        if cluster.unwritable() > before and cluster.up >= cluster.context.live:
            self.broken.append(f"{cluster.name}: broker {broker}")
        self._on_change(cluster)
        away_s = self._rng.uniform(*assumed.stop_start_s)
        self._events.after(away_s, lambda: self._back(cluster, broker, away_s))

    def _back(self, cluster: SimulatedCluster, broker: int, away_s: float) -> None:
        if broker not in cluster.placed:
            return
        cluster.register(broker)
        self._on_change(cluster)

        def in_sync() -> None:
            if broker in cluster.up:
                cluster.catch_up(broker)
                self._on_change(cluster)

        self._events.after(catch_up_s(self._assumed, away_s), in_sync)


def catch_up_s(assumed: Assumed, away_s: float) -> float:
    """How long a broker reads what was written while it was away, and meanwhile."""
    missed = assumed.written_bytes_per_s * away_s
    return missed / (assumed.copied_bytes_per_s - assumed.written_bytes_per_s) + 0.5
