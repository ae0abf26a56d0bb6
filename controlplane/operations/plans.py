"""Making a plan and checking whether it still holds."""

import math
from collections.abc import Iterable
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from controlplane.audit.services import SYSTEM, Actor, audit_record
from controlplane.common.crypto import seal, unseal
from controlplane.common.hashing import canonical_json, content_hash
from controlplane.common.problems import (
    Conflict,
    Gone,
    Invalid,
    NotFound,
    TooManyRequests,
    field_problem,
)
from controlplane.gateway.passage import first_look
from controlplane.operations.blast_radius import grown, growth_text, unknown_of
from controlplane.operations.models import Operation, Plan
from controlplane.operations.operations import (
    OperationKind,
    PlanContext,
    PlanDraft,
    required_kind,
)
from controlplane.operations.risks import STAYS, Risk, risks_of
from controlplane.operations.rules import plan_state
from controlplane.operations.scopes import about, check_asked, check_planned, sight
from controlplane.operations.states import (
    CANCELLED,
    FAILED,
    PLAN_EXPIRED,
    PLAN_OPEN,
    PLAN_STALE,
    PLAN_USED,
)
from controlplane.operations.warnings import warning_of
from controlplane.tenants.models import Tenant


def plan_create(
    *,
    tenant: Tenant,
    actor: Actor,
    kind_name: str,
    cluster_id: str | None,
    inputs: dict[str, Any],
    reverts: Operation | None = None,
) -> Plan:
    """Validate the inputs, let the kind decide, store its decision for 15 minutes.

    Raises:
        Forbidden, NotFound: the actor's grants do not cover it.
        TooManyRequests: so many plans of the tenant are open that none more may be.
    """
    kind = required_kind(kind_name)
    if kind.on_cluster and not cluster_id:
        raise field_problem("/cluster_id", f"A {kind.name} needs a cluster_id.", "required")
    if cluster_id and not kind.on_cluster:
        raise field_problem("/cluster_id", f"A {kind.name} takes no cluster_id.", "unknown")
    checked, secrets = _checked_inputs(kind, inputs)
    asked = Plan(tenant=tenant, kind=kind.name, cluster_id=cluster_id, inputs=checked, diff={})
    check_asked(actor.scope, kind, asked)
    _check_open_plans(tenant)
    context = PlanContext(tenant=tenant, cluster_id=cluster_id, actor=actor, secrets=secrets)
    with first_look(str(tenant.pk)) if kind.first_contact else nullcontext():
        draft = kind.plan(context, checked)
    return _made(
        kind,
        draft,
        tenant=tenant,
        actor=actor,
        cluster_id=cluster_id,
        checked=checked,
        secrets=secrets,
        reverts=reverts,
    )


def plan_announced(
    *,
    tenant: Tenant,
    kind_name: str,
    cluster_id: str,
    inputs: dict[str, Any],
    draft: PlanDraft,
) -> Plan:
    """The service's own plan of what a confirmed plan has announced for now.

    No broker is asked: a cluster that does not answer holds up nobody. Its steps read the truth.
    """
    kind = required_kind(kind_name)
    checked, secrets = _checked_inputs(kind, inputs)
    return _made(
        kind,
        draft,
        tenant=tenant,
        actor=SYSTEM,
        cluster_id=cluster_id,
        checked=checked,
        secrets=secrets,
    )


