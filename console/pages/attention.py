"""What needs a person's eye, sorted by harm, each with what to do. Pure.

Alerts are the judgement. Beside them stands what is a plain fact and has not been one for long
enough to fire, or what no rule is about; what an alert says or explains is not said again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from controlplane.alerts.conditions.types import span
from controlplane.alerts.rules import BY_ID, Severity
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Status

Row = dict[str, Any]
Cluster = Mapping[str, Any]

SHOWN = 50
"""Rows of one answer."""
RULES_OLD = timedelta(minutes=2)
"""Rules are asked every few seconds: after so long nobody seems to ask."""
FIRING, ACKNOWLEDGED, SEEN = "firing", "acknowledged", "seen"
STATES = [FIRING, ACKNOWLEDGED, SEEN]

HARM: Sequence[str] = (
    # what is lost, and what nobody can write or read
    *("group-losing-data", "partitions-offline", "partitions-under-min-isr", "cluster-away"),
    *("zookeeper-unreachable", "controller-missing", "broker-down", "disk-filling"),
    # what was begun and stands half done
    *("operation-failed", "operation-stuck"),
    # what another failure would turn into the above
    *("partitions-under-replicated", "log-directory-failed", "broker-restarting"),
    "retention-headroom",
    # who is late
    *("group-stopped", "group-stalled", "group-falling-behind", "objective-burning"),
    # what is not seen, and what ends or is full one day
    *("collector-late", "spark-late", "certificate-ending", "key-ending", "quota-hit"),
)
"""Rules by the harm of what they watch, the worst first, where severities are the same."""
_HARM = {rule: at for at, rule in enumerate(HARM)}

# By a cluster's health: the rule that will say it, and how bad it is meanwhile.
_HEALTH: Mapping[str, tuple[str, Severity]] = {
    "unreachable": ("cluster-away", Severity.CRITICAL),
    "no-controller": ("controller-missing", Severity.CRITICAL),
    "offline-partitions": ("partitions-offline", Severity.CRITICAL),
    "under-replicated": ("partitions-under-replicated", Severity.WARNING),
    "brokers-missing": ("broker-down", Severity.WARNING),
}
_SERVING = frozenset({"RUNNING", "DEGRADED"})
_SILENT = frozenset({Status.STOPPED, Status.STALLED})
_WORDS = {"group-stopped": "stopped", "group-stalled": "stalled"}
_REWOUND = "REWOUND"
"""The one status of a group that no rule is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """A plan that may be the way out; the person looks at it before anything is done."""

    title: str
    kind: str
    cluster_id: str | None
    inputs: Mapping[str, Any]

    def as_row(self) -> Row:
        return {
            "title": self.title,
            "kind": self.kind,
            "cluster_id": self.cluster_id,
            "inputs": dict(self.inputs),
        }


NextOf = Callable[[Row], Next | None]


@dataclass(slots=True)
class _Said:
    """What is said or explained already, by cluster: by alerts, then by rows about groups."""

    rules: set[tuple[str, str]] = field(default_factory=set)
    groups: set[tuple[str, str]] = field(default_factory=set)

    def add(self, alert: Row) -> None:
        cluster = alert["cluster_id"] or ""
        self.rules.add((cluster, alert["rule"]))
        self.rules |= {(cluster, each["rule"]) for each in alert["consequences"]}
        if alert["rule"] == "cluster-away":
            self.rules |= {(cluster, rule) for rule, _ in _HEALTH.values()}
        if (group := about(alert)["group"]) is not None:
            self.groups.add((cluster, group))


