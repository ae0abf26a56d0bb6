"""Reads: destinations and deliveries of one owner, as REST shows them. No secret is among it.

The owner is a tenant, or null: the operators.
"""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from controlplane.common.etags import with_tag
from controlplane.common.problems import NotFound
from controlplane.common.times import iso
from controlplane.notifications.kinds.table import KINDS
from controlplane.notifications.models import Delivery, Destination, Owner, owned

OBSERVED = ("failures", "last_sent_at", "last_failed_at", "last_error")


def destinations(owner: Owner) -> QuerySet[Destination]:
    return Destination.objects.filter(owned(owner))


def destination_row(owner: Owner, destination_id: str, *, locked: bool = False) -> Destination:
    """Raises NotFound, for another owner's as for one that is not there."""
    rows = destinations(owner).select_for_update() if locked else destinations(owner)
    row = rows.filter(pk=destination_id).first()
    if row is None:
        raise NotFound("Destination not found.")
    return row


def destination_dict(row: Destination) -> dict[str, Any]:
    shown = {
        "id": row.pk,
        "name": row.name,
        "kind": row.kind,
        "enabled": row.enabled,
        "min_severity": row.min_severity,
        "rules": row.rules,
        "clusters": row.clusters,
        "send_resolved": row.send_resolved,
        "config": {
            "url": row.config.get("url"),
            "ca_pem": row.config.get("ca_pem"),
            "to": row.config.get("to", []),
        },
        "has_secrets": bool(row.secrets_token),
        "rotation_ends_at": iso(row.rotation_ends_at),
        "created_at": iso(row.created_at),
        "failures": row.failures,
        "last_sent_at": iso(row.last_sent_at),
        "last_failed_at": iso(row.last_failed_at),
        "last_error": row.last_error,
    }
    return with_tag(shown, observed=OBSERVED)


def recorded(row: Destination) -> dict[str, Any]:
    """What the audit record keeps of a destination: no address and no secret."""
    return {
        "name": row.name,
        "kind": row.kind,
        "enabled": row.enabled,
        "severity": row.min_severity,
        "rules": len(row.rules),
        "clusters": row.clusters,
        "send_resolved": row.send_resolved,
        "receivers": len(row.config.get("to", [])),
    }


def secret_names(kind: str) -> list[str]:
    """What `secrets` of this kind may hold."""
    return sorted(KINDS[kind].secrets | KINDS[kind].may_secrets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Which deliveries are asked for; empty: any."""

    destination_id: str = ""
    alert_id: str = ""
    state: str = ""
    severity: str = ""


def deliveries(owner: Owner, search: Search) -> QuerySet[Delivery]:
    rows = Delivery.objects.filter(owned(owner)).select_related("destination")
    wanted = {
        name: value
        for name, value in (
            ("destination_id", search.destination_id),
            ("alert_id", search.alert_id),
            ("state", search.state),
            ("severity", search.severity),
        )
        if value
    }
    return rows.filter(**wanted)


def delivery_row(owner: Owner, delivery_id: str, *, locked: bool = False) -> Delivery:
    """Raises NotFound, for another owner's as for one that is not there."""
    rows = Delivery.objects.select_related("destination").filter(owned(owner), pk=delivery_id)
    row = (rows.select_for_update(of=("self",)) if locked else rows).first()
    if row is None:
        raise NotFound("Delivery not found.")
    return row


def delivery_dict(row: Delivery) -> dict[str, Any]:
    return {
        "id": row.pk,
        "destination_id": row.destination_id,
        "destination_name": row.destination.name,
        "kind": row.destination.kind,
        "alert_id": row.alert_id,
        "event_id": row.event_id,
        "event_state": row.event_state,
        "rule": row.rule,
        "severity": row.severity,
        "summary": row.event.get("summary", ""),
        "state": row.state,
        "attempts": row.attempts,
        "created_at": iso(row.created_at),
        "tried_at": iso(row.tried_at),
        "next_try_at": iso(row.next_try_at) if row.ended_at is None else None,
        "ended_at": iso(row.ended_at),
        "error_code": row.error_code,
        "error_text": row.error_text,
        "status": row.status,
    }


def delivery_detail(row: Delivery) -> dict[str, Any]:
    """With the event as it was told."""
    return {**delivery_dict(row), "event": row.event}
