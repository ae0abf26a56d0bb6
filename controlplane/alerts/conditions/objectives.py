"""The rule about lag objectives that somebody has set. Pure.

Severity by harm: what is left of the budget decides, not how long the lag is.
"""

from dataclasses import dataclass

from controlplane.alerts.conditions.types import (
    Condition,
    Key,
    Unknown,
    Verdict,
    named,
    span,
    touches,
)
from controlplane.alerts.fact_types import BurnFact, ClusterFacts
from controlplane.alerts.overrides import Setting, Tuning
from controlplane.alerts.rules import Severity
from controlplane.analytics.insights.burns import BUDGET_S, agreed

RULE = "objective-burning"
TOPICS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class _Case:
    """A burn; `ends_in_s`: until nothing is left of the budget at this rate, null: not known."""

    burn: BurnFact
    severity: Severity
    is_fast: bool
    rate: float
    ends_in_s: float | None


def judge(cluster: ClusterFacts, tuning: Tuning) -> Verdict:
    found = Verdict()
    if cluster.burns is None:
        found.unknown_at(cluster.id, cluster.burns_unknown_because or "never counted", RULE)
        return found
    if not cluster.burns.whole:
        found.unknown_at(cluster.id, "more groups burn their objectives than are read", RULE)
    cases: dict[str, list[_Case]] = {}
    for burn in cluster.burns.rows:
        setting = tuning.of(RULE, cluster.id, group=burn.group, topic=burn.topic)
        if not setting.enabled:
            continue
        case = _case(burn, setting)
        if isinstance(case, _Case):
            cases.setdefault(burn.group, []).append(case)
        elif case is None:
            subject, why = f"group/{burn.group}", "too little of its lag is known"
            found.unknown.append(Unknown(RULE, cluster.id, subject, why))
    found.holds += [_of_group(cluster, group, rows) for group, rows in sorted(cases.items())]
    return found


def _case(burn: BurnFact, setting: Setting) -> _Case | bool | None:
    """False: it does not burn; null: what is known does not say."""
    is_fast = agreed(burn.burn_1h, burn.burn_5m, setting.number("fast_rate"))
    is_slow = agreed(burn.burn_6h, burn.burn_30m, setting.number("slow_rate"))
    if is_fast and burn.burn_1h is not None:
        ends_in_s = _ends_in_s(burn, burn.burn_1h)
        is_near = ends_in_s is not None and ends_in_s <= setting.number("critical_in_s")
        severity = Severity.CRITICAL if is_near else Severity.WARNING
        return _Case(burn, setting.at_least(severity), True, burn.burn_1h, ends_in_s)
    if is_slow and burn.burn_6h is not None:
        ends_in_s = _ends_in_s(burn, burn.burn_6h)
        severity = Severity.WARNING if ends_in_s == 0.0 else Severity.INFO
        return _Case(burn, setting.at_least(severity), False, burn.burn_6h, ends_in_s)
    return None if is_fast is None or is_slow is None else False


def _ends_in_s(burn: BurnFact, rate: float) -> float | None:
    """0 once it is spent."""
    if burn.budget_left is None:
        return None
    return max(0.0, burn.budget_left) * BUDGET_S / rate


def _of_group(cluster: ClusterFacts, group: str, rows: list[_Case]) -> Condition:
    rows.sort(key=lambda row: (-row.severity.rank, not row.is_fast, -row.rate, row.burn.topic))
    worst, topics = rows[0], tuple(row.burn.topic for row in rows)
    burn = worst.burn
    return Condition(
        key=Key(RULE, cluster.id, f"group/{group}"),
        severity=worst.severity,
        summary=f"{cluster.name}: group {group} burns its lag objective on"
        f" {named(topics, len(topics))} {worst.rate:.1f} times too fast ({_said(worst)}).",
        values={
            "group": group,
            "topic": burn.topic,
            "objective_id": burn.objective_id,
            "verdict": "fast_burn" if worst.is_fast else "slow_burn",
            "seconds": burn.seconds,
            "share": burn.share,
            "burn_5m": burn.burn_5m,
            "burn_30m": burn.burn_30m,
            "burn_1h": burn.burn_1h,
            "burn_6h": burn.burn_6h,
            "budget_left": burn.budget_left,
            "budget_ends_in_s": worst.ends_in_s,
        },
        members=topics[:TOPICS_SHOWN],
        count=len(topics),
        unit="topics",
        touches=touches(("group", group), "topic", topics),
    )


def _said(case: _Case) -> str:
    wanted = f"{span(case.burn.seconds)} for {case.burn.share * 100:g} % of the time"
    if case.ends_in_s is None:
        return wanted
    if case.ends_in_s == 0.0:
        return f"{wanted}; the budget is spent"
    return f"{wanted}; at this rate the budget is spent in {span(case.ends_in_s)}"
