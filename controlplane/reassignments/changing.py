"""Another limit for an operation that copies replicas, while it does.

The door only notes the wish, which outlives every worker; the operation's next tick sets it, and
reads it back from the brokers. What a kind limits, and until when, is one row here.
"""

from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction

from controlplane.audit.services import Actor, audit_record
from controlplane.clusters.emptying_steps import LIMIT_IS
from controlplane.clusters.log_dir_rules import FAILED
from controlplane.clusters.log_dir_shapes import RATE_MAX, RATE_MIN
from controlplane.common.etags import with_tag
from controlplane.common.problems import Conflict, NotFound, field_problem
from controlplane.common.words import sized
from controlplane.operations import outbox
from controlplane.operations.models import Operation
from controlplane.operations.states import ACTIVE_STATES, CANCELLING, STEP_DONE
from controlplane.reassignments.inputs import INT64_MAX, THROTTLE_MIN_BYTES_PER_S
from controlplane.reassignments.models import ThrottleLease
from controlplane.reassignments.services import KIND, throttle_of, throttle_prepare
from controlplane.tenants.models import Tenant

REPLACE: Final = "cluster.replace_broker"
EMPTY: Final = "cluster.empty_log_directory"
FIELD: Final = "throttle_bytes_per_s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limited:
    """How a kind's limit is asked for, and until when.

    Attributes:
        planned: what the plan's diff calls it.
        until: the step after which nothing more is copied; empty: also on the way back.
        least: bytes/s, the brokers take no less; `most` alike.
    """

    planned: str
    until: str = ""
    least: int = THROTTLE_MIN_BYTES_PER_S
    most: int = INT64_MAX


LIMITED: Final = {
    KIND: Limited(planned=FIELD),
    REPLACE: Limited(planned=FIELD, until="sync"),
    EMPTY: Limited(planned="bytes_per_s", until="move", least=RATE_MIN, most=RATE_MAX),
}


def limited_operation(tenant: Tenant, operation_id: str, *, locked: bool = False) -> Operation:
    """Raises NotFound: the tenant has no such operation, or one that copies nothing."""
    rows = Operation.objects.select_for_update(of=("self",)) if locked else Operation.objects.all()
    found = rows.select_related("plan").filter(tenant=tenant, id=operation_id, kind__in=LIMITED)
    operation = found.first()
    if operation is None:
        raise NotFound("No operation with a limit was found.")
    return operation


def throttle_dict(operation: Operation) -> dict[str, Any]:
    lease = throttle_of(operation.id)
    planned = operation.plan.diff.get(LIMITED[operation.kind].planned)
    if operation.kind == KIND:
        planned = operation.plan.inputs.get(FIELD)
    shown = {
        FIELD: planned if lease is None else lease.bytes_per_s,
        "is_set": _is_set(operation, lease),
        "can_be_changed": _refusal(operation) is None,
        "least_bytes_per_s": LIMITED[operation.kind].least,
    }
    return with_tag(shown, observed=("is_set", "can_be_changed"))


def _is_set(operation: Operation, lease: ThrottleLease | None) -> bool:
    """Between directories the brokers' limit is the operation's own, put back at its end."""
    if operation.kind == EMPTY:
        return operation.state in ACTIVE_STATES and operation.memo.get(LIMIT_IS) is not None
    return lease is not None and lease.released_at is None


def throttle_change(
    *, tenant: Tenant, actor: Actor, operation_id: str, bytes_per_s: int | None
) -> ThrottleLease:
    """Another limit, which the next tick sets. Null: none.

    Raises:
        Problem: the tenant has no such operation, it copies nothing any more, or its brokers take
            no such limit.
    """
    with transaction.atomic():
        operation = limited_operation(tenant, operation_id, locked=True)
        if (refused := _refusal(operation)) is not None:
            raise refused
        _require_possible(LIMITED[operation.kind], bytes_per_s)
        # One that began before its kind had such a row is as its plan says.
        throttle_prepare(operation, operation.plan.diff.get(LIMITED[operation.kind].planned))
        lease = ThrottleLease.objects.select_for_update().get(operation_id=operation.id)
        before, lease.bytes_per_s = lease.bytes_per_s, bytes_per_s
        lease.save(update_fields=["bytes_per_s"])
        if before != bytes_per_s:
            audit_record(
                tenant_id=tenant.id,
                actor=actor,
                action=f"{operation.kind}.throttle",
                resource=operation.resource,
                data={
                    "operation_id": operation.id,
                    "before": {FIELD: before},
                    "after": {FIELD: bytes_per_s},
                },
            )
            outbox.enqueue(outbox.TICK, [operation.id])
    return lease


def _refusal(operation: Operation) -> Conflict | None:
    """Why no other limit can be asked for: nothing is copied, or nothing of it is limited."""
    kind = "reassignment" if operation.kind == KIND else "operation"
    if operation.state not in ACTIVE_STATES:
        return Conflict(
            f"The {kind} is {operation.state}: nothing of it moves any more.",
            code="not-under-way",
        )
    until = LIMITED[operation.kind].until
    goes_back = operation.rolling_back or operation.state == CANCELLING
    if until and (goes_back or operation.steps.filter(name=until, state=STEP_DONE).exists()):
        return Conflict("What it copies has arrived, or goes back.", code="not-under-way")
    if operation.kind == EMPTY and all(
        row["state"] == FAILED for row in operation.plan.diff["brokers"]
    ):
        return Conflict(
            "The directory has failed: nothing is copied from it, so nothing of it is limited.",
            code="nothing-to-limit",
        )
    return None


def _require_possible(kind: Limited, bytes_per_s: int | None) -> None:
    """Raises a problem of the field."""
    if bytes_per_s is None or kind.least <= bytes_per_s <= kind.most:
        return
    bound = f"at least {sized(kind.least)}"
    if bytes_per_s > kind.most:
        bound = f"at most {sized(kind.most)}"
    raise field_problem(f"/{FIELD}", f"Brokers copy {bound} a second between directories.")
