"""Reads: plans and operations as the JSON of the REST shapes, one tenant at a time."""

from collections.abc import Callable, Collection
from itertools import islice
from typing import Any

from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from controlplane.common.grants import Scope
from controlplane.common.paging import Pair, places_behind
from controlplane.common.problems import NotFound, field_problem
from controlplane.common.times import iso
from controlplane.operations.details import rows_beside
from controlplane.operations.models import Operation, OperationLock, Plan, Step
from controlplane.operations.naming import shown_impact
from controlplane.operations.operations import required_kind
from controlplane.operations.rules import (
    eta_s,
    fraction_done,
    is_cancellable,
    is_pausable,
    plan_state,
    step_state,
)
from controlplane.operations.scopes import (
    cluster_names,
    is_seen,
    only_seen,
    require_seen,
    sight,
)
from controlplane.operations.states import (
    ACTIVE_STATES,
    CANCELLED,
    FAILED,
    OPERATION_MOVES,
    REVERTED,
    STEP_RUNNING,
    SUCCEEDED,
)
from controlplane.operations.summaries import kept_summary
from controlplane.tenants.models import Tenant

LOCKS_SHOWN = 20
LOOKED_AT_MAX = 2_000
"""Operations whose main resource is covered, among which a list is of those that are so whole."""
LOOKED_AT_ONCE = 100
SEARCHED_MAX = 2_000
"""A text is looked for in that many of a tenant's newest operations."""


def operations(tenant: Tenant, scope: Scope) -> QuerySet[Operation]:
    """Everything that `operation_dict` reads, in a fixed number of queries.

    What is shown of these is asked once more of each (`shown`): rows here are those whose main
    resource is covered.
    """
    names = {} if scope.sees_all else cluster_names(tenant.pk)
    return (
        only_seen(Operation.objects.filter(tenant=tenant), scope, names)
        .select_related("plan", "secret")
        .prefetch_related(
            "steps",
            Prefetch(
                "locks",
                queryset=OperationLock.objects.order_by("resource", "name")[:LOCKS_SHOWN],
                to_attr="shown_locks",
            ),
            Prefetch("reverted_by", queryset=Operation.objects.order_by("-pk")),
        )
    )


def shown(scope: Scope, tenant: Tenant) -> Callable[[Operation], dict[str, Any] | None]:
    """How a row of `operations` is shown; None for one of which a part is not covered."""
    names = {} if scope.sees_all else cluster_names(tenant.pk)

    def show(row: Operation) -> dict[str, Any] | None:
        if not scope.sees_all and not is_seen(scope, row.plan, names, row.cluster_id):
            return None
        return operation_dict(row)

    return show


def moments(
    tenant: Tenant, scope: Scope
) -> tuple[QuerySet[Operation], Callable[[Operation], bool]]:
    """Operations for a timeline: their own rows and plans alone, no steps.

    The second asks once more of each row, as `shown` does: whether all that it is about is covered.
    """
    names = {} if scope.sees_all else cluster_names(tenant.pk)
    rows = only_seen(Operation.objects.filter(tenant=tenant), scope, names)

    def is_covered(row: Operation) -> bool:
        return scope.sees_all or is_seen(scope, row.plan, names, row.cluster_id)

    return rows.select_related("plan"), is_covered


def operation_list(
    tenant: Tenant,
    scope: Scope,
    *,
    cluster_id: str | None = None,
    state: str | None = None,
    resource: str | None = None,
    limit: int = 50,
) -> list[dict[str, Any]]:
    """The newest `limit`; those of which a part is not covered take no place of others.

    `resource`: of these alone that are about just this, as `broker/2`.
    """
    rows = filtered(operations(tenant, scope), cluster_id=cluster_id, state=state)
    if resource is not None:
        rows = rows.filter(resource=resource)
    show = shown(scope, tenant)
    newest = rows.order_by("-pk")
    if scope.sees_all:
        return [operation_dict(row) for row in newest[:limit]]
    found = newest[:LOOKED_AT_MAX].iterator(chunk_size=max(limit, LOOKED_AT_ONCE))
    return list(islice((row for each in found if (row := show(each)) is not None), limit))


