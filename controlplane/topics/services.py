"""Writes: a retention lease begins, is extended, ends, or is tried to end again later."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.common.problems import Conflict
from controlplane.operations.models import Operation
from controlplane.operations.operations import PlanDraft
from controlplane.operations.services import announced_start
from controlplane.topics.models import (
    ACTIVE,
    FAILED,
    RESTORING,
    RetentionLease,
)
from controlplane.topics.rules import retry_after_s
from controlplane.topics.selectors import open_leases

LEASES_PER_SWEEP = 100
"""At once; the rest waits for the next sweep."""
IN_THE_WAY_S = 5.0
"""How soon the end is tried again when another operation on the topic was under way."""


def lease_begin(operation: Operation) -> None:
    """In the transaction in which its operation succeeds: from now on its time runs."""
    inputs = operation.plan.inputs
    ends_at = timezone.now() + timedelta(seconds=inputs["for_s"])
    held = {
        "operation": operation,
        "held_ms": inputs["retention_ms"],
        "reason": inputs["reason"],
        "ends_at": ends_at,
        "next_try_at": ends_at,
        "tries": 0,
        "problem": "",
    }
    if operation.plan.diff["extends"]:
        rows = open_leases(operation.cluster_id).filter(topic=inputs["name"])
        if rows.update(**held):
            return
    _create(operation, **held)


def lease_left(operation: Operation, problem: str) -> None:
    """Its operation failed and could not put the retention back: the sweep goes on trying."""
    if operation.plan.diff["extends"]:
        return  # the lease that it should have extended still stands, with its own end
    inputs, now = operation.plan.inputs, timezone.now()
    _create(
        operation,
        operation=operation,
        held_ms=inputs["retention_ms"],
        reason=inputs["reason"],
        ends_at=now,
        next_try_at=now,
        problem=problem,
    )


def _create(of: Operation, **held: Any) -> None:
    plan = of.plan
    RetentionLease.objects.create(
        tenant_id=of.tenant_id,
        cluster_id=of.cluster_id or "",
        topic=plan.inputs["name"],
        topic_id=plan.preconditions["topic_id"],
        own_before=plan.diff["restores_to"],
        before_ms=plan.diff["restores_to_ms"],
        **held,
    )


def lease_end(cluster_id: str | None, topic: str, state: str, how: str) -> None:
    """One that is open is over; without one nothing happens."""
    rows = open_leases(cluster_id).filter(topic=topic)
    RetentionLease.move_all(rows, state, how_ended=how, ended_at=timezone.now(), problem="")


def lease_not_restored(cluster_id: str | None, topic: str, problem: str) -> None:
    """The operation that should have put the retention back failed: it is tried again."""
    rows = open_leases(cluster_id).filter(topic=topic)
    RetentionLease.move_some(rows, RESTORING, ACTIVE, problem=problem)


def leases_due() -> list[RetentionLease]:
    """Those whose time is over, the longest due first."""
    due = RetentionLease.objects.filter(state=ACTIVE, next_try_at__lte=timezone.now())
    rows = due.select_related("tenant", "cluster").order_by("next_try_at")
    return list(rows[:LEASES_PER_SWEEP])


def lease_restore_start(row: RetentionLease, kind_name: str, draft: PlanDraft) -> bool:
    """Start the operation that puts the retention back; False: not now.

    Of several sweeps one starts it. It is tried again in case that operation fails, ever later.
    """
    now = timezone.now()
    mine = RetentionLease.objects.filter(pk=row.pk, state=ACTIVE)
    if row.cluster.deleted_at is not None:
        RetentionLease.move_all(mine, FAILED, how_ended="its cluster was removed", ended_at=now)
        return False
    try:
        with transaction.atomic():
            taken = RetentionLease.move_all(
                mine.filter(tries=row.tries, next_try_at=row.next_try_at),
                RESTORING,
                tries=row.tries + 1,
                next_try_at=now + timedelta(seconds=retry_after_s(row.tries)),
            )
            if not taken:
                return False
            announced_start(
                tenant=row.tenant,
                kind_name=kind_name,
                cluster_id=row.cluster_id,
                inputs={"name": row.topic, "lease": row.operation_id},
                draft=draft,
                reason=f"The retention lease of {row.operation_id} is over.",
            )
    except Conflict as conflict:
        mine.update(next_try_at=now + timedelta(seconds=IN_THE_WAY_S), problem=conflict.detail)
        return False
    return True
