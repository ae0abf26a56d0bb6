"""The table of tenants' alert rules: what about, how bad it is, how long it must hold. Pure.

Every threshold has a default that needs no tuning and a unit; tenants may override it for all of
theirs, a cluster, a group, or topics (`overrides`). `runbook` is a file of `deploy/runbooks`.
Rules about hosts, which are the operators', are in `host_rules`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

HOUR_S, DAY_S = 3600.0, 24 * 3600.0


class Severity(StrEnum):
    """By harm: nothing is lost, something will be, something is."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        return _RANKS[self]


_RANKS = {each: at for at, each in enumerate(Severity)}
SEVERITY_CHOICES = [(str(each), str(each)) for each in Severity]


class Reach(StrEnum):
    """What one alert of a rule is about."""

    TENANT = "tenant"
    CLUSTER = "cluster"
    GROUP = "group"
    TOPIC = "topic"
    OPERATION = "operation"
    HOST = "host"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A number of a rule, in `unit`; `default` is null where nobody but the tenant knows it."""

    name: str
    unit: str
    default: float | None
    least: float
    most: float
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is watched.

    Attributes:
        severity: what it is at the least; conditions raise it by the harm that they see.
        for_s: seconds that it must hold before it fires.
        clear_s: seconds that it must be gone before it resolves.
    """

    id: str
    title: str
    severity: Severity
    runbook: str
    reach: Reach
    for_s: float
    clear_s: float
    thresholds: tuple[Threshold, ...] = ()

    @property
    def defaults(self) -> dict[str, float | None]:
        return {each.name: each.default for each in self.thresholds}


def _seconds(name: str, default: float, what: str, *, least: float = 0.0) -> Threshold:
    return Threshold(name=name, unit="s", default=default, least=least, most=400 * DAY_S, what=what)


def _share(name: str, default: float, what: str) -> Threshold:
    return Threshold(name=name, unit="ratio", default=default, least=0.0, most=1.0, what=what)


def _rate(name: str, default: float, what: str) -> Threshold:
    """1 spends the whole budget in exactly the objective's time; what is slower is never asked."""
    return Threshold(name=name, unit="times", default=default, least=1.0, most=1e5, what=what)


W, C = Severity.WARNING, Severity.CRITICAL

