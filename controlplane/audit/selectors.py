"""Reads, scoped to one tenant."""

from typing import Any

from django.db.models import QuerySet

from controlplane.audit.models import AuditEvent
from controlplane.common.times import iso


def audit_events(tenant_id: str) -> QuerySet[AuditEvent]:
    return AuditEvent.objects.filter(tenant_id=tenant_id)


def audit_event_dict(event: AuditEvent) -> dict[str, Any]:
    return {
        "id": event.id,
        "at": iso(event.created_at),
        "actor": event.actor,
        "action": event.action,
        "resource": event.resource,
        "outcome": event.outcome,
        "reason": event.reason,
        "remote_address": event.remote_address,
        "data": event.data,
    }
