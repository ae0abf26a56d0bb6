"""Rules about consumer groups and what retention leaves them. Pure.

The judgement itself is `contracts.statuses`; here it is only told who should know of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from controlplane.alerts.conditions.types import (
    Condition,
    Key,
    Unknown,
    Value,
    Verdict,
    named,
    span,
    touches,
)
from controlplane.alerts.fact_types import ClusterFacts, SeriesFact
from controlplane.alerts.overrides import Setting, Tuning
from controlplane.alerts.rules import BY_ID, Severity
from spark_analytics.contracts.statuses import Risk, Status

BY_STATUS: Mapping[str, str] = {
    Status.FALLING_BEHIND: "group-falling-behind",
    Status.STOPPED: "group-stopped",
    Status.STALLED: "group-stalled",
    Status.NOT_COMMITTING: "group-stalled",
    Status.DATA_LOST: "group-losing-data",
}
RISKS_OF_LOSS = frozenset({str(Risk.AT_RISK), str(Risk.LOSING)})
OF_GROUPS = ("group-falling-behind", "group-stopped", "group-stalled", "group-losing-data")
RULES = (*OF_GROUPS, "retention-headroom")
TOPICS_SHOWN = 50
WORDS: Mapping[str, str] = {
    "group-falling-behind": "falls behind on",
    "group-stopped": "has stopped reading",
    "group-stalled": "makes no progress on",
    "group-losing-data": "loses unread records of",
}


@dataclass(frozen=True, slots=True)
class _Case:
    series: SeriesFact
    severity: Severity
    said: str


def judge(cluster: ClusterFacts, tuning: Tuning) -> Verdict:
    found = Verdict()
    if cluster.groups is None:
        found.unknown_at(cluster.id, cluster.groups_unknown_because or "never judged", *RULES)
        return found
    cases: dict[tuple[str, str], list[_Case]] = {}
    headroom: dict[str, list[_Case]] = {}
    for series in cluster.groups.series:
        for rule_id in _rules_of(series):
            case = _case(rule_id, cluster, series, tuning)
            if case is not None:
                cases.setdefault((rule_id, series.group), []).append(case)
        case = _headroom(cluster, series, tuning)
        if case is not None:
            headroom.setdefault(series.topic, []).append(case)
        _unknown(found, cluster, series)
    for name in sorted(cluster.groups.missing):
        for rule_id in OF_GROUPS:
            found.unknown.append(_not_known(rule_id, cluster, f"group/{name}"))
    for (rule_id, group), rows in sorted(cases.items()):
        found.holds.append(_of_group(rule_id, cluster, group, rows))
    for topic, rows in sorted(headroom.items()):
        found.holds.append(_of_topic(cluster, topic, rows))
    return found


def _rules_of(series: SeriesFact) -> list[str]:
    found = [BY_STATUS[series.status]] if series.status in BY_STATUS else []
    if series.risk in RISKS_OF_LOSS and "group-losing-data" not in found:
        found.append("group-losing-data")
    return found


def _case(rule_id: str, cluster: ClusterFacts, series: SeriesFact, tuning: Tuning) -> _Case | None:
    setting = tuning.of(rule_id, cluster.id, group=series.group, topic=series.topic)
    if not setting.enabled:
        return None
    if rule_id == "group-losing-data":
        return _loss(series, setting)
    lag = "" if series.lag_records is None else f"{series.lag_records:,} records unread"
    # A lag that is not known says nothing against the status.
    is_small = (
        rule_id == "group-falling-behind"
        and series.lag_s is not None
        and series.lag_s < setting.number("lag_s")
    ) or (
        rule_id == "group-stopped"
        and series.lag_records is not None
        and series.lag_records < setting.number("lag_records")
    )
    if is_small:
        return None
    if series.lag_s is not None:
        lag = f"{lag}, {span(series.lag_s)} behind".removeprefix(", ")
    return _Case(series, setting.at_least(BY_ID[rule_id].severity), lag)


def _loss(series: SeriesFact, setting: Setting) -> _Case | None:
    is_losing = series.status == Status.DATA_LOST or series.risk == Risk.LOSING
    left_s = series.first_loss_in_s
    if is_losing:
        lost = "" if not series.lost_records else f"{series.lost_records:,} records are lost"
        return _Case(series, setting.at_least(Severity.CRITICAL), lost)
    if left_s is not None and left_s > setting.number("loss_in_s"):
        return None
    is_near = left_s is not None and left_s <= setting.number("critical_in_s")
    severity = Severity.CRITICAL if is_near else Severity.WARNING
    said = "" if left_s is None else f"the first in {span(left_s)}"
    return _Case(series, setting.at_least(severity), said)


def _headroom(cluster: ClusterFacts, series: SeriesFact, tuning: Tuning) -> _Case | None:
    rule = BY_ID["retention-headroom"]
    setting = tuning.of(rule.id, cluster.id, group=series.group, topic=series.topic)
    left_s, kept_s = series.expires_in_s, series.retention_s
    if not setting.enabled or left_s is None or not kept_s:
        return None
    # Who catches up in time is in no danger, however little time is left.
    if series.risk not in {Risk.WATCH, Risk.AT_RISK} or left_s > kept_s * setting.number(
        "left_share"
    ):
        return None
    return _Case(series, setting.at_least(rule.severity), f"{series.group}: {span(left_s)} left")


def _unknown(found: Verdict, cluster: ClusterFacts, series: SeriesFact) -> None:
    if series.status == Status.UNKNOWN:
        for rule_id in OF_GROUPS:
            found.unknown.append(_not_known(rule_id, cluster, f"group/{series.group}"))
    if series.risk == Risk.UNKNOWN:
        subjects = {
            "group-losing-data": f"group/{series.group}",
            "retention-headroom": f"topic/{series.topic}",
        }
        for rule_id, subject in subjects.items():
            found.unknown.append(_not_known(rule_id, cluster, subject))


def _not_known(rule_id: str, cluster: ClusterFacts, subject: str) -> Unknown:
    return Unknown(rule_id, cluster.id, subject, "its judgement is not known")


def _of_group(rule_id: str, cluster: ClusterFacts, group: str, rows: list[_Case]) -> Condition:
    rows.sort(key=lambda row: (-row.severity.rank, -(row.series.lag_records or 0)))
    worst, topics = rows[0], tuple(row.series.topic for row in rows)
    said = f" ({worst.said})" if worst.said else ""
    return Condition(
        key=Key(rule_id, cluster.id, f"group/{group}"),
        severity=worst.severity,
        summary=f"{cluster.name}: group {group} {WORDS[rule_id]}"
        f" {named(topics, len(topics))}{said}.",
        values=_values(worst.series),
        members=topics[:TOPICS_SHOWN],
        count=len(topics),
        unit="topics",
        touches=touches(("group", group), "topic", topics),
    )


def _of_topic(cluster: ClusterFacts, topic: str, rows: list[_Case]) -> Condition:
    rows.sort(key=lambda row: row.series.expires_in_s or 0.0)
    worst, groups = rows[0], tuple(row.series.group for row in rows)
    return Condition(
        key=Key("retention-headroom", cluster.id, f"topic/{topic}"),
        severity=worst.severity,
        summary=f"{cluster.name}: the retention of {topic} leaves little time to"
        f" {named(groups, len(groups))} ({worst.said}).",
        values=_values(worst.series),
        members=groups[:TOPICS_SHOWN],
        count=len(groups),
        unit="groups",
        touches=touches(("topic", topic), "group", groups),
    )


def _values(series: SeriesFact) -> dict[str, Value]:
    return {
        "group": series.group,
        "topic": series.topic,
        "status": series.status,
        "risk": series.risk,
        "lag_records": series.lag_records,
        "lag_s": series.lag_s,
        "lost_records": series.lost_records,
        "first_loss_in_s": series.first_loss_in_s,
        "expires_in_s": series.expires_in_s,
    }
