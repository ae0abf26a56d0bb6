"""One tick: take the lease, take one step, store its outcome, ask for the next tick.

Killed before the outcome is stored, the step runs again when the lease has run out; killed
after, the sweep brings the next tick, as the row says when it is due. Steps are idempotent, so
both are safe.

Turning back after a cancellation, and having lists show the result, are ticks of their own: no tick
takes more than a few SQL statements, and each leaves the row ready for the next one.

The lease is renewed while the step runs. Every write of the step, to brokers, ZooKeeper or the
database, asks first whether the lease still holds: a worker that lost it, or cannot know, stops.
"""

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Case, F, JSONField, Value, When
from django.db.models.functions import Now
from django.utils import timezone

from controlplane.audit.services import Actor, audit_record
from controlplane.common import leases
from controlplane.common.fence import fenced_by
from controlplane.common.lease_keeper import HeldLease, LeaseLostError, keeper
from controlplane.common.problems import Problem
from controlplane.gateway.errors import GatewayError
from controlplane.operations import outbox
from controlplane.operations.details import detail_of, rows_of
from controlplane.operations.failing import by_codes, took_longer
from controlplane.operations.models import Operation, Plan, Step
from controlplane.operations.operations import (
    Done,
    OperationKind,
    Phase,
    Progress,
    StepContext,
    StepFailedError,
    StepRetryError,
    StepSpec,
    Wait,
    required_kind,
)
from controlplane.operations.plans import plan_secrets
from controlplane.operations.restores import remaining, with_left
from controlplane.operations.rules import (
    ROLLBACK_DEADLINE_S,
    Finish,
    RunStep,
    backoff_s,
    next_action,
    phases_of_way,
)
from controlplane.operations.scopes import about
from controlplane.operations.states import (
    ACTIVE_STATES,
    CANCELLED,
    CANCELLING,
    FAILED,
    PENDING,
    REVERTED,
    RUNNING,
    STEP_DONE,
    STEP_FAILED,
    STEP_PENDING,
    STEP_RUNNING,
    STEP_SKIPPED,
    SUCCEEDED,
    TERMINAL_STATES,
    VERIFYING,
)

log = logging.getLogger(__name__)
SHOWN = "shown"
"""In the memo: the end in which lists show the operation already."""


@dataclass(frozen=True, slots=True)
class _Retry:
    detail: str
    after_s: float = 0.0
    """Before that it would be in vain."""


@dataclass(frozen=True, slots=True)
class _Failed:
    error: dict[str, Any]


_Outcome = Done | Wait | _Retry | _Failed


def tick(operation_id: str) -> bool:
    """Take one step of an operation, if nobody else is at it. True when a step was taken."""
    lease = claim(operation_id)
    if lease is None:
        return False
    try:
        _take_step(operation_id, lease)
    except LeaseLostError as lost:
        log.warning("%s: %s", operation_id, lost)
        return False
    finally:
        lease.drop()
    return True


def _take_step(operation_id: str, lease: HeldLease) -> None:
    rows = Operation.objects.select_related("plan", "tenant", "secret")
    operation = rows.prefetch_related("steps").get(pk=operation_id)
    kind = required_kind(operation.kind)
    steps = list(operation.steps.all())
    if operation.state == CANCELLING and not operation.rolling_back:
        _turn_back(operation, lease, steps)
        return
    action = next_action(
        state=operation.state,
        rolling_back=operation.rolling_back,
        failed=operation.error is not None,
        steps=steps,
    )
    if isinstance(action, Finish):
        if kind.has_to_show and operation.memo.get(SHOWN) != action.state:
            _show(operation, kind, lease, action.state)
        else:
            _finish(operation, kind, lease, steps, action.state)
        return
    step = steps[action.index]
    _begin(step, lease)
    context = _context(operation)
    outcome = _run(kind, context, kind.step(step.name), lease)
    operation.memo = context.memo
    _settle(operation, lease, steps, step, outcome)


def claim(operation_id: str) -> HeldLease | None:
    """Its lease, renewed until it is dropped; None when it is over or someone else holds it."""
    rows = Operation.objects.filter(state__in=ACTIVE_STATES)
    return keeper().claim(
        rows,
        operation_id,
        _lease_length(),
        state=Operation.moving(PENDING, RUNNING),
        started_at=Case(When(state=PENDING, then=Now()), default=F("started_at")),
    )


def _lease_length() -> timedelta:
    return timedelta(seconds=settings.OPERATION_LEASE_S)


