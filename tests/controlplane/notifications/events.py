"""Events as tests need them: one of good will, and the names that hostile clients choose."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from controlplane.notifications.events import CRITICAL, FIRING, RESOLVED, AlertEvent

AT = datetime(2026, 3, 4, 5, 6, 7, 890000, tzinfo=UTC)


def event(**changes) -> AlertEvent:
    made = AlertEvent(
        event_id="ev_1",
        alert_id="al_1",
        tenant_id="tn_1",
        cluster_id="kc_1",
        cluster_name="main",
        rule="group-losing-data",
        severity=CRITICAL,
        state=FIRING,
        summary="Group billing loses unread records in 2 h",
        description="Group billing reads orders <slower> than retention & deletes.\nRaise it.",
        labels={"group": "billing", "topic": "orders"},
        values={"lag_records": 1721, "expires_in_s": 7200.5, "lag_seconds": None},
        runbook="group-losing-data",
        runbook_url="https://penstock.example/runbooks/group-losing-data?group=billing",
        console_url="https://penstock.example/alerts/al_1",
        started_at=AT - timedelta(minutes=5),
        occurred_at=AT,
        resolved_at=None,
    )
    return replace(made, **changes)


def resolved(**changes) -> AlertEvent:
    later = AT + timedelta(minutes=10)
    return event(event_id="ev_2", state=RESOLVED, occurred_at=later, resolved_at=later, **changes)


HOSTILE = [
    "a\r\nBcc: everybody@example.org\r\n\r\nbody",
    "a\nX-Injected: 1",
    "a\u2028b\u2029c\x85d\x0be\x0cf",
    "\u202egnp.exe\u202c \u200bzero",
    "Grüße λ 🚀 ｆｕｌｌ",
    "<!channel> <https://evil.example|click> & @channel @here [x](https://evil.example)",
    "https://evil.example/x www.evil.example MAILTO:evil@example.org HTTP://evil.example",
    "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>",
    "null \0 half \ud800 \udfff",
    "x" * 10_000,
    "é" * 10_000,
    "=?utf-8?q?=0D=0ABcc:_x@example.org?=",
    "",
]


def hostile(name: str) -> AlertEvent:
    """An event with the name in every text that clients can reach."""
    return event(
        cluster_name=name,
        summary=f"Group {name} is behind",
        description=f"{name}\n{name}",
        labels={"group": name, name: name},
        values={name: name, "lag": float("nan")},
        runbook_url=f"https://penstock.example/?group={name}",
        console_url=f"javascript:{name}",
    )
