"""Reads, scoped to one tenant and to what a scope covers: search, and export as text."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from controlplane.audit.models import AuditEvent
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import field_problem
from controlplane.common.spreadsheets import no_formula
from controlplane.common.times import iso

EXPORT_ROWS_MAX = 100_000
EXPORT_BATCH = 500
FIELDS = (
    "id",
    "at",
    "actor",
    "action",
    "resource",
    "cluster_id",
    "outcome",
    "reason",
    "remote_address",
    "credential",
    "request_id",
    "data",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Empty fields ask for nothing. `actor`, `action` and `resource` are beginnings."""

    actor: str = ""
    action: str = ""
    resource: str = ""
    outcome: str = ""
    cluster_id: str = ""
    from_at: datetime | None = None
    to_at: datetime | None = None


def search_of(asked: Mapping[str, Any]) -> Search:
    """Of the filters' names and values as REST takes them.

    Raises Invalid: `from` is after `to`.
    """
    if {"from", "to"} <= set(asked) and asked["to"] < asked["from"]:
        raise field_problem("/from", "from is after to.")
    names = ("actor", "action", "resource", "outcome", "cluster_id")
    texts = {name: asked[name] for name in names if name in asked}
    return Search(**texts, from_at=asked.get("from"), to_at=asked.get("to"))


def audit_events(tenant_id: str, search: Search) -> QuerySet[AuditEvent]:
    found = Q(tenant_id=tenant_id)
    for field in ("actor", "action", "resource"):
        if begin := getattr(search, field):
            found &= Q(**{f"{field}__startswith": begin})
    for field in ("outcome", "cluster_id"):
        if wanted := getattr(search, field):
            found &= Q(**{field: wanted})
    if search.from_at is not None:
        found &= Q(created_at__gte=search.from_at)
    if search.to_at is not None:
        found &= Q(created_at__lt=search.to_at)
    return AuditEvent.objects.filter(found)


def done_since(tenant_id: str, action: str, since: datetime) -> QuerySet[AuditEvent]:
    return AuditEvent.objects.filter(tenant_id=tenant_id, action=action, created_at__gte=since)


def shown(scope: Scope) -> Callable[[AuditEvent], dict[str, Any] | None]:
    """How a row is shown; None for one that is about anything that no grant covers."""

    def show(event: AuditEvent) -> dict[str, Any] | None:
        return audit_event_dict(event) if is_seen(event, scope) else None

    return show


def is_seen(event: AuditEvent, scope: Scope) -> bool:
    """What is about no part of a cluster is about the whole tenant."""
    if scope.sees_all:
        return True
    return bool(event.touches) and all(
        scope.sees(Area(area), event.cluster_name, name) for area, name in event.touches
    )


def audit_event_dict(event: AuditEvent) -> dict[str, Any]:
    return {
        "id": event.id,
        "at": iso(event.created_at),
        "actor": event.actor,
        "action": event.action,
        "resource": event.resource,
        "cluster_id": event.cluster_id,
        "outcome": event.outcome,
        "reason": event.reason,
        "remote_address": event.remote_address,
        "credential": event.credential,
        "request_id": event.request_id,
        "data": event.data,
    }


def is_whole(rows: QuerySet[AuditEvent]) -> bool:
    """Whether an export of `rows` has all of them."""
    return not rows.order_by("-pk")[EXPORT_ROWS_MAX : EXPORT_ROWS_MAX + 1].exists()


def batches(rows: QuerySet[AuditEvent]) -> Iterator[list[AuditEvent]]:
    """Newest first, a bounded number, each batch by a question of its own."""
    left, before = EXPORT_ROWS_MAX, None
    while left > 0:
        part = rows if before is None else rows.filter(pk__lt=before)
        found = list(part.order_by("-pk")[: min(EXPORT_BATCH, left)])
        if not found:
            return
        yield found
        left, before = left - len(found), found[-1].pk


def as_ndjson(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def as_csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerows([cell(row, field) for field in FIELDS] for row in rows)
    return text.getvalue()


def csv_head() -> str:
    return ",".join(f'"{field}"' for field in FIELDS) + "\r\n"


def cell(row: Mapping[str, Any], field: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    value = row[field]
    plain = json.dumps(value, ensure_ascii=False) if field == "data" else str(value or "")
    return no_formula(plain)