def _made(
    kind: OperationKind,
    draft: PlanDraft,
    *,
    tenant: Tenant,
    actor: Actor,
    cluster_id: str | None,
    checked: dict[str, Any],
    secrets: dict[str, Any],
    reverts: Operation | None = None,
) -> Plan:
    """The stored plan of what a kind has decided."""
    radius = [extent.as_row() for extent in draft.blast_radius]
    unknown = [
        warning_of("unknown", reason=reason, extents=", ".join(codes))
        for reason, codes in unknown_of(draft.blast_radius).items()
    ]
    warnings = [*draft.warnings, *unknown]
    risks = risks_of(kind.risks, warnings)
    plan = Plan(
        tenant=tenant,
        kind=kind.name,
        cluster_id=cluster_id,
        resource=draft.resource,
        inputs=checked,
        diff=draft.diff,
        impact={
            **draft.summary.as_row(),
            "warnings": warnings,
            "risks": risks,
            "blast_radius": radius,
            **draft.impact,
        },
        preconditions=draft.preconditions,
        secret_token=seal(secrets) if secrets else "",
        confirm_phrase=draft.name_to_type if risks else None,
        reverts=reverts.pk if reverts else None,
        created_by=actor.name,
        expires_at=timezone.now() + timedelta(seconds=settings.PLAN_LIFETIME_S),
    )
    check_planned(actor.scope, plan)
    plan.impact["undo"] = _undo_of(plan, kind, risks)
    if reverts is not None:
        plan.impact["warnings"] = [*_undoing(reverts), *warnings]
    if plan.impact["undo"] is None:
        plan.impact["warnings"].append(_final(kind, is_undo=reverts is not None))
    about_what = [plan.kind, plan.cluster_id, plan.resource, checked]
    plan.plan_hash = _mark_of([*about_what, draft.diff, draft.preconditions, radius])
    _keep(plan, actor)
    return plan


def _mark_of(content: list[Any]) -> str:
    """The same for plans that say the same, in hex, and by the service's own key.

    Preconditions hold what readers are not shown, as places and connect strings: of a plain hash
    somebody could try by themselves what is behind it. Plans are confirmed by the hash that is
    stored with them, so another key, or an older formula, changes nothing for those that are open.
    """
    text = canonical_json(content)
    return str(salted_hmac("penstock.plan-hash", text, algorithm="sha256").hexdigest())


def _keep(plan: Plan, actor: Actor) -> None:
    """Store a new plan, and that it was made."""
    undoes = {"undoes": plan.reverts} if plan.reverts else {}
    with transaction.atomic():
        plan.save(force_insert=True)
        audit_record(
            tenant_id=plan.tenant_id,
            actor=actor,
            action=f"{plan.kind}.plan",
            resource=plan.resource,
            data={"plan_id": plan.pk, **plan.diff, **undoes},
            about=about(plan, plan.cluster_id),
        )


def _undo_of(plan: Plan, kind: OperationKind, risks: Iterable[Risk]) -> dict[str, Any] | None:
    """What the plan's own undo would put back, and what of it not; None without one."""
    if kind.undo(plan) is None:
        return None
    return {"restores": kind.restores, "stays": [STAYS[risk] for risk in risks]}


def _undoing(operation: Operation) -> list[dict[str, Any]]:
    """What a plan says that undoes this operation."""
    if operation.state in {FAILED, CANCELLED}:
        of: dict[str, Any] = {"operation": operation.pk, "state": operation.state}
        if not operation.remains:
            return [warning_of("undoes/unnoted", "info", **of)]
        return [warning_of("undoes/rest", "info", remains=" ".join(operation.remains), **of)]
    undone = required_kind(operation.kind)
    risks = operation.plan.impact.get("risks", [])
    return [
        warning_of(
            "undoes",
            "info",
            operation=operation.pk,
            restores=undone.name,
            phrases={"restores": {undone.name: undone.restores}},
        ),
        *(warning_of(f"not-restored/{Risk(risk)}") for risk in risks),
    ]


def _final(kind: OperationKind, *, is_undo: bool) -> dict[str, Any]:
    sentence = "undo-is-final" if is_undo else "no-undo"
    return warning_of(sentence, final=kind.name, phrases={"final": {kind.name: kind.final}})


def _check_open_plans(tenant: Tenant) -> None:
    """Before the brokers are asked: a plan costs them and us the most when it is made."""
    now = timezone.now()
    ends = list(
        Plan.objects.filter(tenant=tenant, state=PLAN_OPEN, expires_at__gt=now)
        .order_by("expires_at")
        .values_list("expires_at", flat=True)[: settings.PLANS_OPEN_MAX]
    )
    if len(ends) < settings.PLANS_OPEN_MAX:
        return
    raise TooManyRequests(
        f"{len(ends)} plans are open; confirm some, or wait until they expire.",
        code="too-many-plans",
        retry_after_s=math.ceil((ends[0] - now).total_seconds()),
    )


