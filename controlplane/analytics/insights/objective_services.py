"""Lag objectives: read, set, changed, deleted; each write with its audit row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from controlplane.analytics.insights.targets import Target
from controlplane.analytics.models import LagObjective
from controlplane.analytics.objective_models import LITERAL, PREFIX
from controlplane.audit.services import Actor, audit_record
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.etags import with_tag
from controlplane.common.grants import Scope
from controlplane.common.problems import Conflict, NotFound, field_problem
from controlplane.common.times import iso
from controlplane.tenants.models import Tenant

OBJECTIVES_MAX = 200
"""Of one tenant."""
CHANGING = ("seconds", "share", "note")


def objectives_of(tenant: Tenant) -> QuerySet[LagObjective]:
    return LagObjective.objects.filter(tenant=tenant)


def objective_row(tenant: Tenant, objective_id: str, *, locked: bool = False) -> LagObjective:
    rows = objectives_of(tenant)
    found = (rows.select_for_update() if locked else rows).filter(pk=objective_id).first()
    if found is None:
        raise NotFound("Objective not found.")
    return found


def objective_dict(row: LagObjective) -> dict[str, Any]:
    return with_tag(
        {
            "id": row.id,
            "cluster_id": row.cluster_id,
            "match": row.match,
            "group": row.group or None,
            "topic": row.topic or None,
            "seconds": row.seconds,
            "share": row.share,
            "note": row.note,
            "created_by": row.created_by,
            "created_at": iso(row.created_at),
        }
    )


def targets_of(tenant: Tenant) -> list[Target]:
    return [target_of(row) for row in objectives_of(tenant)]


def target_of(row: LagObjective) -> Target:
    return Target(
        objective_id=row.id,
        cluster_id=row.cluster_id,
        is_prefix=row.match == PREFIX,
        group=row.group,
        topic=row.topic,
        seconds=row.seconds,
        share=row.share,
    )


@transaction.atomic
def objective_create(
    *, tenant: Tenant, scope: Scope, given: Mapping[str, Any], actor: Actor
) -> LagObjective:
    """Raises NotFound of a cluster, field problems, Conflict: too many, or one of just that."""
    Tenant.objects.select_for_update().get(pk=tenant.pk)
    if given["cluster_id"] is not None:
        seen_cluster(tenant, scope, given["cluster_id"])
    if given["match"] == PREFIX and not given["group"]:
        raise field_problem("/group", "A beginning is given, or `match` is left out.")
    mine = objectives_of(tenant)
    what = {
        "cluster_id": given["cluster_id"],
        "match": given["match"] or LITERAL,
        "group": given["group"] or "",
        "topic": given["topic"] or "",
    }
    if mine.filter(**what).exists():
        raise Conflict("There is an objective of just that; change it.", code="objective-exists")
    if mine.count() >= OBJECTIVES_MAX:
        raise Conflict(f"There are {OBJECTIVES_MAX} objectives.", code="too-many-objectives")
    row = LagObjective.objects.create(
        tenant=tenant, **what, **{name: given[name] for name in CHANGING}, created_by=actor.name
    )
    _record(tenant, actor, "lag-objective.create", row, after=objective_dict(row))
    return row


@transaction.atomic
def objective_change(
    *, tenant: Tenant, objective_id: str, given: Mapping[str, Any], actor: Actor
) -> LagObjective:
    row = objective_row(tenant, objective_id, locked=True)
    before = objective_dict(row)
    for name in CHANGING:
        setattr(row, name, given[name])
    row.save(update_fields=CHANGING)
    after = objective_dict(row)
    if after != before:
        _record(tenant, actor, "lag-objective.change", row, before=before, after=after)
    return row


@transaction.atomic
def objective_delete(*, tenant: Tenant, objective_id: str, actor: Actor) -> None:
    row = objective_row(tenant, objective_id, locked=True)
    _record(tenant, actor, "lag-objective.delete", row, before=objective_dict(row))
    row.delete()


def _record(tenant: Tenant, actor: Actor, action: str, row: LagObjective, **data: Any) -> None:
    audit_record(
        tenant_id=tenant.id,
        actor=actor,
        action=action,
        resource=f"lag-objective/{row.pk}",
        data=data,
    )
