"""Another broker for one whose host is away for too long, by the product's planners.

A model: the product does not replace brokers by itself at this commit. Its parts are real: where
the new broker goes (`placing`), where each replica goes (`reassignments.planner`), how many move
at once and when they have arrived (`reassignments.rules`), and what the controller makes of it.
How fast they move is the throttle's, shared by what moves to or from one broker.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from controlplane.gateway.types import TP
from controlplane.reassignments import rules
from controlplane.reassignments.inputs import BATCH_DEFAULT
from controlplane.reassignments.planner.plan import rebalance
from controlplane.reassignments.planner.types import Broker, Partition, Role
from controlplane.reassignments.rules import Move, Replicas
from tests.fleet.assumed import Assumed
from tests.fleet.cluster import SimulatedCluster
from tests.fleet.events import Events

LOOK_S = 3_600.0
"""From one look at moves that stand still to the next. Whoever comes back is looked at at once."""
RETRY_S = 18.0
"""To the next try to write down what has arrived, while its leader is not known to be gone."""


@dataclass(slots=True, kw_only=True)
class Healing:
    """Replicas of brokers that are gone on their way to others: one plan at a time in a cluster."""

    cluster: SimulatedCluster
    lost_at_s: list[float]
    events: Events
    assumed: Assumed
    on_change: Callable[[SimulatedCluster], None]
    on_end: Callable[["Healing"], None]
    moves: list[Move] = field(default_factory=list)
    copied_bytes: int = 0
    _left: dict[TP, float] = field(default_factory=dict)
    _rates: dict[TP, float] = field(default_factory=dict)
    _at_s: float = 0.0
    _turn: int = 0

    def begin(self) -> None:
        """The new broker is up. Replicas that prefer the lost one go where the plan says."""
        wanted = plan_for(self.cluster)
        self.moves = rules.moves_of(self.cluster.assignment, wanted, self.cluster.sizes)
        self.copied_bytes = sum(move.bytes_to_move for move in self.moves)
        self._at_s = self.events.now_s
        self.step()

    def step(self) -> None:
        """What has arrived is written down, more is begun, and the rates follow."""
        self._turn += 1
        self._flow()
        for tp in [tp for tp, left in self._left.items() if left <= 1.0]:
            if self.cluster.can_end(tp) and self.cluster.end_move(tp):
                del self._left[tp]
        found = rules.survey(self.moves, now=self.cluster.assignment, ongoing=self.cluster.moving())
        batch, _ = rules.next_batch(found, batch_size=BATCH_DEFAULT, live=self.cluster.up)
        for move in batch:
            # Another order of the same replicas is there at once.
            if self.cluster.begin_move(move.tp, move.after) and move.adding:
                self._left[move.tp] = float(move.size_bytes or 0)
        self.on_change(self.cluster)
        now = self.cluster.assignment
        if not self._left and all(now[move.tp] == move.after for move in self.moves):
            self.on_end(self)
            return
        self._rates = self._shares()
        turn = self._turn
        self.events.after(self._next_s(), lambda: self.step() if turn == self._turn else None)

    def _flow(self) -> None:
        passed_s = self.events.now_s - self._at_s
        self._at_s = self.events.now_s
        for tp, rate in self._rates.items():
            if tp in self._left:
                self._left[tp] = max(0.0, self._left[tp] - rate * passed_s)

    def _shares(self) -> dict[TP, float]:
        """Bytes a second of each move: what its leader and its new brokers can spare of theirs."""
        ways: dict[TP, tuple[int, tuple[int, ...]]] = {}
        up = self.cluster.up
        adding = {move.tp: move.adding for move in self.moves}
        for tp, left in self._left.items():
            leader = self.cluster.leader(tp)
            if left > 1.0 and leader in up and set(adding[tp]) <= up:
                ways[tp] = leader, adding[tp]
        out, into = Counter[int](), Counter[int]()
        for leader, new in ways.values():
            out[leader] += len(new)
            into.update(new)
        limit = self.assumed.throttle_bytes_per_s
        return {
            tp: min([limit / max(out[leader], 1), *(limit / into[b] for b in new)])
            for tp, (leader, new) in ways.items()
        }

    def _next_s(self) -> float:
        """Until the first of them arrives."""
        arrive = [
            self._left[tp] / rate for tp, rate in self._rates.items() if rate and tp in self._left
        ]
        if any(left <= 1.0 and self.cluster.can_end(tp) for tp, left in self._left.items()):
            arrive.append(RETRY_S)
        return max(min(arrive, default=LOOK_S), 0.5)

    def needs(self, broker: int) -> bool:
        """Whether some move cannot end without this broker: it is the target's, new there or not."""
        return any(broker in move.after for move in self.moves)

    def abandon(self) -> None:
        """Back to before, of what is under way: another plan takes its place."""
        self._turn += 1
        for tp in sorted(self._left):
            self.cluster.cancel_move(tp)
        self._left.clear()


def plan_for(cluster: SimulatedCluster) -> dict[TP, Replicas]:
    """Where the replicas of brokers that are not there any more go: the planner drains these."""
    parts = [
        Partition(tp=tp, replicas=replicas, size_bytes=cluster.sizes[tp])
        for tp, replicas in sorted(cluster.assignment.items())
    ]
    brokers = [Broker(id=b, rack=row.rack) for b, row in sorted(cluster.placed.items())]
    gone = {b for part in parts for b in part.replicas} - cluster.placed.keys()
    drained = [Broker(id=b, role=Role.DRAIN) for b in sorted(gone)]
    return dict(rebalance(parts, [*brokers, *drained]).wanted)
