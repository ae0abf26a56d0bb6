"""The band that a load should be in, and what counts as a step towards it."""

from collections.abc import Sequence
from dataclasses import dataclass

EPSILON = 1e-9
"""By share of the larger load; what differs by less is rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Loads are by weight: bytes, or replicas, of a broker of mean capacity.

    Attributes:
        level: what each broker would have were everything divisible.
        gap_min: two brokers that differ by no more are left alone.
    """

    level: float
    low: float
    high: float
    gap_min: float

    def wants(self, source: float, target: float) -> bool:
        """Whether something should go from one to the other at all."""
        return (source > self.high or target < self.low) and source - target > self.gap_min

    def need(self, source: float, target: float) -> float:
        """The least that brings both into the band, as far as one can help the other."""
        wanted = max(source - self.high, min(self.low - target, source - self.level))
        return max(wanted, 0.0)

    def spares(self, source: float, give: float) -> bool:
        """Whether the source is over its band, or keeps its share when it gives so much."""
        return source > self.high or source - give >= self.level * (1 - EPSILON)

    def holds(self, load: float) -> bool:
        return self.low <= load <= self.high


def band_of(
    loads: Sequence[float], fixed: Sequence[float], weights: Sequence[float], *, tolerance: float
) -> Band:
    """The band around the level at which `loads` would stand even.

    A broker whose fixed load alone is above the level takes no part: nothing can lower it, and
    the others share what is left.
    """
    movable = sum(loads) - sum(fixed)
    rows = list(range(len(loads)))
    level = 0.0
    while rows:
        level = (movable + sum(fixed[i] for i in rows)) / sum(weights[i] for i in rows)
        fit = [i for i in rows if fixed[i] / weights[i] <= level]
        if len(fit) in (0, len(rows)):
            break
        rows = fit
    slack = level * tolerance
    return Band(level=level, low=level - slack, high=level + slack, gap_min=slack)


def is_between(source: float, target: float, give: float, take: float) -> bool:
    """Both end strictly between where they were, so that the two are nearer to each other."""
    return max(give, take) < source - target - source * EPSILON