def filtered(
    rows: QuerySet[Operation], *, cluster_id: str | None, state: str | None
) -> QuerySet[Operation]:
    """By cluster; by state, where `active` means every state that is not an end."""
    if cluster_id:
        rows = rows.filter(cluster_id=cluster_id)
    if state == "active":
        rows = rows.filter(state__in=ACTIVE_STATES)
    elif state:
        asked = state.split(",")
        for name in asked:
            if name not in OPERATION_MOVES.states:
                known = ", ".join(OPERATION_MOVES.states)
                raise field_problem("/state", f"{name!r} is no state; there are: active, {known}.")
        rows = rows.filter(state__in=asked)
    return rows


def operations_behind(
    tenant: Tenant,
    scope: Scope,
    rows: QuerySet[Operation],
    *,
    place: str | None,
    size: int,
    path: str,
) -> dict[str, Any]:
    """{data, page: {next, has_more}}: of `rows` the next `size` behind a place, newest first.

    `path` is where that list is asked for: its cursors are good for no other.
    """
    show = shown(scope, tenant)

    def read(after: Any, limit: int) -> list[Pair]:
        behind = rows if after is None else rows.filter(pk__lt=after)
        return [(row.pk, show(row)) for row in behind.order_by("-pk")[:limit]]

    return places_behind(read, place, size, path)


def holding(rows: QuerySet[Operation], text: str, kinds: Collection[str]) -> QuerySet[Operation]:
    """Those among the newest `SEARCHED_MAX` whose id, resource or actor holds `text`, or that are
    of one of the kinds.
    """
    newest = rows.order_by("-pk").values("pk")[:SEARCHED_MAX]
    holds = Q(resource__icontains=text) | Q(actor__icontains=text) | Q(pk__icontains=text)
    return rows.filter(holds | Q(kind__in=kinds), pk__in=newest)


def operations_holding(tenant: Tenant, scope: Scope, text: str, limit: int) -> list[Operation]:
    """The newest whose id is `text`, or whose resource or kind holds it; as `shown` covers them."""
    names = {} if scope.sees_all else cluster_names(tenant.pk)
    rows = only_seen(Operation.objects.filter(tenant=tenant), scope, names).order_by("-pk")
    newest = rows.values("pk")[:SEARCHED_MAX]
    holds = Q(resource__icontains=text) | Q(kind__icontains=text) | Q(pk__istartswith=text)
    found = rows.filter(Q(pk=text) | (holds & Q(pk__in=newest))).select_related("plan")
    if scope.sees_all:
        return list(found[:limit])
    covered = (row for row in found if is_seen(scope, row.plan, names, row.cluster_id))
    return list(islice(covered, limit))


def operation_get(tenant: Tenant, scope: Scope, operation_id: str) -> dict[str, Any]:
    row = operations(tenant, scope).filter(id=operation_id).first()
    found = None if row is None else shown(scope, tenant)(row)
    if found is None:
        raise NotFound("Operation not found.")
    return found


def operation_dict(operation: Operation) -> dict[str, Any]:
    steps = list(operation.steps.all())
    kind = required_kind(operation.kind)
    done, total = fraction_done(steps)
    secret = getattr(operation, "secret", None)
    reverted_by = [row for row in operation.reverted_by.all() if row.state == SUCCEEDED]
    return {
        "id": operation.id,
        "kind": operation.kind,
        "state": operation.state,
        "rolling_back": operation.rolling_back,
        "cluster_id": operation.cluster_id,
        "resource": operation.resource,
        **kept_summary(operation.plan.impact),
        "plan_id": operation.plan_id,
        "steps": [step_dict(step, operation) for step in steps],
        "progress": {"done": done, "total": total, "unit": "steps"},
        "eta_seconds": _eta(steps) if operation.state in ACTIVE_STATES else None,
        "error": operation.error,
        "locks": [lock_dict(lock) for lock in _shown_locks(operation)],
        "cancellable": is_cancellable(
            state=operation.state,
            rolling_back=operation.rolling_back,
            kind_is=kind.cancellable,
        ),
        "pausable": is_pausable(
            state=operation.state, rolling_back=operation.rolling_back, kind_is=kind.pausable
        ),
        "paused_at": iso(operation.paused_at) if operation.state in ACTIVE_STATES else None,
        "paused_by": operation.paused_by if operation.state in ACTIVE_STATES else "",
        "revertible": undo_of(operation) is not None,
        "remains": operation.remains,
        "remains_parts": _remains_parts(operation),
        "reverts": operation.reverts_id,
        "reverted_by": reverted_by[0].id if reverted_by else None,
        "has_secret": bool(secret and secret.read_at is None and secret.token),
        "outcome": operation.memo.get("outcome"),
        "actor": operation.actor,
        "reason": operation.reason,
        "created_at": iso(operation.created_at),
        "started_at": iso(operation.started_at),
        "finished_at": iso(operation.finished_at),
    }


