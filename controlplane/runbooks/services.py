"""Writes: a run begins, checks run and plans are made in it, it ends, old ones are deleted."""

import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.audit.services import SYSTEM, About, Actor, audit_record
from controlplane.clusters.selectors import cluster_row, seen_cluster
from controlplane.common.problems import (
    Conflict,
    Forbidden,
    NotFound,
    Problem,
    TooManyRequests,
    field_problem,
)
from controlplane.gateway.errors import GatewayError
from controlplane.operations.models import Plan
from controlplane.operations.plans import plan_create
from controlplane.runbooks.catalogue import runbook
from controlplane.runbooks.checks import CHECKS, Asked
from controlplane.runbooks.document import Block, filled
from controlplane.runbooks.models import (
    ABANDONED,
    OPEN,
    PLANNED,
    RunbookEntry,
    RunbookRun,
)
from controlplane.runbooks.rules import Finding, unread
from controlplane.runbooks.selectors import covers, run_row
from controlplane.tenants.models import Tenant

RUNS_OPEN_MAX = 200
"""Of one tenant."""
ENTRIES_MAX = 500
"""Of one run."""
OPEN_FOR = timedelta(days=7)
"""A run that nobody has ended by then is abandoned."""
KEPT = timedelta(days=400)
DELETE_BATCH = 1_000
NAMES = {"operation_id": "operation", "alert_id": "alert"}
"""What the REST calls it, and the blanks of the documents."""


def run_start(
    *, tenant: Tenant, actor: Actor, runbook_id: str, cluster_id: str | None, about: dict[str, Any]
) -> RunbookRun:
    """Begin to follow a runbook.

    Raises:
        NotFound: there is no such runbook, or no such cluster that the actor sees.
        Forbidden: it would be about more than the actor's grants cover.
        TooManyRequests: so many runs of the tenant are open that none more may be.
    """
    context = {NAMES.get(name, name): value for name, value in about.items()}
    name = seen_cluster(tenant, actor.scope, cluster_id).name if cluster_id else ""
    if not covers(actor.scope, name, context):
        raise Forbidden("This needs a role on everything that the run is about.")
    found = runbook(runbook_id)
    with transaction.atomic():
        Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
        if RunbookRun.objects.filter(tenant=tenant, state=OPEN).count() >= RUNS_OPEN_MAX:
            raise TooManyRequests(
                f"{RUNS_OPEN_MAX} runs of runbooks are open; end some.", code="too-many-runs"
            )
        run = RunbookRun.objects.create(
            tenant=tenant,
            runbook=found.id,
            cluster_id=cluster_id,
            context=context,
            created_by=actor.name,
        )
        _record(run, actor, "runbook.start", {"context": context})
    return run


def check_run(*, tenant: Tenant, actor: Actor, run_id: str, number: str) -> RunbookEntry:
    """Run one check now; what cannot be read is `unknown`, and recorded as such.

    Raises:
        NotFound: there is no such run or check.
        Conflict: the run is over, full, or not about what the check needs.
    """
    run = _open_run(tenant, actor, run_id)
    block = _block(runbook(run.runbook).checks, number, "check")
    asked = Asked(tenant=tenant, scope=actor.scope, values=_values(block, run))
    began_s = time.monotonic()
    found = _found(block, asked)
    return _note(
        run,
        actor,
        block,
        outcome=found.outcome,
        text=found.text,
        numbers=dict(found.numbers),
        as_of=found.as_of,
        took_ms=round((time.monotonic() - began_s) * 1000),
    )


def _found(block: Block, asked: Asked) -> Finding:
    try:
        return CHECKS[block.name].run(asked)
    except Problem as problem:
        return unread(problem.detail)
    except GatewayError as error:
        return unread(error.as_problem().detail)