def attention(
    alerts: Iterable[Row],
    clusters: Iterable[Cluster],
    rewound: Iterable[Row] = (),
    quiet: Iterable[Row] = (),
    proposed: Iterable[Row] = (),
    *,
    asked_at: datetime | None,
    now: datetime,
) -> list[Row]:
    """Rows of `AttentionSerializer` without their next action, the most harmful first.

    Args:
        alerts: open ones, as REST has them.
        clusters: as last observed.
        rewound: {cluster_id, cluster_name, group, topic, as_of} of groups that went back.
        quiet: {cluster_id, cluster_name} and what `quiet_groups` says of groups that have just
            fallen silent. One that went back, too, is one row, by its silence, which harms more.
        proposed: what self-healing would do and waits for a person's word on.
        asked_at: when all rules were asked last; null: never.
        now: when this is.
    """
    said, rows = _Said(), []
    for alert in alerts:
        said.add(alert)
        rows.append(_of_alert(alert))
    for cluster in clusters:
        rows += _of_cluster(cluster, said)
    rewound = list(rewound)
    # Of several topics the first, as `rewound` has them.
    went_back = {(row["cluster_id"], row["group"]): row["topic"] for row in reversed(rewound)}
    rows += _of_quiet(quiet, said, went_back)
    rows += _of_rewound(rewound, said)
    rows += _of_proposals(proposed)
    rows.sort(key=order)
    old = _of_rules(asked_at, now)
    return [*([old] if old is not None else []), *rows]


def order(row: Row) -> tuple[Any, ...]:
    """What a silence covers is last; then severity, whether somebody is at it, harm, age."""
    return (
        row["silenced"],
        -Severity(row["severity"]).rank,
        row["state"] == ACKNOWLEDGED,
        _HARM.get(row["rule"] or "", len(_HARM)),
        row["since"] or "~",  # what has no time is behind what has one
        row["key"],
    )


def with_next(rows: Iterable[Row], next_of: NextOf) -> list[Row]:
    """The rows with a plan each, where there is one that the person may make."""
    found = []
    for row in rows:
        step = next_of(row)
        found.append({**row, "next": step.as_row() if step is not None else None})
    return found


# -- rows -------------------------------------------------------------------------------------
def about(alert: Row) -> Row:
    """{group, topic, operation_id, broker, directory} that an alert names; null: none, or several
    brokers. `directory`: what a plan can take away.
    """
    area, _, name = alert["subject"].partition("/")
    values = alert["values"]

    def named(what: str) -> str | None:
        found = name if area == what and name else values.get(what)
        return found if isinstance(found, str) and found else None

    return {
        "group": named("group"),
        "topic": named("topic"),
        "operation_id": named("operation"),
        "broker": _broker(alert),
        "directory": named("directory"),
    }


def _broker(alert: Row) -> int | None:
    """Members that are brokers are called `2`, or by more than their id."""
    if alert["unit"] != "brokers" or alert["member_count"] != 1 or not alert["members"]:
        return None
    name = str(alert["members"][0])
    return int(name) if name.isascii() and name.isdigit() and len(name) < 10 else None


def _row(key: str, severity: str, text: str, **more: Any) -> Row:
    return {
        "key": key,
        "severity": severity,
        "text": text,
        "state": SEEN,
        "silenced": False,
        "unknown": False,
        "rule": None,
        "runbook": None,
        "alert_id": None,
        "cluster_id": None,
        "cluster_name": None,
        "group": None,
        "topic": None,
        "operation_id": None,
        "broker": None,
        "directory": None,
        "since": None,
        "as_of": None,
        **more,
    }


def _of_alert(alert: Row) -> Row:
    return _row(
        alert["id"],
        alert["severity"],
        alert["summary"],
        state=alert["state"],
        silenced=alert["silenced_by"] is not None,
        unknown=alert["unknown"],
        rule=alert["rule"],
        runbook=alert["runbook"] or None,
        alert_id=alert["id"],
        cluster_id=alert["cluster_id"],
        cluster_name=alert["cluster"],
        since=alert["started_at"],
        **about(alert),
    )


