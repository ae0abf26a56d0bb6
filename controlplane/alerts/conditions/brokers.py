"""Rules about a cluster and its brokers: away, down, restarting, no controller. Pure."""

from datetime import datetime, timedelta

from controlplane.alerts.conditions.types import MEMBERS_SHOWN, Condition, Key, Verdict, named, span
from controlplane.alerts.fact_types import BrokerFact, ClusterFacts, Points
from controlplane.alerts.overrides import Setting, Tuning
from controlplane.alerts.rules import BY_ID, Severity

READ_FROM_BROKERS = ("broker-down", "controller-missing")


def judge(cluster: ClusterFacts, tuning: Tuning, now: datetime) -> Verdict:
    found = Verdict()
    _away(found, cluster, tuning, now)
    if cluster.brokers is None:
        found.unknown_at(cluster.id, cluster.away or "not observed", *READ_FROM_BROKERS)
    else:
        _down(found, cluster, cluster.brokers, tuning)
        _controller(found, cluster, cluster.brokers, tuning)
    _restarting(found, cluster, tuning, now)
    return found


def _away(found: Verdict, cluster: ClusterFacts, tuning: Tuning, now: datetime) -> None:
    rule = BY_ID["cluster-away"]
    setting = tuning.of(rule.id, cluster.id)
    if not cluster.away or not setting.enabled:
        return
    # That nobody looks is our own fault, and nothing is known to be broken.
    severity = rule.severity if cluster.is_refusing else Severity.WARNING
    seen_at = cluster.seen_at or cluster.created_at
    found.holds.append(
        Condition(
            key=Key(rule.id, cluster.id),
            severity=setting.at_least(severity),
            summary=f"{cluster.name}: {cluster.away}; it was last read"
            f" {span((now - seen_at).total_seconds())} ago."
            if cluster.seen_at
            else f"{cluster.name}: {cluster.away}; it was never read.",
            values={"seen_at": cluster.seen_at.isoformat() if cluster.seen_at else None},
        )
    )


def _down(
    found: Verdict, cluster: ClusterFacts, brokers: tuple[BrokerFact, ...], tuning: Tuning
) -> None:
    rule = BY_ID["broker-down"]
    setting = tuning.of(rule.id, cluster.id)
    down = sorted(broker.id for broker in brokers if not broker.live)
    if not down or not setting.enabled:
        return
    names = tuple(str(broker) for broker in down)
    one = len(down) == 1
    found.holds.append(
        Condition(
            key=Key(rule.id, cluster.id),
            severity=setting.at_least(rule.severity if one else Severity.CRITICAL),
            summary=f"{cluster.name}: {'broker' if one else 'brokers'} {named(names, len(names))}"
            f" {'is' if one else 'are'} not in the cluster.",
            values={"down": len(down), "brokers": len(brokers)},
            members=names[:MEMBERS_SHOWN],
            count=len(down),
            unit="brokers",
            brokers=frozenset(down),
        )
    )


def _controller(
    found: Verdict, cluster: ClusterFacts, brokers: tuple[BrokerFact, ...], tuning: Tuning
) -> None:
    """Brokers go on naming one that is gone until there is another."""
    rule = BY_ID["controller-missing"]
    setting = tuning.of(rule.id, cluster.id)
    named_id = cluster.controller_id
    is_there = any(broker.live and broker.id == named_id for broker in brokers)
    if is_there or not setting.enabled:
        return
    who = (
        "no broker is controller" if named_id is None else f"{named_id}, named controller, is gone"
    )
    found.holds.append(
        Condition(
            key=Key(rule.id, cluster.id),
            severity=setting.at_least(rule.severity),
            summary=f"{cluster.name}: {who}; no topic can be made, and no leader replaced.",
            values={"controller": named_id},
        )
    )


def _restarting(found: Verdict, cluster: ClusterFacts, tuning: Tuning, now: datetime) -> None:
    rule = BY_ID["broker-restarting"]
    setting = tuning.of(rule.id, cluster.id)
    if not setting.enabled or not cluster.is_managed:
        return  # nobody counts the starts of brokers that others run
    if cluster.brokers is None or not cluster.agents_known:
        found.unknown_at(cluster.id, "their agents' reports could not be read", rule.id)
        return
    starts = {
        broker.id: count
        for broker in cluster.brokers
        if (count := started(broker.starts, setting, now)) >= setting.number("restarts")
    }
    if not starts:
        return
    names = tuple(str(broker) for broker in sorted(starts))
    found.holds.append(
        Condition(
            key=Key(rule.id, cluster.id),
            severity=setting.at_least(rule.severity),
            summary=f"{cluster.name}: started again by the agent within"
            f" {span(setting.number('within_s'))}: broker "
            + named((f"{name} ({starts[int(name)]} times)" for name in names), len(names))
            + ".",
            values={"restarts": max(starts.values())},
            members=names[:MEMBERS_SHOWN],
            count=len(names),
            unit="brokers",
            brokers=frozenset(starts),
        )
    )


def started(starts: Points, setting: Setting, now: datetime) -> int:
    """Starts of a broker by its agent within the rule's time, as far as they were seen."""
    if not starts:
        return 0
    begin = now - timedelta(seconds=setting.number("within_s"))
    before = [count for at, count in starts if at < begin]
    first = before[-1] if before else starts[0][1]
    # An agent that was started anew counts from 0 again.
    return max(0, starts[-1][1] - first)
