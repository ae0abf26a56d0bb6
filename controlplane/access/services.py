"""Writes: the overlap of two passwords begins, ends, or is tried again later."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from controlplane.access.models import ENDED, HELD, STANDING, PasswordOverlap
from controlplane.access.rules import LAST_LOGIN, retry_after_s
from controlplane.access.selectors import open_overlaps
from controlplane.common.problems import Conflict
from controlplane.operations.models import Operation
from controlplane.operations.operations import PlanDraft
from controlplane.operations.services import announced_start

OVERLAPS_PER_SWEEP = 100
"""At once; the rest waits for the next sweep."""
IN_THE_WAY_S = 5.0
"""How soon the end is tried again when another operation on the user was under way."""


def overlap_begin(operation: Operation) -> None:
    """In the transaction in which the rotation succeeds: from now on its time runs."""
    diff, inputs = operation.plan.diff, operation.plan.inputs
    now = timezone.now()
    ends_at = now + timedelta(seconds=inputs["overlap_s"])
    PasswordOverlap.objects.create(
        tenant_id=operation.tenant_id,
        cluster_id=operation.cluster_id or "",
        username=inputs["username"],
        old_mechanism=diff["before"]["mechanisms"][0],
        new_mechanism=diff["after"]["new_mechanism"],
        rotation=operation,
        ends_at=ends_at,
        next_try_at=ends_at,
        created_at=now,
    )


def overlap_end(cluster_id: str | None, username: str, how: str) -> None:
    """One that is open is over; without one nothing happens."""
    rows = open_overlaps(cluster_id).filter(username=username)
    PasswordOverlap.move_all(rows, ENDED, how_ended=how, ended_at=timezone.now())


def overlap_not_ended(cluster_id: str | None, username: str, error: dict[str, str]) -> None:
    """An operation that should have ended it failed; one that never can is not tried again."""
    rows = open_overlaps(cluster_id).filter(username=username)
    detail = error.get("detail", "")
    if error.get("code") == LAST_LOGIN:
        PasswordOverlap.move_all(rows, HELD, problem=detail)
    else:
        rows.update(problem=detail)


def overlaps_hold(problem: str) -> int:
    """Nothing is ended by the service itself any more; how many stood."""
    rows = PasswordOverlap.objects.filter(state=STANDING)
    return PasswordOverlap.move_all(rows, HELD, problem=problem)


def overlaps_due() -> list[PasswordOverlap]:
    """Those whose time is over, the longest due first."""
    due = PasswordOverlap.objects.filter(state=STANDING, next_try_at__lte=timezone.now())
    rows = due.select_related("tenant", "cluster").order_by("next_try_at")
    return list(rows[:OVERLAPS_PER_SWEEP])


def overlap_end_start(row: PasswordOverlap, kind_name: str, draft: PlanDraft) -> bool:
    """Start the operation that removes the old password; False: not now.

    Of several sweeps one starts it. It is tried again in case that operation fails, ever later.
    """
    now = timezone.now()
    mine = PasswordOverlap.objects.filter(pk=row.pk, state=STANDING)
    if row.cluster.deleted_at is not None:
        PasswordOverlap.move_all(mine, ENDED, how_ended="its cluster was removed", ended_at=now)
        return False
    with transaction.atomic():
        again_at = now + timedelta(seconds=retry_after_s(row.tries))
        taken = mine.filter(tries=row.tries, next_try_at=row.next_try_at).update(
            tries=row.tries + 1, next_try_at=again_at
        )
        if not taken:
            return False
        try:
            announced_start(
                tenant=row.tenant,
                kind_name=kind_name,
                cluster_id=row.cluster_id,
                inputs={
                    "username": row.username,
                    "mechanism": row.old_mechanism,
                    "rotation": row.rotation_id,
                },
                draft=draft,
                reason=f"The overlap that {row.rotation_id} began is over.",
            )
        except Conflict as conflict:
            mine.update(
                tries=row.tries,
                next_try_at=now + timedelta(seconds=IN_THE_WAY_S),
                problem=conflict.detail,
            )
            return False
    return True
