"""Bytes and replicas into their bands by single moves, from the fullest to the emptiest.

A move is made only when it brings two brokers nearer to each other and one of them is out of the
band, so the sum of the squared distances from the band falls with every one of them: that ends,
and a plan of its own result is empty. What balances replicas must not do harm to bytes.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from controlplane.reassignments.planner.band import Band, band_of, is_between
from controlplane.reassignments.planner.coldest import ColdestFirst
from controlplane.reassignments.planner.placement import Placement
from controlplane.reassignments.planner.types import BYTES_TOLERANCE, REPLICAS_TOLERANCE, Basis


class Measure:
    """One load of every target, by weight, and its band. `one` is what one replica counts."""

    def __init__(
        self,
        placement: Placement,
        loads: Sequence[int],
        fixed: Sequence[int],
        one: Callable[[int], int],
        tolerance: float,
    ) -> None:
        targets, weights = placement.targets, placement.weight
        self.one = one
        self._loads = loads
        self._weights = weights
        self.band: Band = band_of(
            [loads[i] for i in targets],
            [fixed[i] for i in targets],
            [weights[i] for i in targets],
            tolerance=tolerance,
        )

    def of(self, broker: int) -> float:
        return self._loads[broker] / self._weights[broker]

    def key(self, broker: int) -> tuple[float, ...]:
        return (self.of(broker),)

    def brings_nearer(self, source: int, target: int, amount: float) -> bool:
        return is_between(
            self.of(source),
            self.of(target),
            amount / self._weights[source],
            amount / self._weights[target],
        )

    def does_no_harm(self, source: int, target: int, amount: float) -> bool:
        """Both stay in the band, or come nearer to each other."""
        if amount == 0 or self.brings_nearer(source, target, amount):
            return True
        after = self.of(source) - amount / self._weights[source]
        taken = self.of(target) + amount / self._weights[target]
        band = self.band
        return (
            band.holds(self.of(source))
            and band.holds(self.of(target))
            and band.holds(after)
            and band.holds(taken)
        )


def bytes_of(placement: Placement) -> Measure:
    fixed = [broker.fixed_bytes or 0 for broker in placement.brokers]
    sizes = placement.sizes
    return Measure(placement, placement.loads, fixed, sizes.__getitem__, BYTES_TOLERANCE)


def replicas_of(placement: Placement) -> Measure:
    fixed = [broker.fixed_replicas for broker in placement.brokers]
    tolerance = REPLICAS_TOLERANCE if placement.basis is Basis.BYTES else 0.0
    return Measure(placement, placement.counts, fixed, lambda _: 1, tolerance)


def balance_bytes(placement: Placement) -> bool:
    """One pass over the fullest brokers. True when anything moved."""
    measure = bytes_of(placement)
    return any(_BytesPass(placement, measure, None, modest=m).run() for m in (True, False))


def balance_replicas(placement: Placement) -> bool:
    """One pass; where sizes are known, no move takes a broker's bytes out of their band."""
    guard = bytes_of(placement) if placement.basis is Basis.BYTES else None
    measure = replicas_of(placement)
    return any(_ReplicasPass(placement, measure, guard, modest=m).run() for m in (True, False))


class _Pass(ABC):
    """From each broker, the fullest first, to the least loaded that may have it.

    Modest: nobody in the band gives more than it has above the level, so all givers share.
    """

    def __init__(
        self, placement: Placement, measure: Measure, guard: Measure | None, *, modest: bool
    ) -> None:
        self._placement = placement
        self._measure = measure
        self._guard = guard
        self._modest = modest
        self._cold = ColdestFirst(placement.targets, measure.key)

    def run(self) -> bool:
        """True when anything moved."""
        measure = self._measure
        hottest = sorted(self._placement.targets, key=lambda b: (-measure.of(b), b))
        moved = False
        for source in hottest:
            if self._wanted_from(source):
                moved |= self._give(source)
        return moved

    @abstractmethod
    def _give(self, source: int) -> bool:
        """Move what should leave this broker; True when anything did."""

    def _wanted_from(self, source: int) -> bool:
        measure = self._measure
        return measure.band.wants(measure.of(source), measure.of(self._cold.first()))

    def _may_spare(self, source: int, amount: int) -> bool:
        given = amount / self._placement.weight[source]
        return not self._modest or self._measure.band.spares(self._measure.of(source), given)

    def _to_coldest(self, number: int, source: int, closed: set[int]) -> bool:
        """Move one replica; False when no broker may have it.

        `closed` are brokers whose bytes bear no more of this source's replicas. Those are offered
        with growing sizes, so a broker once refused is refused for the rest.
        """
        placement, measure, guard = self._placement, self._measure, self._guard
        racks = placement.racks
        replicas = placement.replicas[number]
        blocked = placement.blocked_racks(number, source)
        here = measure.of(source)
        amount = measure.one(number)
        for target in self._cold:
            if not measure.band.wants(here, measure.of(target)):
                return False
            if racks[target] in blocked or target in replicas or target in closed:
                continue
            if not measure.brings_nearer(source, target, amount):
                continue
            if guard is not None and not guard.does_no_harm(
                source, target, placement.sizes[number]
            ):
                closed.add(target)
                continue
            if not placement.may_change(number):
                return False
            placement.move(number, source, target)
            self._cold.update(source)
            self._cold.update(target)
            return True
        return False


class _BytesPass(_Pass):
    def _give(self, source: int) -> bool:
        """First the largest that are needed whole, then the smallest of those that are more."""
        placement, measure, cold = self._placement, self._measure, self._cold
        sizes = placement.sizes
        larger: list[int] = []
        moved = False
        for number in sorted(placement.held[source], key=lambda p: (-sizes[p], p)):
            if not sizes[number]:
                break
            if not self._wanted_from(source):
                return moved
            need = measure.band.need(measure.of(source), measure.of(cold.first()))
            if sizes[number] > need * placement.weight[source]:
                larger.append(number)
            else:
                moved |= self._to_coldest(number, source, set())
        for number in reversed(larger):
            if not self._wanted_from(source) or not self._may_spare(source, sizes[number]):
                break
            if not measure.brings_nearer(source, cold.first(), sizes[number]):
                # Those that follow are larger still. Only another weight could bear one of them.
                if max(placement.weight) == min(placement.weight):
                    break
                continue
            moved |= self._to_coldest(number, source, set())
        return moved


class _ReplicasPass(_Pass):
    def _give(self, source: int) -> bool:
        """The smallest first: replicas are to be balanced, and bytes to stay where they are."""
        placement = self._placement
        order = sorted(
            placement.held[source],
            key=lambda p: (placement.sizes[p], placement.replicas[p][0] == source, p),
        )
        closed: set[int] = set()
        moved = False
        for number in order:
            if not self._wanted_from(source) or not self._may_spare(source, 1):
                break
            if len(closed) >= len(placement.targets) - 1:
                break
            moved |= self._to_coldest(number, source, closed)
        return moved
