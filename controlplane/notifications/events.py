"""What is told to the outside: one change of an alert, as `services.publish_all` takes it. Pure."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

FIRING, ACKNOWLEDGED, RESOLVED = "firing", "acknowledged", "resolved"
EVENT_STATES = (FIRING, ACKNOWLEDGED, RESOLVED)
INFO, WARNING, CRITICAL = "info", "warning", "critical"
SEVERITIES = (INFO, WARNING, CRITICAL)
"""From the least to the worst."""

NAME_MAX_CHARS, LINE_MAX_CHARS, TEXT_MAX_CHARS = 200, 500, 8_000
PAIRS_MAX = 50
"""Of labels, and of values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertEvent:
    """One change of an alert's state.

    Attributes:
        event_id: of this change; the same however often it is delivered.
        alert_id: of the alert; the same from its firing to its end.
        tenant_id: None of what is the operators'.
        cluster_id: None for what is about no cluster.
        severity: one of `SEVERITIES`.
        state: one of `EVENT_STATES`.
        values: numbers that the rule judged by; None where one is unknown.
        runbook: its id, a file name without `.md`.
        started_at, occurred_at, resolved_at: aware; the last is None until the alert is resolved.
    """

    event_id: str
    alert_id: str
    tenant_id: str | None
    cluster_id: str | None
    cluster_name: str
    rule: str
    severity: str
    state: str
    summary: str
    description: str
    labels: Mapping[str, str]
    values: Mapping[str, float | int | str | None]
    runbook: str
    runbook_url: str
    console_url: str
    started_at: datetime
    occurred_at: datetime
    resolved_at: datetime | None


TIMES = ("started_at", "occurred_at", "resolved_at")


def bounded(event: AlertEvent) -> AlertEvent:
    """The event within the bounds of what is kept: clients choose the names in its texts.

    No null and no half of a character stays, no number that JSON does not have.

    Raises:
        ValueError: a severity or state that there is not, or a moment without a zone.
    """
    if event.severity not in SEVERITIES or event.state not in EVENT_STATES:
        raise ValueError(f"no such severity or state: {event.severity!r}, {event.state!r}")
    if any(at is not None and at.tzinfo is None for at in (getattr(event, t) for t in TIMES)):
        raise ValueError("a moment without a time zone")
    return replace(
        event,
        cluster_name=_cut(event.cluster_name, NAME_MAX_CHARS),
        summary=_cut(event.summary, LINE_MAX_CHARS),
        description=_cut(event.description, TEXT_MAX_CHARS),
        labels={
            _cut(name, NAME_MAX_CHARS): _cut(value, LINE_MAX_CHARS)
            for name, value in list(event.labels.items())[:PAIRS_MAX]
        },
        values={
            _cut(name, NAME_MAX_CHARS): _value(value)
            for name, value in list(event.values.items())[:PAIRS_MAX]
        },
        runbook=_cut(event.runbook, NAME_MAX_CHARS),
        runbook_url=_cut(event.runbook_url, 2 * LINE_MAX_CHARS),
        console_url=_cut(event.console_url, 2 * LINE_MAX_CHARS),
    )


def _cut(text: str, max_chars: int) -> str:
    clean = str(text).replace("\0", "\ufffd").encode(errors="replace").decode()
    return clean if len(clean) <= max_chars else clean[: max_chars - 1] + "…"


def _value(value: float | str | None) -> float | int | str | None:
    if isinstance(value, str):
        return _cut(value, LINE_MAX_CHARS)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def as_json(event: AlertEvent) -> dict[str, Any]:
    """The event as JSON has it: moments in ISO 8601 with a `Z`."""
    return {**asdict(event), **{name: _iso(getattr(event, name)) for name in TIMES}}


def event_of(stored: Mapping[str, Any]) -> AlertEvent:
    """What `as_json` made. Raises KeyError, TypeError, ValueError: it did not make this."""
    times = {name: stored[name] and datetime.fromisoformat(stored[name]) for name in TIMES}
    return AlertEvent(**{**stored, **times})


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")
