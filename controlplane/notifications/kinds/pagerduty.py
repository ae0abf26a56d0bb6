"""PagerDuty's Events API v2, and whoever offers the same. Pure.

https://developer.pagerduty.com/docs/send-alert-event: an alert is one `dedup_key` from its trigger
to its resolve.
"""

from typing import Any

from controlplane.notifications.events import (
    ACKNOWLEDGED,
    CRITICAL,
    FIRING,
    INFO,
    RESOLVED,
    WARNING,
    AlertEvent,
    as_json,
)
from controlplane.notifications.kinds.message import HttpRequest, Stamp, Target, json_request
from controlplane.notifications.kinds.words import line, link, paragraphs, spoken

URL = "https://events.pagerduty.com/v2/enqueue"
SUMMARY_MAX_CHARS, DEDUP_KEY_MAX_CHARS, FIELD_MAX_CHARS = 1_024, 255, 255
DESCRIPTION_MAX_CHARS = 4_000
ACTIONS = {FIRING: "trigger", ACKNOWLEDGED: "acknowledge", RESOLVED: "resolve"}
SEVERITY = {INFO: "info", WARNING: "warning", CRITICAL: "critical"}


def render(event: AlertEvent, target: Target, stamp: Stamp) -> HttpRequest:
    """POST to `config.url` (PagerDuty's own unless given) with `secrets.routing_key`."""
    content: dict[str, Any] = {
        "routing_key": target.secrets["routing_key"],
        "event_action": ACTIONS[event.state],
        "dedup_key": event.alert_id[:DEDUP_KEY_MAX_CHARS],
        "payload": {
            "summary": line(event.summary, SUMMARY_MAX_CHARS) or event.rule,
            "source": line(event.cluster_name, FIELD_MAX_CHARS) or "penstock",
            "severity": SEVERITY[event.severity],
            "timestamp": as_json(event)["occurred_at"],
            "class": line(event.rule, FIELD_MAX_CHARS),
            "custom_details": _details(event),
        },
        "client": "Penstock",
        "links": [{"href": url, "text": "Runbook"} for url in [link(event.runbook_url)] if url],
    }
    if event.cluster_name:
        content["payload"]["component"] = line(event.cluster_name, FIELD_MAX_CHARS)
    if console := link(event.console_url):
        content["client_url"] = console
    return json_request(target.config.get("url") or URL, content, stamp, target)


def _details(event: AlertEvent) -> dict[str, Any]:
    return {
        "event_id": event.event_id,
        "description": paragraphs(event.description, DESCRIPTION_MAX_CHARS),
        "labels": {line(name, FIELD_MAX_CHARS): spoken(v) for name, v in event.labels.items()},
        "values": {line(name, FIELD_MAX_CHARS): v for name, v in event.values.items()},
    }
