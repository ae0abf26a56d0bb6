"""What rules say of facts: what holds, and what nobody knows. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from controlplane.alerts.rules import Severity

Value = float | int | str | None
MEMBERS_SHOWN = 50
"""Names of what is inside one alert; the count says how many there are."""
SUMMARY_MAX = 300
TOUCHES_MAX = 100
"""More are not listed, and then only who sees the whole cluster may read of it."""
WHOLE_CLUSTER = ("cluster", "")


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Which alert: a rule at a subject of a cluster, or of the tenant (no cluster).

    The subject is empty for the cluster or tenant itself, else `group/…`, `topic/…`, `operation/…`.
    """

    rule: str
    cluster_id: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Blame:
    """Partitions that lack these brokers, and a few of their names."""

    brokers: frozenset[int]
    count: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Consequence:
    """What another rule would have said, had its cause not been known."""

    rule: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A rule that holds.

    Attributes:
        members: what it is about, the first of them; `count` is how many there are.
        brokers: those that are its cause, of rules about brokers.
        blames: of rules about partitions: which brokers those lack.
        touches: pairs [area, name] that a reader has to see; none: all of the cluster or tenant.
        unit: what is counted.
    """

    key: Key
    severity: Severity
    summary: str
    values: Mapping[str, Value] = field(default_factory=dict)
    members: tuple[str, ...] = ()
    count: int = 1
    unit: str = ""
    brokers: frozenset[int] = frozenset()
    blames: tuple[Blame, ...] = ()
    touches: tuple[tuple[str, str], ...] = ()
    consequences: tuple[Consequence, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known of a rule at a cluster or tenant; of one subject, or of all (null)."""

    rule: str
    cluster_id: str
    subject: str | None
    reason: str


@dataclass(slots=True)
class Verdict:
    """What holds and what is unknown; everything else is known not to hold."""

    holds: list[Condition] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)

    def add(self, other: "Verdict") -> None:
        self.holds += other.holds
        self.unknown += other.unknown

    def unknown_at(self, cluster_id: str, reason: str, *rules: str) -> None:
        self.unknown += [Unknown(rule, cluster_id, None, reason) for rule in rules]


def named(names: Iterable[str], count: int, shown: int = 5) -> str:
    """`a, b and 3 more`."""
    first = list(names)[:shown]
    more = count - len(first)
    text = ", ".join(first)
    return f"{text} and {more} more" if more > 0 else text


def span(seconds: float) -> str:
    """A time in one or two words, as people say it: `40 s`, `12 min`, `5 h`, `3 days`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    if seconds < 2 * 86_400:
        return f"{seconds / 3600:.0f} h"
    return f"{seconds / 86_400:.0f} days"


def touches(own: tuple[str, str], area: str, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Of what an alert is about, and of what else it names."""
    found = (own, *((area, name) for name in names[:TOUCHES_MAX]))
    return found if len(names) <= TOUCHES_MAX else (*found, WHOLE_CLUSTER)
