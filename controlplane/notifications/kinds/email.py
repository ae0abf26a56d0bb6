"""A mail, as text and as HTML that says the same. Pure."""

import html

from controlplane.notifications.events import AlertEvent
from controlplane.notifications.kinds.message import Mail, Stamp, Target, title
from controlplane.notifications.kinds.words import facts, line, link, paragraphs

SUBJECT_MAX_CHARS = 180
TEXT_MAX_CHARS = 8_000


def render(event: AlertEvent, target: Target, stamp: Stamp) -> Mail:
    """One message to `config.to`. Headers are single lines, whatever names an event holds."""
    subject = title(event.state, event.severity, event.summary, SUBJECT_MAX_CHARS)
    links = [
        (name, url)
        for name, url in (
            ("Runbook", link(event.runbook_url)),
            ("Console", link(event.console_url)),
        )
        if url
    ]
    rows = facts(event)
    description = paragraphs(event.description, TEXT_MAX_CHARS)
    text = "\n".join(
        [
            line(event.summary, SUBJECT_MAX_CHARS * 3),
            "",
            *([description, ""] if description else []),
            *(f"{name}: {value}" for name, value in [*rows, *links]),
            "",
            f"Alert {event.alert_id}, event {event.event_id}",
            "",
        ]
    )
    return Mail(
        to=tuple(target.config["to"]),
        subject=f"[Penstock] {subject}",
        text=text,
        html=_page(event, description, rows, links),
        headers=(*stamp.headers, ("Auto-Submitted", "auto-generated")),
        message_id=stamp.delivery_id,
        thread_id=line(event.alert_id, 60),
    )


def _page(
    event: AlertEvent,
    description: str,
    rows: list[tuple[str, str]],
    links: list[tuple[str, str]],
) -> str:
    cells = "".join(
        f"<tr><th align='left'>{_safe(name)}</th><td>{_safe(value)}</td></tr>"
        for name, value in rows
    )
    anchors = " · ".join(f"<a href='{_safe(url)}'>{_safe(name)}</a>" for name, url in links)
    told = "".join(f"<p>{_safe(part)}</p>" for part in description.split("\n") if part)
    summary = _safe(line(event.summary, SUBJECT_MAX_CHARS * 3))
    heading = f"{event.severity.upper()} {event.state}"
    return (
        "<!doctype html><html><body>"
        f"<p><strong>{heading}</strong></p><p>{summary}</p>{told}<table>{cells}</table>"
        f"<p>{anchors}</p><p><small>Alert {_safe(event.alert_id)}, event "
        f"{_safe(event.event_id)}</small></p></body></html>"
    )


def _safe(text: str) -> str:
    return html.escape(text, quote=True)
