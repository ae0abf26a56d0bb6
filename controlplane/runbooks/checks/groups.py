"""Checks about consumer groups and topics."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from controlplane.analytics import selectors as analytics
from controlplane.analytics.insights import answers
from controlplane.groups.selectors import group_detail
from controlplane.observed.sections import TOPICS
from controlplane.observed.services import observed_row
from controlplane.runbooks import rules
from controlplane.runbooks.checks.base import Asked, Check
from controlplane.runbooks.rules import Finding
from controlplane.topics.selectors import topic_detail, topic_row
from spark_analytics.contracts.analyses import OBJECTIVES
from spark_analytics.contracts.statuses import STATUS_SEVERITY, Severity

WORRYING = frozenset(
    str(status)
    for status, severity in STATUS_SEVERITY.items()
    if severity in {Severity.WARNING, Severity.DANGER}
)
FINE = frozenset(
    str(status)
    for status, severity in STATUS_SEVERITY.items()
    if severity in {Severity.OK, Severity.RECOVERING}
)


def _group(asked: Asked) -> dict[str, Any]:
    """With its offsets of the topic alone, where one is named."""
    found = group_detail(asked.reader(), asked["group"])
    if "topic" in asked.values:
        found["offsets"] = [row for row in found["offsets"] if row["topic"] == asked["topic"]]
    return found


def _at(row: dict[str, Any]) -> datetime | None:
    return datetime.fromisoformat(row["as_of"]) if row["as_of"] else None


def members(asked: Asked) -> Finding:
    found = _group(asked)
    row = {**found, "members": len(found["members"])}
    return rules.group_members(row, _at(found), found["stale_reason"] or "")


def state(asked: Asked) -> Finding:
    found = _group(asked)
    row = {**found, "members": len(found["members"])}
    return rules.group_state(row, _at(found), found["stale_reason"] or "")


def lag(asked: Asked) -> Finding:
    found = _group(asked)
    return rules.group_lag(found["offsets"], _at(found), found["stale_reason"] or "")


def skew(asked: Asked) -> Finding:
    found = _group(asked)
    return rules.group_skew(found["offsets"], _at(found))


def verdict(asked: Asked) -> Finding:
    """What the newest analytics run makes of the group."""
    found = analytics.lag_series(
        asked.tenant,
        asked.scope,
        asked["cluster"],
        group=asked["group"],
        topic=asked.values.get("topic"),
        latest=True,
    )
    as_of = datetime.fromisoformat(found["as_of"]) if found["as_of"] else None
    word = rules.group_verdict(found["data"], WORRYING, FINE)
    if word is None:
        return rules.unread("No analytics run has judged the group yet.", as_of)
    worst = next(row for row in found["data"] if row["status"] == word)
    text = f"{word} on {worst['topic']}, the lag is {worst['trend']}."
    numbers = {name: worst.get(name) for name in ("lag_records", "lag_seconds", "eta_seconds")}
    return rules.finding(word not in WORRYING, text, as_of, **numbers)


def expiry(asked: Asked) -> Finding:
    """As the alert has it: by the collector's verdict or a run, whichever is newer."""
    found = analytics.expiry_of_group(
        asked.tenant,
        asked.scope,
        asked["cluster"],
        asked["group"],
        topic=asked.values.get("topic"),
    )
    return rules.group_expiry(found["data"], _at(found))


def objective(asked: Asked) -> Finding:
    """The objectives that somebody set; the one that all others have is there to look at alone."""
    found = answers.answer(
        asked.tenant, asked.scope, asked["cluster"], OBJECTIVES, {"group": asked["group"]}
    )
    as_of = datetime.fromisoformat(found["as_of"]) if found["as_of"] else None
    topic = asked.values.get("topic")
    rows = [
        row
        for row in found["data"]
        if row["objective_id"] is not None and topic in {None, row["topic"]}
    ]
    return rules.group_objective(rows, as_of, timezone.now())


def retention(asked: Asked) -> Finding:
    found = topic_detail(asked.reader(), asked["topic"])
    return rules.topic_retention(found["configs"], found["lease"], _at(found), timezone.now())


def partitions(asked: Asked) -> Finding:
    found = observed_row(asked.reader(), TOPICS, asked["topic"])
    if found is None:
        return rules.unread(f"There is no topic {asked['topic']}.")
    row = topic_row(*found)
    return rules.topic_partitions(row, _at(row), row["stale_reason"] or "")


GROUP = ("cluster", "group")
CHECKS = (
    Check(name="group-members", needs=GROUP, run=members),
    Check(name="group-state", needs=GROUP, run=state),
    Check(name="group-lag", needs=GROUP, may=("topic",), run=lag),
    Check(name="group-skew", needs=GROUP, may=("topic",), run=skew),
    Check(name="group-verdict", needs=GROUP, may=("topic",), run=verdict),
    Check(name="group-expiry", needs=GROUP, may=("topic",), run=expiry),
    Check(name="group-objective", needs=GROUP, may=("topic",), run=objective),
    Check(name="topic-retention", needs=("cluster", "topic"), run=retention),
    Check(name="topic-partitions", needs=("cluster", "topic"), run=partitions),
)