RULES: tuple[Rule, ...] = (
    Rule(
        id="cluster-away",
        title="Cluster does not answer",
        severity=C,
        runbook="cluster-away",
        reach=Reach.CLUSTER,
        for_s=60,
        clear_s=30,
    ),
    Rule(
        id="group-falling-behind",
        title="Consumer group falls behind",
        severity=W,
        runbook="group-falling-behind",
        reach=Reach.GROUP,
        for_s=120,
        clear_s=120,
        thresholds=(_seconds("lag_s", 60.0, "Lag in time from which it counts"),),
    ),
    Rule(
        id="group-stopped",
        title="Consumer group has stopped",
        severity=W,
        runbook="group-stopped",
        reach=Reach.GROUP,
        for_s=30,
        clear_s=60,
        thresholds=(
            Threshold(
                name="lag_records",
                unit="records",
                default=1,
                least=1,
                most=1e15,
                what="Unread records from which it counts",
            ),
        ),
    ),
    Rule(
        id="group-stalled",
        title="Consumer group makes no progress",
        severity=W,
        runbook="group-stalled",
        reach=Reach.GROUP,
        for_s=60,
        clear_s=60,
    ),
    Rule(
        id="group-losing-data",
        title="Consumer group loses unread records",
        severity=W,
        runbook="group-losing-data",
        reach=Reach.GROUP,
        for_s=30,
        clear_s=120,
        thresholds=(
            _seconds("loss_in_s", DAY_S, "Time to the first loss at which it warns"),
            _seconds("critical_in_s", HOUR_S, "Time to the first loss at which it is critical"),
        ),
    ),
    Rule(
        id="retention-headroom",
        title="Retention leaves little time to read",
        severity=W,
        runbook="retention-headroom",
        reach=Reach.TOPIC,
        for_s=60,
        clear_s=120,
        thresholds=(
            _share("left_share", 0.2, "Share of the retention left to the oldest unread record"),
        ),
    ),
    Rule(
        id="objective-burning",
        title="Consumer group burns its lag objective",
        severity=Severity.INFO,
        runbook="objective-burning",
        reach=Reach.GROUP,
        for_s=60,
        clear_s=600,
        thresholds=(
            _rate("fast_rate", 14.4, "Rate of burn over 1 h and 5 min that is fast"),
            _rate("slow_rate", 6.0, "Rate of burn over 6 h and 30 min that is slow"),
            _seconds(
                "critical_in_s",
                6 * HOUR_S,
                "Time to the end of the budget at which a fast burn is critical",
            ),
        ),
    ),
    Rule(
        id="partitions-offline",
        title="Partitions without a leader",
        severity=C,
        runbook="partitions-unavailable",
        reach=Reach.CLUSTER,
        for_s=20,
        clear_s=30,
    ),
    Rule(
        id="partitions-under-replicated",
        title="Replicas are behind",
        severity=W,
        runbook="replicas-behind",
        reach=Reach.CLUSTER,
        for_s=120,
        clear_s=60,
    ),
    Rule(
        id="partitions-under-min-isr",
        title="Partitions that refuse acknowledged writes",
        severity=C,
        runbook="partitions-unavailable",
        reach=Reach.CLUSTER,
        for_s=20,
        clear_s=30,
    ),
    Rule(
        id="broker-down",
        title="Broker is not in the cluster",
        severity=W,
        runbook="broker-down",
        reach=Reach.CLUSTER,
        for_s=20,
        clear_s=60,
    ),
    Rule(
        id="broker-restarting",
        title="Broker is started again and again",
        severity=W,
        runbook="broker-restarting",
        reach=Reach.CLUSTER,
        for_s=0,
        clear_s=300,
        thresholds=(
            Threshold(
                name="restarts",
                unit="starts",
                default=3,
                least=1,
                most=1000,
                what="Starts of a broker by its agent",
            ),
            _seconds("within_s", 900.0, "Time in which they count", least=60.0),
        ),
    ),
    Rule(
        id="disk-filling",
        title="Disk fills up",
        severity=W,
        runbook="disk-full",
        reach=Reach.CLUSTER,
        for_s=60,
        clear_s=300,
        thresholds=(
            Threshold(
                name="capacity_bytes",
                unit="bytes",
                default=None,
                least=1,
                most=1e18,
                what="What a broker's log disks hold, where nothing else says it",
            ),
            _share("used_share", 0.8, "Share used at which it warns"),
            _share("critical_share", 0.9, "Share used at which it is critical"),
            _seconds("full_in_s", 7 * DAY_S, "Time to full, by the trend, at which it warns"),
            _seconds("critical_in_s", DAY_S, "Time to full at which it is critical"),
        ),
    ),
    Rule(
        id="log-directory-failed",
        title="Log directory has failed",
        severity=W,
        runbook="log-directory-failed",
        reach=Reach.CLUSTER,
        for_s=20,
        clear_s=60,
    ),
    Rule(
        id="controller-missing",
        title="No broker is controller",
        severity=C,
        runbook="controller-missing",
        reach=Reach.CLUSTER,
        for_s=30,
        clear_s=30,
    ),
    Rule(
        id="zookeeper-unreachable",
        title="ZooKeeper does not answer",
        severity=C,
        runbook="zookeeper-unreachable",
        reach=Reach.TENANT,
        for_s=30,
        clear_s=60,
    ),
    Rule(
        id="operation-stuck",
        title="Operation does not move",
        severity=W,
        runbook="operation-stuck",
        reach=Reach.OPERATION,
        for_s=0,
        clear_s=0,
        thresholds=(
            _seconds("overdue_s", 120.0, "Time for which nobody has taken what is due", least=10),
            _seconds("step_s", 6 * HOUR_S, "Time for which one step runs", least=60),
        ),
    ),
    Rule(
        id="operation-failed",
        title="Operation has failed",
        severity=W,
        runbook="operation-failed",
        reach=Reach.OPERATION,
        for_s=0,
        clear_s=0,
        thresholds=(
            _seconds("shown_s", HOUR_S, "How long one that left nothing behind is shown"),
            _seconds("remains_s", 7 * DAY_S, "How long one that left something behind is shown"),
        ),
    ),
    Rule(
        id="collector-late",
        title="Collector is late",
        severity=W,
        runbook="collector-late",
        reach=Reach.CLUSTER,
        for_s=30,
        clear_s=60,
        thresholds=(_seconds("late_s", 120.0, "Age of the last sample", least=30),),
    ),
    Rule(
        id="spark-late",
        title="Analytics are late",
        severity=W,
        runbook="spark-late",
        reach=Reach.TENANT,
        for_s=60,
        clear_s=60,
        thresholds=(_seconds("late_s", 1200.0, "Age of the last run's results", least=300),),
    ),
    Rule(
        id="certificate-ending",
        title="A broker's certificate ends soon",
        severity=W,
        runbook="certificate-ending",
        reach=Reach.CLUSTER,
        for_s=60,
        clear_s=60,
        thresholds=(
            _seconds("left_s", 20 * DAY_S, "Time left at which it warns"),
            _seconds("critical_s", 3 * DAY_S, "Time left at which it is critical"),
        ),
    ),
    Rule(
        id="key-ending",
        title="An API key ends soon",
        severity=W,
        runbook="key-ending",
        reach=Reach.TENANT,
        for_s=60,
        clear_s=60,
        thresholds=(
            _seconds("left_s", 7 * DAY_S, "Time left at which it warns"),
            _share("left_share", 0.2, "Share of its life left; the smaller of the two counts"),
        ),
    ),
    Rule(
        id="quota-hit",
        title="The tenant's share is used up",
        severity=W,
        runbook="quota-hit",
        reach=Reach.TENANT,
        for_s=60,
        clear_s=60,
        thresholds=(_share("used_share", 0.9, "Share of a limit in use at which it warns"),),
    ),
)
BY_ID: Mapping[str, Rule] = {rule.id: rule for rule in RULES}
RULE_CHOICES = [(rule.id, rule.id) for rule in RULES]
