"""When a log directory has failed: its broker says so (DescribeLogDirs, KAFKA_STORAGE_ERROR). Pure.

Of a broker that is not in the cluster nobody can know; that is told as `broker-down`.
"""

from collections.abc import Sequence

from controlplane.alerts.conditions.types import MEMBERS_SHOWN, Condition, Key, Verdict, named
from controlplane.alerts.fact_types import BrokerFact, ClusterFacts, FailedDir
from controlplane.alerts.overrides import Setting, Tuning
from controlplane.alerts.rules import BY_ID
from controlplane.clusters.capacity import MAIN
from controlplane.common.words import counted

RULE = BY_ID["log-directory-failed"]
NAMED, PATH_SHOWN = 3, 60
Failed = Sequence[tuple[BrokerFact, Sequence[FailedDir]]]


def judge(cluster: ClusterFacts, tuning: Tuning) -> Verdict:
    found = Verdict()
    setting = tuning.of(RULE.id, cluster.id)
    if not setting.enabled:
        return found
    if cluster.brokers is None:
        why = cluster.away or "its brokers are not known"
        found.unknown_at(cluster.id, why, RULE.id)
        return found
    live = [broker for broker in cluster.brokers if broker.live]
    failed = [(broker, broker.failed_dirs) for broker in live if broker.failed_dirs]
    if failed:
        found.holds.append(_condition(cluster, failed, setting))
    elif any(broker.failed_dirs is None for broker in live):
        why = "some brokers did not say whether their log directories work"
        found.unknown_at(cluster.id, why, RULE.id)
    return found


def _condition(cluster: ClusterFacts, failed: Failed, setting: Setting) -> Condition:
    names = tuple(str(broker.id) for broker, _ in failed)
    parts = [_called(one, broker.id, cluster) for broker, dirs in failed for one in dirs]
    few = counted(len(parts), "log directory has", "log directories have")
    return Condition(
        key=Key(RULE.id, cluster.id),
        severity=setting.at_least(RULE.severity),
        summary=f"{cluster.name}: {few} failed, {named(parts, len(parts), NAMED)}: replicas that"
        " lie there are offline.",
        values={"directory": _removable(failed), "directories": len(parts)},
        members=names[:MEMBERS_SHOWN],
        count=len(names),
        unit="brokers",
        brokers=frozenset(broker.id for broker, _ in failed),
    )


def _called(one: FailedDir, broker: int, cluster: ClusterFacts) -> str:
    """Paths of hosts are their operators'; brokers that others run have no other name for it."""
    if one.name:
        return f"broker {broker}'s {one.name}"
    if cluster.is_managed:
        return f"a log directory of broker {broker}"
    # Of a long path the end tells directories apart.
    path = one.path if len(one.path) <= PATH_SHOWN else f"…{one.path[-PATH_SHOWN:]}"
    return f"broker {broker}'s {path}"


def _removable(failed: Failed) -> str | None:
    """The one that a plan can take away and have made anew; the first of a broker never is."""
    if len(failed) != 1 or len(failed[0][1]) != 1:
        return None
    name = failed[0][1][0].name
    return name if name and name != MAIN else None
