"""What was measured and how it is judged: goals, ratios, medians. Pure."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound on a figure's ratio to Kafka, or on the figure itself where there is no peer."""

    bound: float
    at_least: bool
    of_ratio: bool = True

    def is_reached(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{sign} {self.bound:g}" if self.of_ratio else f"{sign} {self.bound:g} (itself)"


def ratio_at_least(bound: float) -> Goal:
    return Goal(bound, at_least=True)


def ratio_at_most(bound: float) -> Goal:
    return Goal(bound, at_least=False)


def value_at_least(bound: float) -> Goal:
    return Goal(bound, at_least=True, of_ratio=False)


def value_at_most(bound: float) -> Goal:
    return Goal(bound, at_least=False, of_ratio=False)


@dataclass(slots=True)
class Row:
    """One figure: a sample a round, ours and Kafka's of the same round beside each other.

    `limit` says in words what the machine itself does, measured in the same run.
    """

    name: str
    unit: str
    ours: list[float]
    kafka: list[float] = field(default_factory=list)
    goal: Goal | None = None
    limit: str = ""

    @property
    def ratios(self) -> list[float]:
        """Ours to Kafka's, round by round: what loads the machine then loads both."""
        return [ours / kafka for ours, kafka in zip(self.ours, self.kafka, strict=False) if kafka]

    @property
    def is_reached(self) -> bool | None:
        """None when there is no goal, or nothing to compare with."""
        if self.goal is None:
            return None
        values = self.ratios if self.goal.of_ratio else self.ours
        return self.goal.is_reached(statistics.median(values)) if values else None


def percentile(samples: list[float], percent: float) -> float:
    """By nearest rank. ValueError without samples."""
    if not samples:
        raise ValueError("no samples")
    ordered = sorted(samples)
    rank = -(-len(ordered) * percent // 100)  # rounded up
    return ordered[max(0, int(rank) - 1)]


def spread(values: list[float]) -> str:
    """`median (lowest–highest)`, three digits that count; `–` without values."""
    if not values:
        return "–"
    middle = short(statistics.median(values))
    if len(values) == 1:
        return middle
    return f"{middle} ({short(min(values))}–{short(max(values))})"


def short(value: float) -> str:
    """Three digits that count, no exponent."""
    if value == 0:
        return "0"
    magnitude = abs(value)
    if magnitude >= 100:
        return f"{value:,.0f}"
    if magnitude >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if magnitude >= 0.1 else f"{value:.3f}"
