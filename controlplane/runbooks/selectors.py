"""Reads of runs, for who may see them; and a runbook as REST shows it."""

from datetime import date
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from controlplane.audit.services import Actor
from controlplane.clusters.selectors import names_by_id
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import NotFound
from controlplane.common.times import iso
from controlplane.operations.models import Operation
from controlplane.runbooks.document import Block, Runbook
from controlplane.runbooks.models import PLANNED, RunbookEntry, RunbookRun
from controlplane.tenants.models import Tenant

STALE_AFTER_DAYS = 90
SILENCE = {"method": "POST", "href": "/api/v1/silences"}
"""Where an alert is silenced while the runbook is followed."""


def run_rows(tenant: Tenant) -> QuerySet[RunbookRun]:
    return RunbookRun.objects.filter(tenant=tenant)


def run_row(tenant: Tenant, actor: Actor, run_id: str, *, locked: bool = False) -> RunbookRun:
    """Raises NotFound: there is none, or none that is seen."""
    rows = run_rows(tenant)
    found = (rows.select_for_update() if locked else rows).filter(pk=run_id).first()
    if found is None or not is_seen(found, actor, names_by_id(tenant.pk)):
        raise NotFound("Run of a runbook not found.")
    return found


def is_seen(run: RunbookRun, actor: Actor, names: dict[str, str]) -> bool:
    """Its entries hold what its maker could see: who sees a part only is shown their own runs."""
    scope = actor.scope
    if scope.sees_all:
        return True
    if run.created_by != actor.name:
        return False
    return covers(scope, names.get(run.cluster_id or "", ""), run.context)


def covers(scope: Scope, cluster: str, context: dict[str, Any]) -> bool:
    """Whether a scope has what a run is about; a run about no cluster is the tenant's."""
    if not cluster:
        return bool(scope.sees_all)
    named = {Area.TOPIC: context.get("topic"), Area.GROUP: context.get("group")}
    return scope.sees(Area.OUTLINE, cluster) and all(
        scope.sees(area, cluster, name) for area, name in named.items() if name
    )


def run_dict(run: RunbookRun) -> dict[str, Any]:
    return {
        "id": run.pk,
        "runbook": run.runbook,
        "cluster_id": run.cluster_id,
        "context": run.context,
        "state": run.state,
        "note": run.note,
        "created_by": run.created_by,
        "created_at": iso(run.created_at),
        "ended_by": run.ended_by or None,
        "ended_at": iso(run.ended_at),
    }


def run_detail(run: RunbookRun) -> dict[str, Any]:
    entries = list(run.entries.all())
    plans = [entry.plan_id for entry in entries if entry.plan_id]
    operations = dict(Operation.objects.filter(plan_id__in=plans).values_list("plan_id", "id"))
    return {
        **run_dict(run),
        "entries": [entry_dict(entry, operations) for entry in entries],
        "silence": {**SILENCE, "cluster_id": run.cluster_id, **run.context},
    }


def entry_dict(entry: RunbookEntry, operations: dict[str, str] | None = None) -> dict[str, Any]:
    age = None if entry.as_of is None else (entry.created_at - entry.as_of).total_seconds()
    return {
        "type": "act" if entry.outcome == PLANNED else "check",
        "number": entry.number,
        "name": entry.name,
        "outcome": entry.outcome,
        "text": entry.text,
        "numbers": entry.numbers,
        "as_of": iso(entry.as_of),
        "age_s": None if age is None else round(max(0.0, age), 3),
        "took_ms": entry.took_ms,
        "plan_id": entry.plan_id,
        "operation_id": (operations or {}).get(entry.plan_id or ""),
        "actor": entry.actor,
        "created_at": iso(entry.created_at),
    }


def runbook_dict(found: Runbook, today: date | None = None) -> dict[str, Any]:
    day = found.last_verified
    is_stale = day is None or ((today or timezone.now().date()) - day).days > STALE_AFTER_DAYS
    return {
        "id": found.id,
        "title": found.title,
        "alerts": list(found.alerts),
        "severity": found.severity,
        "owner": found.owner,
        "last_verified": None if day is None else day.isoformat(),
        "is_stale": is_stale,
        "est_minutes": found.est_minutes,
        "automation": found.automation,
    }


def runbook_detail(found: Runbook) -> dict[str, Any]:
    return {
        **runbook_dict(found),
        "sections": [
            {"title": each.title, "parts": [_part(part) for part in each.parts]}
            for each in found.sections
        ],
        "decisions": [
            {"check": row.check, "outcome": row.outcome, "then": row.then}
            for row in found.decisions
        ],
    }


def _part(part: str | Block) -> dict[str, Any]:
    if isinstance(part, str):
        return {
            "type": "text",
            "text": part,
            "number": None,
            "name": None,
            "inputs": [],
            "values": {},
        }
    return {
        "type": "act" if part.is_act else "check",
        "text": part.title,
        "number": part.number,
        "name": part.name,
        "inputs": [
            {"name": name, "default": default, "required": default is None}
            for name, default in sorted(part.blanks.items())
        ],
        "values": dict(part.values),
    }
