"""Reads: one timeline out of what is stored here, operations and alerts, cut to a scope."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from controlplane.clusters.selectors import names_by_id
from controlplane.common.grants import Scope
from controlplane.common.problems import NotFound
from controlplane.tenants.models import Tenant
from controlplane.timeline import rules
from controlplane.timeline.models import TimelineEvent
from controlplane.timeline.rules import Place
from controlplane.timeline.sources import Asked, event_dict, sources, stored


def kept_from(now: datetime) -> datetime:
    """How far back a timeline goes; also of what is kept elsewhere for longer."""
    return now - timedelta(days=settings.TIMELINE_DAYS)


def events(
    tenant: Tenant, scope: Scope, asked: Asked, *, behind: Place | None, limit: int
) -> list[tuple[Place, dict[str, Any] | None]]:
    """At most `limit` events, newest first, that follow the place `behind`.

    One is null where its row looked as if the scope covered it and part of what it is about is not.
    """
    names = names_by_id(tenant.id)
    found = [
        (place, source, row)
        for source in sources(tenant, scope, names, asked)
        for place, row in source.following(behind, limit)
    ]
    found.sort(key=lambda each: each[0], reverse=True)
    return [(place, source.render(row)) for place, source, row in found[:limit]]


def newest(tenant: Tenant, scope: Scope, cluster_id: str, limit: int) -> list[dict[str, Any]]:
    """The last events of a cluster, for its page."""
    asked = Asked(from_at=kept_from(timezone.now()), cluster_id=cluster_id)
    found = events(tenant, scope, asked, behind=None, limit=limit)
    return [event for _, event in found if event is not None]


# -- deployments ------------------------------------------------------------------------------
def deployment_row(
    tenant: Tenant, scope: Scope, event_id: str, *, locked: bool = False
) -> TimelineEvent:
    """Raises NotFound, also of one that no grant covers."""
    rows = stored(tenant, scope, names_by_id(tenant.id)).filter(kind=rules.DEPLOYMENT)
    found = (rows.select_for_update() if locked else rows).filter(pk=event_id).first()
    if found is None:
        raise NotFound("The deployment was not found.")
    return found


def deployment_dict(scope: Scope, row: TimelineEvent) -> dict[str, Any]:
    return event_dict(row, scope, names_by_id(row.tenant_id))