def _turn_back(operation: Operation, lease: HeldLease, steps: list[Step]) -> None:
    """Mark the steps of the way back; the next tick takes the first of them."""
    with transaction.atomic():
        _give_back(operation, lease, rolling_back=True)
        _mark_way_back(operation, steps)
        _save(steps)
        outbox.ask(outbox.TICK, [operation.id])


def _mark_way_back(operation: Operation, steps: list[Step]) -> None:
    """What was not done is skipped; the phases of the way back, ALWAYS too, are to run."""
    phases = phases_of_way(state=operation.state)
    nothing_done = all(step.state == STEP_PENDING for step in steps)
    for step in steps:
        is_on_way = step.phase in phases
        if is_on_way:
            step.started_at = step.finished_at = None
            step.attempts = 0
        state = STEP_PENDING if is_on_way and not nothing_done else STEP_SKIPPED
        if step.state in Step.moves.sources(state):
            step.move_to(state)


def _save(steps: list[Step]) -> None:
    """All of them by one statement."""
    Step.objects.bulk_update(steps, [*_OUTCOME_FIELDS, "started_at"])


def _give_back(operation: Operation, lease: HeldLease, **also: Any) -> None:
    """Give the row back with `also` as its new values.

    Raises:
        LeaseLostError: it is another worker's.
    """
    rows = Operation.objects.filter(pk=operation.id)
    now = timezone.now()
    if not leases.release(rows, lease.token, **{"next_run_at": now, "updated_at": now} | also):
        raise LeaseLostError(f"the lease of {operation.id} is another worker's")


def _begin(step: Step, lease: HeldLease) -> None:
    """Record that the step is under way, so that a reader sees it before it ends."""
    if step.state == STEP_RUNNING:  # its worker died, or it had to wait
        return
    step.move_to(STEP_RUNNING)
    step.started_at = step.started_at or timezone.now()
    rows = Step.objects.filter(pk=step.pk, operation__lease_token=lease.token)
    if not Step.move_all(rows, STEP_RUNNING, started_at=step.started_at):
        raise LeaseLostError(f"the lease of {step.operation_id} is another worker's")


def _context(operation: Operation) -> StepContext:
    plan: Plan = operation.plan
    return StepContext(
        operation=operation,
        tenant=operation.tenant,
        inputs=plan.inputs,
        diff=plan.diff,
        preconditions=plan.preconditions,
        memo=dict(operation.memo),
        secrets=plan_secrets(plan),
    )


def _run(kind: OperationKind, context: StepContext, spec: StepSpec, lease: HeldLease) -> _Outcome:
    try:
        with fenced_by(lease.check):
            return spec.run(kind, context)
    except LeaseLostError:
        raise
    except Exception as error:  # noqa: BLE001 - a bug in a step ends the operation, not the worker
        return _outcome_of(error, context.operation.id, spec.name)


def _outcome_of(error: Exception, operation_id: str, step_name: str) -> _Outcome:
    if isinstance(error, StepRetryError):
        return _Retry(error.detail)
    if isinstance(error, (OperationalError, InterfaceError)):
        return _Retry(detail_of("database/silent", reason=str(error)))
    if isinstance(error, GatewayError):
        if error.retriable or error.unknown_outcome:
            return _Retry(error.said, after_s=error.retry_after_s or 0.0)
        problem = error.as_problem()
    elif isinstance(error, StepFailedError):
        problem = Problem(error.detail, code=error.code, status=409, **error.extra)
    elif isinstance(error, Problem):
        problem = error
    else:
        log.error("%s: step %s broke", operation_id, step_name, exc_info=error)
        problem = Problem(f"{type(error).__name__}: {error}", code="internal", status=500)
    return _Failed(by_codes(problem))


