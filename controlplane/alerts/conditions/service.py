"""Rules about the service itself: collector, Spark, ZooKeeper, certificates, keys, limits. Pure."""

from datetime import datetime

from controlplane.alerts.conditions.types import MEMBERS_SHOWN, Condition, Key, Verdict, named, span
from controlplane.alerts.fact_types import ClusterFacts, TenantFacts
from controlplane.alerts.overrides import Tuning
from controlplane.alerts.rules import BY_ID, Severity


def judge_cluster(cluster: ClusterFacts, tuning: Tuning, now: datetime) -> Verdict:
    found = Verdict()
    _collector(found, cluster, tuning, now)
    _certificates(found, cluster, tuning, now)
    return found


def judge_tenant(facts: TenantFacts, tuning: Tuning, now: datetime) -> Verdict:
    found = Verdict()
    _spark(found, facts, tuning, now)
    _zookeeper(found, facts, tuning)
    _keys(found, facts, tuning, now)
    _limits(found, facts, tuning)
    return found


def is_sampled_late(cluster: ClusterFacts, tuning: Tuning, now: datetime) -> bool:
    """One that was never sampled counts from when it was made."""
    late_s = tuning.of("collector-late", cluster.id).number("late_s")
    return (now - (cluster.sampled_at or cluster.created_at)).total_seconds() > late_s


def _collector(found: Verdict, cluster: ClusterFacts, tuning: Tuning, now: datetime) -> None:
    rule = BY_ID["collector-late"]
    setting = tuning.of(rule.id, cluster.id)
    if not setting.enabled or not is_sampled_late(cluster, tuning, now):
        return
    age_s = (now - (cluster.sampled_at or cluster.created_at)).total_seconds()
    because = f": {cluster.sample_error}" if cluster.sample_error else ""
    last = "it was never sampled" if cluster.sampled_at is None else f"{span(age_s)} ago"
    found.holds.append(
        Condition(
            key=Key(rule.id, cluster.id),
            severity=setting.at_least(rule.severity),
            summary=f"{cluster.name}: last sample of offsets: {last}{because}. How its groups do"
            " is not known.",
            values={"age_s": round(age_s)},
        )
    )


def _certificates(found: Verdict, cluster: ClusterFacts, tuning: Tuning, now: datetime) -> None:
    rule = BY_ID["certificate-ending"]
    setting = tuning.of(rule.id, cluster.id)
    if not setting.enabled:
        return
    left = {broker: (ends_at - now).total_seconds() for broker, ends_at in cluster.certificates}
    ending = {
        broker: left_s for broker, left_s in left.items() if left_s <= setting.number("left_s")
    }
    if not ending:
        return
    first_s = min(ending.values())
    severity = Severity.CRITICAL if first_s <= setting.number("critical_s") else rule.severity
    names = tuple(str(broker) for broker in sorted(ending, key=lambda each: ending[each]))
    when = "has ended" if first_s <= 0 else f"ends in {span(first_s)}"
    found.holds.append(
        Condition(
            key=Key(rule.id, cluster.id),
            severity=setting.at_least(severity),
            summary=f"{cluster.name}: the first certificate {when}; broker"
            f" {named(names, len(names))}.",
            values={"left_s": round(first_s)},
            members=names[:MEMBERS_SHOWN],
            count=len(names),
            unit="brokers",
        )
    )


def _spark(found: Verdict, facts: TenantFacts, tuning: Tuning, now: datetime) -> None:
    """Clusters that are sampled and not judged; one without samples is the collector's matter."""
    rule = BY_ID["spark-late"]
    late: dict[str, float] = {}
    for cluster in facts.clusters:
        setting = tuning.of(rule.id, cluster.id)
        if not setting.enabled or cluster.away or is_sampled_late(cluster, tuning, now):
            continue
        age_s = (now - (cluster.judged_at or cluster.created_at)).total_seconds()
        if age_s > setting.number("late_s"):
            late[cluster.name] = age_s
    if late:
        names = tuple(sorted(late, key=lambda each: -late[each]))
        found.holds.append(
            Condition(
                key=Key(rule.id),
                severity=tuning.of(rule.id).at_least(rule.severity),
                summary=f"No analytics for {span(max(late.values()))}: {named(names, len(names))}.",
                values={"age_s": round(max(late.values()))},
                members=names[:MEMBERS_SHOWN],
                count=len(names),
                unit="clusters",
            )
        )


def _zookeeper(found: Verdict, facts: TenantFacts, tuning: Tuning) -> None:
    rule = BY_ID["zookeeper-unreachable"]
    setting = tuning.of(rule.id)
    if not facts.zookeeper or not setting.enabled:
        return
    names = tuple(sorted(cluster.name for cluster in facts.clusters if cluster.is_managed))
    found.holds.append(
        Condition(
            key=Key(rule.id),
            severity=setting.at_least(rule.severity),
            # What it said may name other tenants' hosts.
            summary="ZooKeeper does not answer the control plane; no leader is replaced on"
            f" {named(names, len(names))} while it is away from the brokers too.",
            members=names[:MEMBERS_SHOWN],
            count=len(names),
            unit="clusters",
        )
    )


def _keys(found: Verdict, facts: TenantFacts, tuning: Tuning, now: datetime) -> None:
    rule = BY_ID["key-ending"]
    setting = tuning.of(rule.id)
    if not setting.enabled:
        return
    ending: dict[str, float] = {}
    for key in facts.keys:
        left_s = (key.ends_at - now).total_seconds()
        life_s = (key.ends_at - key.made_at).total_seconds()
        if 0 < left_s <= min(setting.number("left_s"), life_s * setting.number("left_share")):
            ending[key.name] = left_s
    if ending:
        names = tuple(sorted(ending, key=lambda each: ending[each]))
        found.holds.append(
            Condition(
                key=Key(rule.id),
                severity=setting.at_least(rule.severity),
                summary=f"API keys end soon, the first in {span(min(ending.values()))}:"
                f" {named(names, len(names))}.",
                values={"left_s": round(min(ending.values()))},
                members=names[:MEMBERS_SHOWN],
                count=len(names),
                unit="keys",
            )
        )


def _limits(found: Verdict, facts: TenantFacts, tuning: Tuning) -> None:
    rule = BY_ID["quota-hit"]
    setting = tuning.of(rule.id)
    if not setting.enabled:
        return
    near = [
        limit
        for limit in facts.limits
        if limit.most > 0 and limit.used / limit.most >= setting.number("used_share")
    ]
    if not near:
        return
    texts = tuple(f"{limit.name} {limit.used} of {limit.most}" for limit in near)
    is_full = any(limit.used >= limit.most for limit in near)
    found.holds.append(
        Condition(
            key=Key(rule.id),
            severity=setting.at_least(rule.severity if is_full else Severity.INFO),
            summary=f"The tenant's share is {'' if is_full else 'nearly '}used up:"
            f" {named(texts, len(texts))}.",
            values={limit.name: limit.used for limit in near},
            members=tuple(limit.name for limit in near),
            count=len(near),
            unit="limits",
        )
    )
