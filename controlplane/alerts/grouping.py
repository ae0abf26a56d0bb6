"""One alert by cause: what a cause explains is counted inside it. Pure.

| cause | explains, on the same cluster |
|---|---|
| cluster-away | all that is read from the cluster or its telemetry |
| broker-down | partitions that lack no other broker, a missing controller, that broker's restarts |
| broker-restarting | partitions that lack no other broker |
| log-directory-failed | partitions that lack no other broker |
| group-losing-data | that the same group stopped, stalls or falls behind |
| these four | that the same group burns its lag objective, on topics that they are about |
| zookeeper-unreachable | a missing controller of managed clusters |

What is raised already stays an alert of its own: only a new one is taken into its cause.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from controlplane.alerts.conditions.types import (
    MEMBERS_SHOWN,
    Blame,
    Condition,
    Consequence,
    Key,
    named,
)
from controlplane.alerts.host_rules import EVERY_BY_ID
from controlplane.alerts.rules import BY_ID, Reach, Severity
from controlplane.common.words import counted

ALERTS_A_RULE = 50
"""Of one rule on one cluster: what is beyond shares one alert."""
OF_BROKERS = ("broker-down", "broker-restarting", "log-directory-failed")
PARTITIONS = frozenset(
    {"partitions-offline", "partitions-under-replicated", "partitions-under-min-isr"}
)
WRITES_FAIL = frozenset({"partitions-offline", "partitions-under-min-isr"})
BY_CLUSTER: Mapping[str, frozenset[str]] = {
    "cluster-away": frozenset(
        {
            *(rule.id for rule in BY_ID.values() if rule.reach in {Reach.GROUP, Reach.TOPIC}),
            *PARTITIONS,
            *OF_BROKERS,
            "disk-filling",
            "controller-missing",
            "collector-late",
        }
    ),
    "broker-down": frozenset({"controller-missing"}),
}
BURNING = "objective-burning"
LATE = ("group-stopped", "group-stalled", "group-falling-behind")
BY_GROUP: Mapping[str, frozenset[str]] = {
    "group-losing-data": frozenset({*LATE, BURNING}),
    **dict.fromkeys(LATE, frozenset({BURNING})),
}


@dataclass(slots=True)
class _Causes:
    """Conditions that may explain others, with what they have taken in.

    Attributes:
        burnt: by cause, how bad the burn is that was taken into it.
    """

    taken: dict[Key, dict[str, int]] = field(default_factory=dict)
    burnt: dict[Key, Severity] = field(default_factory=dict)

    def take(self, cause: Key, rule: str, count: int) -> None:
        found = self.taken.setdefault(cause, {})
        found[rule] = found.get(rule, 0) + count


def grouped(
    holds: Iterable[Condition],
    *,
    raised: Collection[Key] = (),
    lingering: Mapping[Key, frozenset[int]] | None = None,
    managed: Collection[str] = (),
) -> list[Condition]:
    """The conditions of one tenant, those that others explain taken into them.

    Args:
        holds: what holds, each key once.
        raised: alerts that fire or are acknowledged.
        lingering: of these the ones about brokers, whose replicas may still be catching up
            although the broker is back: they explain too.
        managed: ids of clusters whose controller is chosen by the service's ZooKeeper.
    """
    by_key = {each.key: each for each in holds}
    blamed = _blamed(by_key, lingering or {})
    causes = _Causes()
    kept: dict[Key, Condition] = {}
    for key, condition in by_key.items():
        cause = None if key in raised else _last_cause(key, by_key, managed, raised)
        if cause is not None:
            causes.take(cause, key.rule, condition.count)
            if key.rule == BURNING:
                causes.burnt[cause] = condition.severity
            continue
        if key.rule in PARTITIONS and key not in raised:
            left = _unexplained(condition, blamed.get(key.cluster_id, {}), causes)
            if left is None:
                continue
            condition = left
        kept[key] = condition
    found = [
        _with_consequences(each, causes.taken.get(each.key, {}), causes.burnt.get(each.key))
        for each in kept.values()
    ]
    return bounded(found, raised)


def _blamed(
    by_key: Mapping[Key, Condition], lingering: Mapping[Key, frozenset[int]]
) -> dict[str, dict[int, Key]]:
    """By cluster and broker, the alert that is about it."""
    found: dict[str, dict[int, Key]] = {}
    for rule in reversed(OF_BROKERS):
        for key, brokers in lingering.items():
            if key.rule == rule:
                found.setdefault(key.cluster_id, {}).update(dict.fromkeys(brokers, key))
        for key, condition in by_key.items():
            if key.rule == rule:
                found.setdefault(key.cluster_id, {}).update(dict.fromkeys(condition.brokers, key))
    return found


def _last_cause(
    key: Key, by_key: Mapping[Key, Condition], managed: Collection[str], raised: Collection[Key]
) -> Key | None:
    """The cause that is an alert of its own: one that is explained itself hands on what it has."""
    cause = _cause_of(key, by_key, managed)
    while cause is not None and cause not in raised:
        further = _cause_of(cause, by_key, managed)
        if further is None:
            break
        cause = further
    return cause


def _is_about(burn: Condition, cause: Condition) -> bool:
    """Whether the group is late on all the topics of its burn; of many not all are named."""
    is_named = cause.count <= len(cause.members) and burn.count <= len(burn.members)
    return not is_named or set(burn.members) <= set(cause.members)


def _cause_of(key: Key, by_key: Mapping[Key, Condition], managed: Collection[str]) -> Key | None:
    for rule, explained in BY_CLUSTER.items():
        cause = Key(rule, key.cluster_id)
        if key.rule in explained and cause in by_key:
            return cause
    for rule, explained in BY_GROUP.items():
        cause = Key(rule, key.cluster_id, key.subject)
        if key.rule not in explained or cause not in by_key:
            continue
        if key.rule != BURNING or _is_about(by_key[key], by_key[cause]):
            return cause
    if key.rule == "controller-missing" and key.cluster_id in managed:
        cause = Key("zookeeper-unreachable")
        return cause if cause in by_key else None
    down = by_key.get(Key("broker-down", key.cluster_id))
    if key.rule == "broker-restarting" and down is not None:
        own = by_key[key].brokers
        return down.key if own <= down.brokers else None
    return None


def _unexplained(
    condition: Condition, blamed: Mapping[int, Key], causes: _Causes
) -> Condition | None:
    """What is left of partitions in trouble without those that lack nobody but such brokers."""
    left: list[Blame] = []
    for blame in condition.blames:
        found = {blamed.get(broker) for broker in blame.brokers}
        if not found or None in found:
            left.append(blame)
            continue
        cause = min(key for key in found if key is not None)
        causes.take(cause, condition.key.rule, blame.count)
    if len(left) == len(condition.blames):
        return condition
    if not left:
        return None
    count = sum(blame.count for blame in left)
    members = tuple(name for blame in left for name in blame.names)[:MEMBERS_SHOWN]
    return replace(
        condition,
        blames=tuple(left),
        count=count,
        members=members,
        summary=f"{counted(count, 'partition')} besides: {named(members, count)}.",
        values={**condition.values, "partitions": count},
    )


def _with_consequences(
    condition: Condition, taken: Mapping[str, int], burnt: Severity | None
) -> Condition:
    """A cause is as bad as the burn inside it: an objective that wakes somebody still does."""
    if not taken:
        return condition
    rows = tuple(Consequence(rule, count) for rule, count in sorted(taken.items()))
    is_harmful = condition.key.rule in OF_BROKERS and bool(WRITES_FAIL & taken.keys())
    parts = [f"{BY_ID[row.rule].title.lower()} ({row.count})" for row in rows]
    severities = (condition.severity, burnt or condition.severity)
    severity = max(severities, key=lambda each: each.rank)
    return replace(
        condition,
        consequences=rows,
        severity=Severity.CRITICAL if is_harmful else severity,
        summary=f"{condition.summary} With it: {', '.join(parts)}.",
    )


def bounded(conditions: list[Condition], raised: Collection[Key]) -> list[Condition]:
    """At most `ALERTS_A_RULE` of one rule on one cluster, and one more for all others.

    Those that are raised keep their own, so that the bound moves no alert about.
    """
    groups: dict[tuple[str, str], list[Condition]] = {}
    for each in conditions:
        groups.setdefault((each.key.rule, each.key.cluster_id), []).append(each)
    found: list[Condition] = []
    for (rule, cluster_id), rows in groups.items():
        if len(rows) <= ALERTS_A_RULE:
            found += rows
            continue
        rows.sort(key=lambda row: (row.key not in raised, -row.severity.rank, row.key))
        found += rows[:ALERTS_A_RULE]
        found.append(_the_others(Key(rule, cluster_id), rows[ALERTS_A_RULE:]))
    return found


def _the_others(key: Key, rows: list[Condition]) -> Condition:
    names = tuple(row.key.subject for row in rows)
    return Condition(
        key=key,
        severity=max((row.severity for row in rows), key=lambda each: each.rank),
        summary=f"{EVERY_BY_ID[key.rule].title}: {named(names, len(names))}, beside others that"
        " have an alert each.",
        values={"count": len(rows)},
        # Names would make each newcomer news: of so many the number is what is said.
        count=len(rows),
        unit=rows[0].unit,
    )