def _settle(
    operation: Operation, lease: HeldLease, steps: list[Step], step: Step, outcome: _Outcome
) -> None:
    """Store the outcome, give the lease back, ask for the next tick: one transaction.

    How often an operation ticks is bounded by what this costs: neither row is read again.
    """
    spec = required_kind(operation.kind).step(step.name)
    outcome = _with_deadline(operation, spec, step, outcome)
    now = timezone.now()
    also: dict[str, Any] = {"memo": operation.memo}
    wait_s = 0.0
    if isinstance(outcome, Done):
        step.move_to(STEP_DONE)
        step.finished_at = now
        _note(step, outcome.detail, outcome.progress)
        if outcome.remains:
            also |= with_left(operation, outcome.remains)
        if _is_next_to_verify(operation, steps):
            also["state"] = Operation.moving(RUNNING, VERIFYING)
    elif isinstance(outcome, Wait):
        wait_s = outcome.seconds
        _note(step, outcome.detail, outcome.progress)
    elif isinstance(outcome, _Retry):
        wait_s = max(backoff_s(step.attempts), outcome.after_s)
        step.attempts += 1
        _say(step, outcome.detail)
    with transaction.atomic():
        if isinstance(outcome, _Failed):
            _settle_failure(operation, lease, steps, step, outcome.error)
        else:
            also["next_run_at"] = now + timedelta(seconds=wait_s)
            _give_back(operation, lease, **also)
            step.save(update_fields=_OUTCOME_FIELDS)
        outbox.ask(outbox.TICK, [operation.id], countdown_s=wait_s)


_OUTCOME_FIELDS = (
    "state",
    "finished_at",
    "attempts",
    "detail",
    "detail_parts",
    "progress_done",
    "progress_total",
    "unit",
)


def _is_next_to_verify(operation: Operation, steps: list[Step]) -> bool:
    action = next_action(
        state=operation.state, rolling_back=operation.rolling_back, failed=False, steps=steps
    )
    is_forward = not operation.rolling_back and operation.state == RUNNING
    return is_forward and isinstance(action, RunStep) and steps[action.index].phase == "verify"


def _settle_failure(
    operation: Operation, lease: HeldLease, steps: list[Step], step: Step, error: dict[str, Any]
) -> None:
    """In the caller's transaction. One that was cancelled meanwhile turns back for that instead,
    and keeps what the step failed with.
    """
    rows = Operation.objects.filter(pk=operation.id, state=operation.state)
    step.move_to(STEP_FAILED)
    step.finished_at = timezone.now()
    _say(step, error["detail"])
    error = {**error, "step": step.name}
    also: dict[str, Any] = {"memo": operation.memo, "next_run_at": step.finished_at}
    if operation.rolling_back:
        # The rollback itself failed: say so, keep the first cause, go on with what is left.
        also["error"] = {**(operation.error or error), "rollback_incomplete": step.name}
    else:
        also |= {"error": error, "rolling_back": True}
        _mark_way_back(operation, steps)  # an ALWAYS step that failed on the way runs again then
    if leases.release(rows, lease.token, updated_at=step.finished_at, **also):
        _save(steps)
    else:
        _give_back(operation, lease, memo=operation.memo)
        _save([step])


def _with_deadline(operation: Operation, spec: StepSpec, step: Step, outcome: _Outcome) -> _Outcome:
    """A step that is not done within its deadline fails; a rollback step gets longer."""
    if isinstance(outcome, Done):
        return outcome
    limit_s = max(spec.deadline_s, ROLLBACK_DEADLINE_S if operation.rolling_back else 0.0)
    if isinstance(outcome, _Failed) and not operation.rolling_back:
        return outcome
    elapsed_s = (timezone.now() - (step.started_at or timezone.now())).total_seconds()
    if elapsed_s <= limit_s:
        # While rolling back, a refusal is tried again until the deadline: nothing may stay behind.
        return _Retry(outcome.error["detail"]) if isinstance(outcome, _Failed) else outcome
    seen = outcome.error["detail"] if isinstance(outcome, _Failed) else outcome.detail
    problem = Problem(
        took_longer(operation.kind, spec.name, spec.title, limit_s, seen),
        code="step-timeout",
        status=504,
        retryable=True,
    )
    return _Failed(by_codes(problem))


def _note(step: Step, detail: str, progress: Progress | None) -> None:
    _say(step, detail)
    if progress is not None:
        step.progress_done, step.progress_total = progress.done, progress.total
        step.unit = progress.unit


def _say(step: Step, detail: str) -> None:
    step.detail, step.detail_parts = str(detail), rows_of(detail)


def _show(operation: Operation, kind: OperationKind, lease: HeldLease, state: str) -> None:
    """Who reads that the operation succeeded finds its result in the lists."""
    try:
        with fenced_by(lease.check):
            kind.show(operation, state)
    except LeaseLostError:
        raise
    except (OperationalError, InterfaceError) as error:
        log.warning("%s: the lists do not show its result yet: %s", operation.id, error)
    except Exception:
        log.exception("%s: the lists do not show its result yet", operation.id)
    with transaction.atomic():
        _give_back(operation, lease, memo={**operation.memo, SHOWN: state})
        outbox.ask(outbox.TICK, [operation.id])


