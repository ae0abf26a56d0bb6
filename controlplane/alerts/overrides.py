"""Which thresholds hold where: a rule's defaults, and what a tenant has set instead. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from controlplane.alerts.host_rules import EVERY_BY_ID
from controlplane.alerts.rules import Rule, Severity


class Resource(StrEnum):
    """What an override keeps to within its clusters; empty: nothing."""

    ALL = ""
    GROUP = "group"
    TOPIC = "topic"


class Match(StrEnum):
    LITERAL = "literal"
    PREFIX = "prefix"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tweak:
    """An override. What it leaves null stays as the wider ones, at last the rule, have it."""

    rule: str
    cluster_id: str | None = None
    resource: Resource = Resource.ALL
    match: Match = Match.LITERAL
    name: str = ""
    thresholds: Mapping[str, float | None] = field(default_factory=dict)
    severity: Severity | None = None
    enabled: bool | None = None

    def covers(self, cluster_id: str, group: str, topic: str) -> bool:
        if self.cluster_id is not None and self.cluster_id != cluster_id:
            return False
        if self.resource is Resource.ALL:
            return True
        # Nothing has an empty name: what is not known is not covered.
        name = group if self.resource is Resource.GROUP else topic
        if not name:
            return False
        return name == self.name if self.match is Match.LITERAL else name.startswith(self.name)

    @property
    def narrowness(self) -> tuple[bool, bool, int, bool]:
        is_named = self.resource is not Resource.ALL
        return (
            is_named,
            is_named and self.match is Match.LITERAL,
            len(self.name) if is_named else 0,
            self.cluster_id is not None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How a rule is set for one thing."""

    thresholds: Mapping[str, float | None]
    severity: Severity | None = None
    enabled: bool = True

    def number(self, name: str) -> float:
        """A threshold that has a default."""
        value = self.thresholds[name]
        if value is None:
            raise ValueError(f"{name} has no value")
        return value

    def at_least(self, severity: Severity) -> Severity:
        """What is said in place of `severity`: the tenant's own word where there is one."""
        return self.severity or severity


class Tuning:
    """The overrides of one tenant."""

    def __init__(self, tweaks: Iterable[Tweak] = ()) -> None:
        self._by_rule: dict[str, list[Tweak]] = {}
        for tweak in sorted(tweaks, key=lambda each: each.narrowness):
            self._by_rule.setdefault(tweak.rule, []).append(tweak)
        self._plain = {rule.id: Setting(thresholds=rule.defaults) for rule in EVERY_BY_ID.values()}

    def of(self, rule: str, cluster_id: str = "", *, group: str = "", topic: str = "") -> Setting:
        """The narrowest that says something wins, for each number by itself."""
        tweaks = self._by_rule.get(rule)
        if not tweaks:
            return self._plain[rule]
        thresholds = dict(EVERY_BY_ID[rule].defaults)
        severity, enabled = None, True
        for tweak in tweaks:
            if not tweak.covers(cluster_id, group, topic):
                continue
            thresholds.update(tweak.thresholds)
            severity = tweak.severity or severity
            enabled = enabled if tweak.enabled is None else tweak.enabled
        return Setting(thresholds=thresholds, severity=severity, enabled=enabled)


def fault(rule: Rule, thresholds: Mapping[str, float | None]) -> tuple[str, str]:
    """(threshold, why) of what cannot be so; ("", "") when it can."""
    known = {each.name: each for each in rule.thresholds}
    for name, value in thresholds.items():
        if name not in known:
            names = ", ".join(known) or "none"
            return name, f"The rule has no threshold of this name; it has: {names}."
        bound = known[name]
        if value is None or not bound.least <= value <= bound.most:
            return name, f"It is a number from {bound.least:g} to {bound.most:g} {bound.unit}."
    return "", ""