def check_confirmable(plan: Plan, *, plan_hash: str, confirm: str) -> None:
    """Refuse a plan that is used, expired, stale, another one, or not really confirmed."""
    check_open(plan)
    if plan_hash != plan.plan_hash:
        raise Conflict(
            f"The hash is not that of the plan {plan.id}; look at the plan again.",
            code="plan-hash-mismatch",
        )
    if plan.confirm_phrase and confirm != plan.confirm_phrase:
        raise Invalid(
            f"Type {plan.confirm_phrase!r} to confirm.",
            code="confirm-mismatch",
            errors=[
                {
                    "pointer": "/confirm",
                    "code": "confirm-mismatch",
                    "detail": f"must equal {plan.confirm_phrase!r}",
                }
            ],
        )


def check_open(plan: Plan) -> None:
    """Refuse a plan that is used, expired or stale, and say which."""
    state = plan_state(state=plan.state, expires_at=plan.expires_at, now=timezone.now())
    if state == PLAN_USED:
        operation = getattr(plan, "operation", None)
        raise Conflict(
            f"The plan {plan.id} was confirmed already"
            + (f", by {operation.id}." if operation else "."),
            code="plan-used",
            operation_id=operation.id if operation else None,
        )
    if state == PLAN_EXPIRED:
        raise Gone("This plan is older than 15 minutes; make a new one.", code="plan-expired")
    if state == PLAN_STALE:
        raise Conflict(
            f"What the plan {plan.id} was made of has changed. Make a new plan.", code="plan-stale"
        )


def check_fresh(plan: Plan, actor: Actor) -> None:
    """Compare the plan's preconditions and extents with the world now; refuse a stale plan."""
    difference = staleness(plan, actor)
    if difference:
        plan.leave_open(PLAN_STALE)
        raise Conflict(
            f"The world has moved since this plan was made: {difference}. Make a new plan.",
            code="plan-stale",
        )
    _check_blast_radius(plan, actor)


def _check_blast_radius(plan: Plan, actor: Actor) -> None:
    try:
        now = required_kind(plan.kind).blast_radius_now(_context(plan, actor), plan)
    except (Invalid, Conflict, NotFound) as refusal:
        plan.leave_open(PLAN_STALE)
        raise Conflict(f"{refusal.detail} Make a new plan.", code="plan-stale") from refusal
    radius = [extent.as_row() for extent in now]
    changes = grown(plan.impact.get("blast_radius", []), radius, sight(actor.scope, plan))
    if changes:
        plan.leave_open(PLAN_STALE)
        raise Conflict(
            f"More would be hit than this plan says. {'. '.join(map(growth_text, changes))}."
            " Make a new plan.",
            code="blast-radius-changed",
            changes=changes,
        )


def staleness(plan: Plan, actor: Actor) -> str:
    """What differs between the plan's preconditions and now; empty when nothing does."""
    kind = required_kind(plan.kind)
    try:
        now = kind.preconditions_now(_context(plan, actor), plan)
    except (Invalid, Conflict, NotFound) as refusal:
        return refusal.detail
    changed = sorted(
        key
        for key in {*now, *plan.preconditions}
        if content_hash(now.get(key)) != _hash_of(plan, key)
    )
    return ", ".join(changed)


def _context(plan: Plan, actor: Actor) -> PlanContext:
    return PlanContext(
        tenant=plan.tenant, cluster_id=plan.cluster_id, actor=actor, secrets=plan_secrets(plan)
    )


def plan_secrets(plan: Plan) -> dict[str, Any]:
    return unseal(plan.secret_token) if plan.secret_token else {}


def _hash_of(plan: Plan, key: str) -> str:
    return content_hash(plan.preconditions.get(key))


def _checked_inputs(
    kind: OperationKind, inputs: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    serializer = kind.inputs(data=inputs)
    if not serializer.is_valid():
        from rest_framework.exceptions import ValidationError

        from controlplane.common.exception_handler import to_problem

        problem = to_problem(ValidationError({"inputs": serializer.errors}))
        raise problem or Invalid()
    checked = dict(serializer.validated_data)
    secrets = {name: checked.pop(name) for name in kind.secret_inputs if checked.get(name)}
    return checked, secrets
