"""Writes: start an operation from a confirmed plan, ask to cancel it, plan its undoing."""

from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from controlplane.audit.services import SYSTEM, Actor, audit_record
from controlplane.common.crypto import seal, unseal
from controlplane.common.problems import Conflict, Gone, NotFound
from controlplane.operations import outbox
from controlplane.operations.locks import Lock, Mode, Resource, in_the_way
from controlplane.operations.models import (
    Operation,
    OperationLock,
    OperationSecret,
    Plan,
    Step,
)
from controlplane.operations.operations import PlanDraft, required_kind
from controlplane.operations.plans import (
    check_confirmable,
    check_fresh,
    check_open,
    plan_announced,
    plan_create,
)
from controlplane.operations.rules import is_cancellable, is_pausable
from controlplane.operations.scopes import about, check_planned, require_seen, shows
from controlplane.operations.selectors import plan_get, undo_of
from controlplane.operations.states import (
    CANCELLED,
    CANCELLING,
    FAILED,
    PLAN_USED,
    SUCCEEDED,
)
from controlplane.tenants.models import Tenant

HIDDEN_HOLDER = "An operation that you do not see"


def operation_start(
    *,
    tenant: Tenant,
    actor: Actor,
    plan_id: str,
    plan_hash: str,
    confirm: str = "",
    reason: str = "",
) -> Operation:
    """Confirm a plan. The world is looked at again first; a moved world refuses the plan.

    What the actor may now counts, not what whoever made the plan might then.
    """
    plan = plan_get(tenant, actor.scope, plan_id)
    check_planned(actor.scope, plan)
    check_confirmable(plan, plan_hash=plan_hash, confirm=confirm)
    looked_at = timezone.now()
    check_fresh(plan, actor)
    try:
        with transaction.atomic():
            # The look took as long as the brokers did.
            check_planned(actor.scope_now(), plan)
            return _start(plan, actor=actor, reason=reason, looked_at=looked_at)
    except IntegrityError as error:
        raise _just_changed(plan) from error


@transaction.atomic
def announced_start(
    *,
    tenant: Tenant,
    kind_name: str,
    cluster_id: str,
    inputs: dict[str, Any],
    draft: PlanDraft,
    reason: str,
) -> Operation:
    """Start, as the service itself, what a confirmed plan has announced for now.

    Brokers are asked by its steps only, so `draft` says what is known without them.

    Raises:
        Conflict: another operation is in the way; nothing is stored.
    """
    plan = plan_announced(
        tenant=tenant, kind_name=kind_name, cluster_id=cluster_id, inputs=inputs, draft=draft
    )
    return _start(plan, actor=SYSTEM, reason=reason)


def _take_turns(tenant_id: str) -> None:
    """Until this transaction ends, no other one of the tenant looks at its locks.

    Rows that refer to the tenant can be written meanwhile. SQLite has one writer anyway.
    """
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)


def _acquire(operation: Operation, wanted: list[Lock], actor: Actor) -> None:
    """Take all of them, or say who is in the way. After `_take_turns`."""
    scopes = {lock.scope for lock in wanted}
    rows = OperationLock.objects.filter(scope__in=scopes).exclude(operation=operation)
    holders: dict[Lock, str] = {}
    for holder, *lock in rows.values_list("operation_id", "scope", "resource", "name", "mode"):
        scope, resource, name, mode = lock
        holders.setdefault(Lock(scope, Resource(resource), name, Mode(mode)), holder)
    found = in_the_way(wanted, holders)
    if found is not None:
        holder_row = Operation.objects.select_related("plan").get(pk=holders[found])
        raise _in_progress(holder_row, found, actor)
    OperationLock.objects.bulk_create(
        OperationLock(operation=operation, **lock._asdict()) for lock in wanted
    )


def _in_progress(holder: Operation, lock: Lock, actor: Actor) -> Conflict:
    """What is wanted is held. By whom is said to who sees all that the holder is about."""
    is_shown = shows(actor.scope, holder.plan, holder.cluster_id)
    who = f"{holder.kind} {holder.id} on {holder.resource}" if is_shown else HIDDEN_HOLDER
    return Conflict(
        f"{who} is under way; it holds {lock} ({lock.mode}).",
        code="operation-in-progress",
        operation_id=holder.id if is_shown else None,
        lock={"resource": lock.resource, "name": lock.name, "mode": lock.mode},
        retryable=True,
    )