def _remains_parts(operation: Operation) -> list[list[dict[str, Any]]] | None:
    """One list for each sentence of `remains`."""
    if operation.remains is None:
        return None
    return rows_beside(operation.remains, operation.remains_parts)


def undo_of(operation: Operation) -> tuple[str, dict[str, Any]] | None:
    """(kind, inputs) of the plan that undoes it; None under way, or with nothing left."""
    kind = required_kind(operation.kind)
    if operation.state == SUCCEEDED:
        return kind.undo(operation.plan)
    if operation.state in {FAILED, CANCELLED} and operation.remains != []:
        return kind.undo_of_rest(operation.plan)
    return None


def _shown_locks(operation: Operation) -> list[OperationLock]:
    return operation.shown_locks  # type: ignore[attr-defined,no-any-return] # by `operations`


def lock_dict(lock: OperationLock) -> dict[str, Any]:
    return {"resource": lock.resource, "name": lock.name, "mode": lock.mode}


def step_dict(step: Step, operation: Operation) -> dict[str, Any]:
    return {
        "index": step.index,
        "name": step.name,
        "title": step.title,
        "title_code": required_kind(operation.kind).title_code(step.name, step.title),
        "phase": step.phase,
        "state": step_state(state=step.state, of_operation=operation.state),
        "attempts": step.attempts,
        "detail": step.detail,
        "detail_parts": step.detail_parts,
        "progress_done": step.progress_done,
        "progress_total": step.progress_total,
        "unit": step.unit,
        "started_at": iso(step.started_at),
        "finished_at": iso(step.finished_at),
    }


def plan_get(tenant: Tenant, scope: Scope, plan_id: str) -> Plan:
    missing = "Plan not found."
    plan = Plan.objects.filter(tenant=tenant, id=plan_id).select_related("tenant").first()
    if plan is None:
        raise NotFound(missing)
    operation = getattr(plan, "operation", None)
    require_seen(scope, plan, missing, operation.cluster_id if operation else None)
    return plan


def plan_dict(plan: Plan, scope: Scope) -> dict[str, Any]:
    """As REST shows it to somebody who sees its subject: what it names beside that is cut."""
    operation = getattr(plan, "operation", None)
    kind, sees = required_kind(plan.kind), sight(scope, plan)
    return {
        "id": plan.id,
        "kind": plan.kind,
        "cluster_id": plan.cluster_id,
        "resource": plan.resource,
        "inputs": plan.inputs,
        "diff": plan.diff,
        "impact": shown_impact(plan.impact, sees),
        "plan_hash": plan.plan_hash,
        "confirm_phrase": plan.confirm_phrase,
        "state": plan_state(state=plan.state, expires_at=plan.expires_at, now=timezone.now()),
        "revertible": kind.undo(plan) is not None,
        "reverts": plan.reverts,
        "operation_id": operation.id if operation else None,
        "created_by": plan.created_by,
        "created_at": iso(plan.created_at),
        "expires_at": iso(plan.expires_at),
    }


def _eta(steps: list[Step]) -> float | None:
    """The running step's estimate, when it counts something."""
    for step in steps:
        if step.state == STEP_RUNNING and step.started_at and step.progress_total:
            return eta_s(
                done=step.progress_done or 0,
                total=step.progress_total,
                started_at=step.started_at,
                now=timezone.now(),
            )
    return None


VERIFIED_STATES = (SUCCEEDED, REVERTED)


def verified(
    cluster_id: str, kinds: Collection[str], resources: Collection[str] | None = None
) -> QuerySet[Operation]:
    """Operations of these kinds that were verified, oldest first; also those undone since.

    With `resources` only those about one of them.
    """
    rows = Operation.objects.filter(
        cluster_id=cluster_id, kind__in=kinds, state__in=VERIFIED_STATES
    )
    if resources is not None:
        rows = rows.filter(resource__in=resources)
    return rows.order_by("finished_at", "pk")
