"""Rules about operations: nobody is at one, one step takes too long, one has failed. Pure."""

from collections.abc import Iterable
from datetime import datetime

from controlplane.alerts.conditions.types import Condition, Key, Value, Verdict, span
from controlplane.alerts.fact_types import OperationFact
from controlplane.alerts.overrides import Tuning
from controlplane.alerts.rules import BY_ID, Severity

FAILED = "failed"


def judge(operations: Iterable[OperationFact], tuning: Tuning, now: datetime) -> Verdict:
    found = Verdict()
    for operation in operations:
        condition = (
            _failed(operation, tuning, now)
            if operation.state == FAILED
            else _stuck(operation, tuning, now)
        )
        if condition is not None:
            found.holds.append(condition)
    return found


def _stuck(operation: OperationFact, tuning: Tuning, now: datetime) -> Condition | None:
    setting = tuning.of("operation-stuck", operation.cluster_id)
    if not setting.enabled:
        return None
    overdue_s = _since(operation.due_since, now)
    step_s = _since(operation.step_since, now)
    if overdue_s >= setting.number("overdue_s"):
        why = f"it has been due for {span(overdue_s)} and nobody has taken it"
    elif step_s >= setting.number("step_s"):
        why = f"its step {operation.step} has run for {span(step_s)}"
    else:
        return None
    # Half done and on its way back is the worst place to stand still in.
    severity = Severity.CRITICAL if operation.rolling_back else BY_ID["operation-stuck"].severity
    return _condition(
        "operation-stuck",
        operation,
        setting.at_least(severity),
        f"{operation.kind} on {operation.resource} does not move: {why}.",
        {"overdue_s": round(overdue_s), "step_s": round(step_s)},
    )


def _failed(operation: OperationFact, tuning: Tuning, now: datetime) -> Condition | None:
    setting = tuning.of("operation-failed", operation.cluster_id)
    shown_s = setting.number("remains_s" if operation.remains else "shown_s")
    if not setting.enabled or _since(operation.finished_at, now) > shown_s:
        return None
    severity = BY_ID["operation-failed"].severity
    left = ""
    if operation.remains:
        severity = Severity.CRITICAL
        left = f" It has left: {operation.remains[0]}"
    return _condition(
        "operation-failed",
        operation,
        setting.at_least(severity),
        f"{operation.kind} on {operation.resource} has failed"
        f"{f' ({operation.error})' if operation.error else ''}.{left}",
        {"remains": len(operation.remains)},
    )


def _condition(
    rule_id: str,
    operation: OperationFact,
    severity: Severity,
    summary: str,
    values: dict[str, Value],
) -> Condition:
    return Condition(
        key=Key(rule_id, operation.cluster_id, f"operation/{operation.id}"),
        severity=severity,
        summary=summary,
        values={"kind": operation.kind, "operation": operation.id, **values},
        members=(operation.resource,),
        unit="operations",
    )


def _since(at: datetime | None, now: datetime) -> float:
    return 0.0 if at is None else max(0.0, (now - at).total_seconds())