def _finish(
    operation: Operation, kind: OperationKind, lease: HeldLease, steps: list[Step], state: str
) -> None:
    now = timezone.now()
    also: dict[str, Any] = {"finished_at": now, "updated_at": now}
    if state in {FAILED, CANCELLED}:
        left = remaining(kind.name, kind.steps, steps, cancelled=operation.state == CANCELLING)
        also |= with_left(operation, left)
    with transaction.atomic():
        rows = Operation.objects.filter(pk=operation.id, state=operation.state)
        also["state"] = Operation.moving(operation.state, state)
        if not leases.release(rows, lease.token, **also):
            # Cancelled between the last step and here: the next tick rolls it back.
            row = _mine(operation.id, lease)
            row.drop_lease()
            row.save()
            outbox.ask(outbox.TICK, [row.id])
            return
        operation.move_to(state)
        operation.locks.all().delete()
        kind.finish(operation)
        if operation.plan.secret_token:
            Plan.objects.filter(pk=operation.plan_id).update(secret_token="")
        _mark_reverted(operation)
        audit_record(
            tenant_id=operation.tenant_id,
            actor=Actor(name=operation.actor),
            action=f"{operation.kind}.{state}",
            resource=operation.resource,
            outcome=state,
            reason=operation.reason,
            data=_change(operation, steps, state),
            about=about(operation.plan, operation.cluster_id),
        )


def interrupt(operation_id: str, problem: Problem) -> bool:
    """End an operation where it stands, as failed: no step runs any more, none is rolled back.

    True unless it is over or a worker is at it. For operations whose world is not known any more.
    """
    lease = claim(operation_id)
    if lease is None:
        return False
    try:
        _break_off(operation_id, lease, problem)
        operation = Operation.objects.select_related("plan").get(pk=operation_id)
        steps = list(operation.steps.all())
        _finish(operation, required_kind(operation.kind), lease, steps, FAILED)
    except LeaseLostError:
        return False
    finally:
        lease.drop()
    return True


def _break_off(operation_id: str, lease: HeldLease, problem: Problem) -> None:
    with transaction.atomic():
        row = _mine(operation_id, lease)
        under_way = row.steps.filter(state=STEP_RUNNING).first()
        row.error = {**problem.as_dict(), "step": under_way.name if under_way else ""}
        row.save()
        Step.move_all(
            row.steps.filter(state=STEP_RUNNING),
            STEP_FAILED,
            detail=problem.detail,
            detail_parts=[],
            finished_at=timezone.now(),
        )
        Step.move_all(row.steps.filter(state=STEP_PENDING), STEP_SKIPPED)


def _change(operation: Operation, steps: list[Step], state: str) -> dict[str, Any]:
    """For the record: before and after of what was done, which a succeeded one has read back.

    Of an operation that ended otherwise only what was meant is known; its error says the rest.
    """
    verified = any(step.phase == Phase.VERIFY and step.state == STEP_DONE for step in steps)
    return {
        "operation_id": operation.id,
        **operation.plan.diff,
        "verified": state == SUCCEEDED and verified,
        "error": operation.error,
    }


def _mark_reverted(operation: Operation) -> None:
    """One that failed or was cancelled stays so, and leaves nothing now."""
    if operation.state != SUCCEEDED or operation.reverts_id is None:
        return
    Operation.move_some(
        Operation.objects.filter(pk=operation.reverts_id),
        SUCCEEDED,
        REVERTED,
        remains=_emptied_of_rest("remains"),
        remains_parts=_emptied_of_rest("remains_parts"),
        updated_at=timezone.now(),
    )


def _emptied_of_rest(name: str) -> Case:
    return Case(
        When(state__in=(FAILED, CANCELLED), then=Value([], JSONField())),
        default=F(name),
    )


def _mine(operation_id: str, lease: HeldLease) -> Operation:
    """The locked row; what was found out counts only while the lease on it is ours.

    Raises:
        LeaseLostError: it is another worker's, or its operation has ended.
    """
    rows = Operation.objects.select_for_update().filter(pk=operation_id, lease_token=lease.token)
    row = rows.first()
    if row is None or row.state in TERMINAL_STATES:
        raise LeaseLostError(f"the lease of {operation_id} is another worker's")
    return row
