"""What was measured and how it is judged: goals, ratios, medians. Pure."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CLIENT_PERCENT_MAX = 90
"""Of one core. From here on the generator, not the broker, may be what is measured."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound on a figure's ratio to Kafka or to the floor, or on the figure `itself`."""

    bound: float
    at_least: bool
    of: Literal["Kafka", "floor", "itself"] = "Kafka"

    def is_reached(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{sign} {self.bound:g}" + ("" if self.of == "Kafka" else f" ({self.of})")


def ratio_at_least(bound: float) -> Goal:
    return Goal(bound, at_least=True)


def ratio_at_most(bound: float) -> Goal:
    return Goal(bound, at_least=False)


def floor_at_most(bound: float) -> Goal:
    return Goal(bound, at_least=False, of="floor")


def value_at_least(bound: float) -> Goal:
    return Goal(bound, at_least=True, of="itself")


def value_at_most(bound: float) -> Goal:
    return Goal(bound, at_least=False, of="itself")


@dataclass(slots=True)
class Row:
    """One figure: a sample a round, ours, Kafka's and the floor's of one round side by side.

    `limit` says in words what the machine itself does, measured in the same run.
    """

    name: str
    unit: str
    ours: list[float]
    kafka: list[float] = field(default_factory=list)
    goal: Goal | None = None
    limit: str = ""
    floor: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """Ours to Kafka's, round by round: what loads the machine then loads both."""
        return _ratios(self.ours, self.kafka)

    @property
    def floor_ratios(self) -> list[float]:
        return _ratios(self.ours, self.floor)

    @property
    def is_reached(self) -> bool | None:
        """None when there is no goal, or nothing to compare with."""
        if self.goal is None:
            return None
        values = {"Kafka": self.ratios, "floor": self.floor_ratios, "itself": self.ours}[
            self.goal.of
        ]
        return self.goal.is_reached(statistics.median(values)) if values else None


def _ratios(ours: list[float], peers: list[float]) -> list[float]:
    return [our / peer for our, peer in zip(ours, peers, strict=False) if peer]


def client_share(samples: Mapping[str, Sequence[Mapping[str, float]]]) -> str:
    """What of a core the generator took beside each side; a side that it held up is marked."""
    sides = {name: statistics.median(s["client"] for s in each) for name, each in samples.items()}
    percents = "/".join(
        f"{percent:.0f}{'!' if percent >= CLIENT_PERCENT_MAX else ''}" for percent in sides.values()
    )
    return f"client {percents} %"


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