def _of_cluster(cluster: Cluster, said: _Said) -> Iterable[Row]:
    own = {"cluster_id": cluster["id"], "cluster_name": cluster["name"]}
    if cluster["phase"] == "FAILED":
        text = f"{cluster['name']}: the cluster did not come up."
        yield _row(f"{cluster['id']}/failed", Severity.CRITICAL, text, **own)
    if cluster["phase"] not in _SERVING:
        return
    for reason in cluster["health"]["reasons"]:
        if reason["code"] not in _HEALTH:
            continue
        rule, severity = _HEALTH[reason["code"]]
        if (cluster["id"], rule) in said.rules:
            continue
        yield _row(
            f"{cluster['id']}/{reason['code']}",
            severity,
            f"{cluster['name']}: {reason['text']}",
            rule=rule,
            runbook=BY_ID[rule].runbook,
            as_of=cluster["health"]["as_of"],
            **own,
        )


def _of_rewound(rows: Iterable[Row], said: _Said) -> Iterable[Row]:
    for row in rows:
        of = row["cluster_id"], row["group"]
        if of in said.groups:
            continue
        said.groups.add(of)
        text = f"{row['cluster_name']}: group {row['group']} went back to earlier offsets."
        yield _row(f"{of[0]}/rewound/{of[1]}", Severity.INFO, text, **row)


def _of_quiet(
    rows: Iterable[Row], said: _Said, went_back: Mapping[tuple[str, str], str]
) -> Iterable[Row]:
    """The fact, and when it will be called what it may turn out to be."""
    for row in rows:
        cluster, group = of = row["cluster_id"], row["group"]
        if of in said.groups:
            continue
        said.groups.add(of)
        rule = "group-stopped" if row["members"] == 0 else "group-stalled"
        where = row["topic"] if row["partitions"] == 1 else f"a partition of {row['topic']}"
        has = "has no members, " if row["members"] == 0 else ""
        text = (
            f"{row['cluster_name']}: group {group} {has}has unread records on {where} and commits"
            f" nothing there ({row['lag_records']:,} unread)."
        )
        if of in went_back:
            text = f"{text} It went back to earlier offsets of {went_back[of]}."
        is_judged = row["status"] in _SILENT
        if not is_judged:
            text = f"{text} After {span(Rules().quiet_s)} it counts as {_WORDS[rule]}."
        yield _row(
            f"{cluster}/quiet/{group}",
            Severity.WARNING if is_judged else Severity.INFO,
            text,
            rule=rule,
            runbook=BY_ID[rule].runbook,
            cluster_id=cluster,
            cluster_name=row["cluster_name"],
            group=group,
            topic=row["topic"],
            since=row["since"],
            as_of=row["as_of"],
        )


def proposal_key(proposal: Row) -> str:
    return f"{proposal['cluster_id']}/healing/{proposal['id']}"


def _of_proposals(proposed: Iterable[Row]) -> Iterable[Row]:
    for row in proposed:
        yield _row(
            proposal_key(row),
            Severity.WARNING,
            f"{row['cluster_name']}: {row['text']}",
            cluster_id=row["cluster_id"],
            cluster_name=row["cluster_name"],
            broker=row["broker"],
            since=row["created_at"],
        )


def _of_rules(asked_at: datetime | None, now: datetime) -> Row | None:
    """That nobody judges is what somebody has to know first."""
    if asked_at is not None and now - asked_at < RULES_OLD:
        return None
    text = "Alert rules have not been asked yet: what is wrong may not be listed here."
    if asked_at is not None:
        minutes = round((now - asked_at).total_seconds() / 60)
        text = (
            f"Alert rules were last asked {minutes} min ago: what is wrong since then is not"
            " listed here."
        )
    return _row("rules", Severity.WARNING, text)


def rewound_of(cluster: Cluster, lag: Mapping[str, Any]) -> list[Row]:
    """The groups of a cluster that went back, of the answer about its lag."""
    return [
        {
            "cluster_id": cluster["id"],
            "cluster_name": cluster["name"],
            "group": point["group"],
            "topic": point["topic"],
            "as_of": lag["as_of"],
        }
        for point in lag["data"]
        if point["status"] == _REWOUND
    ]