def _check_nothing_ended(plan: Plan, wanted: list[Lock], looked_at: datetime) -> None:
    """Refuse what was looked at while another operation still changed it.

    Its locks are gone by now, and what it did may have come after the look.
    """
    ended = Operation.objects.select_related("plan").filter(
        tenant_id=plan.tenant_id, finished_at__gte=looked_at
    )
    for other in ended:
        held = required_kind(other.kind).locks(other.plan, other.cluster_id)
        if in_the_way(wanted, held) is not None:
            raise _just_changed(plan)


def _just_changed(plan: Plan) -> Conflict:
    """An operation ended between the look at the world and the locks."""
    return Conflict(
        f"Another operation has just changed {plan.resource}. Make a new plan.", code="plan-stale"
    )


def _start(
    plan: Plan, *, actor: Actor, reason: str, looked_at: datetime | None = None
) -> Operation:
    """`looked_at`: when the look at the world began that says that the plan is fresh."""
    kind = required_kind(plan.kind)
    _take_turns(plan.tenant_id)
    if not plan.leave_open(PLAN_USED):
        plan.refresh_from_db()
        check_open(plan)
        raise Conflict(f"The plan {plan.id} is not open any more.", code="plan-stale")
    operation = Operation.objects.create(
        tenant_id=plan.tenant_id,
        plan=plan,
        kind=plan.kind,
        cluster_id=plan.cluster_id,
        resource=plan.resource,
        actor=actor.name,
        reason=reason,
        reverts_id=plan.reverts,
    )
    wanted = kind.locks(plan, operation.cluster_id)
    _acquire(operation, wanted, actor)
    if looked_at is not None:
        _check_nothing_ended(plan, wanted, looked_at)
    Step.objects.bulk_create(
        Step(
            operation=operation,
            index=index,
            name=spec.name,
            title=kind.title_of(spec, plan),
            phase=spec.phase,
        )
        for index, spec in enumerate(kind.steps)
    )
    kind.prepare(operation, plan)
    if operation.cluster_id != plan.cluster_id:  # it is about a cluster that it has just made
        also_wanted = [*set(kind.locks(plan, operation.cluster_id)) - set(wanted)]
        _acquire(operation, also_wanted, actor)
    audit_record(
        tenant_id=plan.tenant_id,
        actor=actor,
        action=f"{plan.kind}.start",
        resource=plan.resource,
        reason=reason,
        data={"operation_id": operation.id, "plan_id": plan.pk, **plan.diff},
        about=about(plan, operation.cluster_id),
    )
    outbox.enqueue(outbox.TICK, [operation.id])
    return operation


def operation_cancel(*, tenant: Tenant, actor: Actor, operation_id: str) -> Operation:
    """Ask an operation to stop and restore what it changed; it ends as cancelled."""
    with transaction.atomic():
        rows = Operation.objects.select_for_update(of=("self",))
        operation = _allowed_operation(rows, tenant, actor, operation_id)
        if operation.state == CANCELLING:
            return operation
        if not is_cancellable(
            state=operation.state,
            rolling_back=operation.rolling_back,
            kind_is=required_kind(operation.kind).cancellable,
        ):
            raise Conflict(
                f"A {operation.kind} in state {operation.state} cannot be cancelled.",
                code="not-cancellable",
            )
        operation.move_to(CANCELLING)
        operation.next_run_at = timezone.now()  # whatever its step waits for
        operation.save(update_fields=["state", "updated_at", "next_run_at"])
        audit_record(
            tenant_id=tenant.id,
            actor=actor,
            action=f"{operation.kind}.cancel",
            resource=operation.resource,
            data={"operation_id": operation.id},
            about=about(operation.plan, operation.cluster_id),
        )
        outbox.enqueue(outbox.TICK, [operation.id])
    return operation


def operation_pause(*, tenant: Tenant, actor: Actor, operation_id: str) -> Operation:
    """Have it stop before the next thing that it would do; what is under way is finished."""
    return _set_paused(tenant, actor, operation_id, paused=True)


def operation_resume(*, tenant: Tenant, actor: Actor, operation_id: str) -> Operation:
    """Have it go on; one that is not paused goes on as it does."""
    return _set_paused(tenant, actor, operation_id, paused=False)


