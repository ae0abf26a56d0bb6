"""The one place where alerts are handed to destinations, in the transaction of their change."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, urlencode

from django.conf import settings

from controlplane.alerts.host_rules import EVERY_BY_ID
from controlplane.alerts.models import Alert, AlertTransition, host_of
from controlplane.alerts.states import ACKNOWLEDGED, FIRING, RAISED_STATES, RESOLVED
from controlplane.common.ids import new_id
from controlplane.notifications import services
from controlplane.notifications.events import AlertEvent


@dataclass(frozen=True, slots=True)
class News:
    """What destinations are to be told, and the transition that it is told as."""

    event: AlertEvent
    transition: AlertTransition


def news_of(
    alert: Alert, transition: AlertTransition | None, now: datetime, *, is_worse: bool = False
) -> News | None:
    """What destinations do not know yet of an alert whose columns are set; null: nothing.

    Marks it as told. The alert and the transition (a new one where `transition` is null) are the
    caller's to save, and the news to `publish`, in one transaction.

    A silenced alert is told to nobody. That one is resolved is told in a silence too where it was
    known to be raised: else it stayed so for ever at whoever was told.
    """
    if not _is_news(alert, is_worse=is_worse):
        return None
    if transition is None:
        transition = AlertTransition(
            alert=alert,
            at=now,
            before=alert.state,
            after=alert.state,
            severity=alert.severity,
            why="it is not silenced any more",
        )
    transition.event_id = new_id("av")
    alert.told = alert.state
    return News(_event(alert, transition), transition)


def publish(news: Iterable[News]) -> None:
    """In the transaction of what it tells, after the alerts' rows are written."""
    services.publish_all([each.event for each in news])


def _is_news(alert: Alert, *, is_worse: bool) -> bool:
    if alert.state == RESOLVED:
        return alert.told in RAISED_STATES
    if alert.state not in RAISED_STATES or alert.silence_id:
        return False
    if alert.state == ACKNOWLEDGED:
        return alert.told == FIRING
    return alert.told != FIRING or is_worse


def _event(alert: Alert, transition: AlertTransition) -> AlertEvent:
    rule = EVERY_BY_ID[alert.rule]
    area, _, name = alert.subject.partition("/")
    labels = {
        "alertname": alert.rule,
        "severity": alert.severity,
        **({"cluster": alert.cluster_name} if alert.cluster_name else {}),
        **({area: name} if name else {}),
    }
    runbook_url, console_url = _links(alert, rule.runbook)
    return AlertEvent(
        event_id=transition.event_id,
        alert_id=alert.id,
        tenant_id=alert.tenant_id,
        cluster_id=alert.cluster_id or None,
        cluster_name=alert.cluster_name,
        rule=alert.rule,
        severity=alert.severity,
        state=alert.state,
        summary=alert.summary,
        description=_description(alert, transition),
        labels=labels,
        values=alert.values,
        runbook=rule.runbook,
        runbook_url=runbook_url,
        console_url=console_url,
        started_at=alert.started_at,
        occurred_at=transition.at,
        resolved_at=alert.resolved_at,
    )


def _links(alert: Alert, runbook: str) -> tuple[str, str]:
    """(runbook, page); of an alert about a host the host's, as alerts' pages are tenants'."""
    base = settings.PUBLIC_URL.rstrip("/")
    if alert.tenant_id is not None:
        query = urlencode({"alert": alert.id})
        return f"{base}/runbooks/{runbook}?{query}", f"{base}/alerts/{alert.id}"
    host_id = host_of(alert)
    page = f"{base}/platform/hosts/{quote(host_id, safe='')}" if host_id else f"{base}/platform"
    return f"{base}/runbooks/{runbook}", page


def _description(alert: Alert, transition: AlertTransition) -> str:
    lines = [f"{EVERY_BY_ID[alert.rule].title}: {transition.why}."]
    if alert.member_count > 1:
        shown = ", ".join(alert.members[:20])
        lines.append(f"{alert.member_count} {alert.unit}: {shown}".rstrip(": "))
    lines += [f"With it: {row['rule']} ({row['count']})" for row in alert.consequences]
    return "\n".join(lines)
