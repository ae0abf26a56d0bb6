"""Rules about partitions: offline, behind, below their least in-sync replicas. Pure."""

from collections.abc import Callable, Iterable, Mapping

from controlplane.alerts.conditions.types import (
    MEMBERS_SHOWN,
    Blame,
    Condition,
    Key,
    Verdict,
    named,
)
from controlplane.alerts.fact_types import ClusterFacts, Trouble
from controlplane.alerts.overrides import Tuning
from controlplane.alerts.rules import BY_ID
from controlplane.common.words import counted

Part = Callable[[Trouble], Mapping[frozenset[int], tuple[int, ...]]]
OF: Mapping[str, tuple[Part, str]] = {
    "partitions-offline": (lambda each: each.offline, "without a leader"),
    "partitions-under-replicated": (lambda each: each.under_replicated, "lacking replicas in sync"),
    "partitions-under-min-isr": (lambda each: each.under_min_isr, "refusing acks=all"),
}


def judge(cluster: ClusterFacts, tuning: Tuning) -> Verdict:
    found = Verdict()
    if cluster.troubles is None:
        found.unknown_at(cluster.id, cluster.away or "its topics could not be read", *OF)
        return found
    for rule_id, (part, what) in OF.items():
        blames = _blames(rule_id, cluster, cluster.troubles, part, tuning)
        if blames:
            found.holds.append(_condition(rule_id, cluster, blames, what, tuning))
        elif rule_id == "partitions-under-min-isr" and not cluster.min_isr_known:
            found.unknown_at(cluster.id, "the topics' settings are not known", rule_id)
    return found


def _blames(
    rule_id: str, cluster: ClusterFacts, troubles: Iterable[Trouble], part: Part, tuning: Tuning
) -> tuple[Blame, ...]:
    names: dict[frozenset[int], list[str]] = {}
    counts: dict[frozenset[int], int] = {}
    for trouble in troubles:
        if not tuning.of(rule_id, cluster.id, topic=trouble.topic).enabled:
            continue
        for brokers, partitions in part(trouble).items():
            counts[brokers] = counts.get(brokers, 0) + len(partitions)
            room = MEMBERS_SHOWN - len(names.setdefault(brokers, []))
            names[brokers] += [f"{trouble.topic}-{number}" for number in partitions[:room]]
    return tuple(
        Blame(brokers, counts[brokers], tuple(names[brokers]))
        for brokers in sorted(counts, key=sorted)
    )


def _condition(
    rule_id: str, cluster: ClusterFacts, blames: tuple[Blame, ...], what: str, tuning: Tuning
) -> Condition:
    count = sum(blame.count for blame in blames)
    members = tuple(name for blame in blames for name in blame.names)[:MEMBERS_SHOWN]
    return Condition(
        key=Key(rule_id, cluster.id),
        severity=tuning.of(rule_id, cluster.id).at_least(BY_ID[rule_id].severity),
        summary=f"{cluster.name}: {counted(count, 'partition')} {what}: {named(members, count)}.",
        values={"partitions": count},
        members=members,
        count=count,
        unit="partitions",
        blames=blames,
    )
