"""Alertmanager's API v2: POST /api/v2/alerts. Pure.

https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml. There an alert is its
labels, so they are the same at its firing and at its end. The severity is one of them, for routes
go by it, and it may change: each time the alert of every other severity is said to have ended,
which Alertmanager makes nothing of where there was none.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from controlplane.notifications.events import RESOLVED, SEVERITIES, AlertEvent
from controlplane.notifications.kinds.message import HttpRequest, Stamp, Target, json_request
from controlplane.notifications.kinds.words import line, link, paragraphs, spoken

PATH = "/api/v2/alerts"
HELD_FOR = timedelta(days=30)
"""An alert is told once, not every minute as Prometheus does: without an end so far off it would
end by itself after Alertmanager's `resolve_timeout`."""
VALUE_MAX_CHARS, TEXT_MAX_CHARS = 1_000, 4_000
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_]")


def render(event: AlertEvent, target: Target, stamp: Stamp) -> HttpRequest:
    """POST to `config.url` and the API's path, with `secrets.authorization` if there is one."""
    url = str(target.config["url"]).rstrip("/") + PATH
    given = target.secrets.get("authorization")
    more = [("Authorization", str(given))] if given else []
    content = [_alert(event, severity) for severity in SEVERITIES]
    return json_request(url, content, stamp, target, *more)


def _alert(event: AlertEvent, severity: str) -> dict[str, Any]:
    is_open = severity == event.severity and event.state != RESOLVED
    ended_at = event.resolved_at or event.occurred_at
    # An end before the start is refused.
    ends_at = event.occurred_at + HELD_FOR if is_open else max(ended_at, event.started_at)
    alert: dict[str, Any] = {
        "labels": {**_labels(event.labels), **_own_labels(event), "severity": severity},
        "annotations": _annotations(event),
        "startsAt": _moment(event.started_at),
        "endsAt": _moment(ends_at),
    }
    if console := link(event.console_url):
        alert["generatorURL"] = console
    return alert


def _own_labels(event: AlertEvent) -> dict[str, str]:
    labels = {
        "alertname": line(event.rule, VALUE_MAX_CHARS),
        "alert_id": line(event.alert_id, VALUE_MAX_CHARS),
        "cluster": line(event.cluster_name, VALUE_MAX_CHARS),
        "cluster_id": event.cluster_id or "",
    }
    return {name: value for name, value in labels.items() if value}


def _labels(given: Mapping[str, str]) -> dict[str, str]:
    """Names of letters, digits and `_` that begin with no digit; an empty value is no label."""
    labels = {}
    for name, value in sorted(given.items()):
        clean = _NOT_IN_NAMES.sub("_", name)
        clean = f"_{clean}" if clean[:1].isdigit() or not clean else clean
        if text := line(value, VALUE_MAX_CHARS):
            labels[clean] = text
    return labels


def _annotations(event: AlertEvent) -> dict[str, str]:
    found = {
        "summary": line(event.summary, VALUE_MAX_CHARS),
        "description": paragraphs(event.description, TEXT_MAX_CHARS),
        "state": event.state,
        "runbook": event.runbook,
        "runbook_url": link(event.runbook_url),
        "event_id": event.event_id,
        **{f"value_{_NOT_IN_NAMES.sub('_', n)}": spoken(v) for n, v in event.values.items()},
    }
    return {name: text for name, text in found.items() if text}


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