def _set_paused(tenant: Tenant, actor: Actor, operation_id: str, *, paused: bool) -> Operation:
    verb = "pause" if paused else "resume"
    with transaction.atomic():
        rows = Operation.objects.select_for_update(of=("self",))
        operation = _allowed_operation(rows, tenant, actor, operation_id)
        if not is_pausable(
            state=operation.state,
            rolling_back=operation.rolling_back,
            kind_is=required_kind(operation.kind).pausable,
        ):
            raise Conflict(
                f"A {operation.kind} in state {operation.state} cannot be {verb}d.",
                code="not-pausable",
            )
        if (operation.paused_at is not None) == paused:
            return operation
        operation.paused_at = timezone.now() if paused else None
        operation.paused_by = actor.name if paused else ""
        operation.next_run_at = timezone.now()  # whatever its step waits for
        operation.save(update_fields=["paused_at", "paused_by", "updated_at", "next_run_at"])
        audit_record(
            tenant_id=tenant.id,
            actor=actor,
            action=f"{operation.kind}.{verb}",
            resource=operation.resource,
            data={"operation_id": operation.id},
            about=about(operation.plan, operation.cluster_id),
        )
        outbox.enqueue(outbox.TICK, [operation.id])
    return operation


def undo_plan_create(*, tenant: Tenant, actor: Actor, operation_id: str) -> Plan:
    """A plan that puts back what an operation changed: wholly, or what it left when it failed."""
    operation = _allowed_operation(Operation.objects.all(), tenant, actor, operation_id)
    if operation.state not in {SUCCEEDED, FAILED, CANCELLED}:
        raise Conflict(
            f"Only an operation that has ended can be undone; this one is {operation.state}.",
            code="not-revertible",
        )
    if operation.state != SUCCEEDED and operation.remains == []:
        raise Conflict(
            f"The operation is {operation.state} and has left nothing.", code="nothing-to-do"
        )
    undo = undo_of(operation)
    if undo is None:
        raise Conflict(f"A {operation.kind} cannot be undone.", code="not-revertible")
    kind_name, inputs = undo
    return plan_create(
        tenant=tenant,
        actor=actor,
        kind_name=kind_name,
        cluster_id=operation.cluster_id,
        inputs=inputs,
        reverts=operation,
    )


def _allowed_operation(
    rows: QuerySet[Operation],
    tenant: Tenant,
    actor: Actor,
    operation_id: str,
    missing: str = "Operation not found.",
) -> Operation:
    """The operation with its plan, for an actor who may do now what it did.

    Raises:
        NotFound: there is none, or none that the actor sees.
        Forbidden: the actor may read it only.
    """
    operation = rows.select_related("plan").filter(tenant=tenant, id=operation_id).first()
    if operation is None:
        raise NotFound(missing)
    require_seen(actor.scope, operation.plan, missing, operation.cluster_id)
    check_planned(actor.scope, operation.plan)
    return operation


def secret_keep(operation: Operation, values: dict[str, str]) -> None:
    """Keep a generated password with its operation; the same one if it is there already."""
    OperationSecret.objects.get_or_create(operation=operation, defaults={"token": seal(values)})


def secret_peek(operation: Operation) -> dict[str, str]:
    """For the operation's own steps."""
    return unseal(operation.secret.token)


@transaction.atomic
def secret_take(*, tenant: Tenant, actor: Actor, operation_id: str) -> dict[str, str]:
    """The secret of a succeeded operation: once."""
    missing = "This operation has no secret."
    operation = _allowed_operation(Operation.objects.all(), tenant, actor, operation_id, missing)
    row = (
        OperationSecret.objects.select_for_update()
        .filter(operation__tenant=tenant, operation_id=operation_id)
        .first()
    )
    if row is None:
        raise NotFound(missing)
    if row.read_at is not None or not row.token:
        raise Gone("The secret was shown already.", code="secret-read")
    if operation.state != SUCCEEDED:
        raise Conflict("The operation has not succeeded yet.", code="secret-not-ready")
    values = unseal(row.token)
    row.read_at, row.token = timezone.now(), ""
    row.save()
    audit_record(
        tenant_id=tenant.id,
        actor=actor,
        action="secret.read",
        resource=operation.resource,
        data={"operation_id": operation_id},
        about=about(operation.plan, operation.cluster_id),
    )
    return values