def act_plan(
    *, tenant: Tenant, actor: Actor, run_id: str, number: str, inputs: Mapping[str, Any]
) -> RunbookEntry:
    """Make the plan of an act, for the actor: whoever may not confirm it makes none.

    Nothing is done by it. Raises as `check_run`, and as `plan_create`.
    """
    run = _open_run(tenant, actor, run_id)
    block = _block(runbook(run.runbook).acts, number, "act")
    blanks = block.blanks
    for name in inputs:
        if name not in blanks:
            known = ", ".join(sorted(blanks)) or "none"
            raise field_problem(f"/inputs/{name}", f"The act has no blank {name}: {known}.")
    values = _values(block, run, inputs)
    cluster_id = values.pop("cluster", None)
    plan = plan_create(
        tenant=tenant,
        actor=actor,
        kind_name=block.name,
        cluster_id=cluster_id,
        inputs=values,
    )
    return _note(
        run, actor, block, outcome=PLANNED, text=plan.impact["summary"], plan_id=_kept(plan)
    )


def _kept(plan: Plan) -> str:
    return str(plan.pk)


@transaction.atomic
def run_end(*, tenant: Tenant, actor: Actor, run_id: str, outcome: str, note: str) -> RunbookRun:
    """Say how it came out. Raises NotFound; Conflict: it is over already."""
    run = run_row(tenant, actor, run_id, locked=True)
    _require_open(run)
    run.move_to(outcome)
    run.note, run.ended_by, run.ended_at = note, actor.name, timezone.now()
    run.save()
    _record(run, actor, "runbook.end", {"outcome": outcome, "note": note})
    return run


def runs_tidy() -> tuple[int, int]:
    """(abandoned, deleted): open ones that nobody has ended, and those of before KEPT."""
    now = timezone.now()
    left = RunbookRun.objects.filter(state=OPEN, created_at__lt=now - OPEN_FOR)
    abandoned = RunbookRun.move_all(left, ABANDONED, ended_by=SYSTEM.name, ended_at=now)
    old = RunbookRun.objects.filter(created_at__lt=now - KEPT).order_by("created_at")
    ids = list(old.values_list("pk", flat=True)[:DELETE_BATCH])
    RunbookRun.objects.filter(pk__in=ids).delete()
    return abandoned, len(ids)


def _open_run(tenant: Tenant, actor: Actor, run_id: str) -> RunbookRun:
    run = run_row(tenant, actor, run_id)
    _require_open(run)
    if run.entries.count() >= ENTRIES_MAX:
        raise Conflict(f"The run has {ENTRIES_MAX} entries; begin another.", code="run-full")
    return run


def _require_open(run: RunbookRun) -> None:
    if run.state != OPEN:
        raise Conflict(f"The run is over: it is {run.state}.", code="run-ended")


def _block(blocks: list[Block], number: str, what: str) -> Block:
    found = next((block for block in blocks if str(block.number) == number), None)
    if found is None:
        raise NotFound(f"The {what} was not found in this runbook.")
    return found


def _values(
    block: Block, run: RunbookRun, inputs: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The block's values, filled in; what a check may do without is left out."""
    context = {"cluster": run.cluster_id, **run.context}
    given = {**{name: value for name, value in context.items() if value is not None}}
    given |= {name: value for name, value in (inputs or {}).items() if value is not None}
    # What the run is about stays: an act on something else is another run.
    given |= {name: value for name, value in context.items() if value is not None}
    optional = () if block.is_act else CHECKS[block.name].may
    found = {}
    for key, value in block.values.items():
        try:
            found[key] = filled(value, given)
        except KeyError as missing:
            if key in optional:
                continue
            raise Conflict(
                f"The run says no {missing.args[0]}, which this needs: give it here, or begin a run"
                " that is about one.",
                code="input-missing",
            ) from missing
    return found


def _note(run: RunbookRun, actor: Actor, block: Block, **columns: Any) -> RunbookEntry:
    return RunbookEntry.objects.create(
        run=run, number=block.number, name=block.name, actor=actor.name, **columns
    )


def _record(run: RunbookRun, actor: Actor, action: str, data: dict[str, Any]) -> None:
    name = ""
    if run.cluster_id:
        name = cluster_row(run.tenant, run.cluster_id, with_brokers=False).name
    audit_record(
        tenant_id=run.tenant_id,
        actor=actor,
        action=action,
        resource=f"runbook/{run.runbook}",
        data={"run_id": run.pk, **data},
        about=About(
            cluster_id=run.cluster_id,
            cluster_name=name,
            touches=[["cluster", ""]] if name else (),
        ),
    )
