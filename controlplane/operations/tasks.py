"""Celery's entry points into the engine; each fetches and calls, nothing more."""

import contextlib
from datetime import timedelta
from typing import Any

from celery import shared_task
from django.db import transaction
from django.utils import timezone
from redis.exceptions import RedisError

from controlplane.common import leases
from controlplane.common.idempotency import forget_old_keys
from controlplane.common.tally import TALLY
from controlplane.operations import dispatch, engine, outbox
from controlplane.operations.models import Operation, Plan
from controlplane.operations.states import ACTIVE_STATES, PLAN_EXPIRED

# A tick that is due for longer than this was lost with its worker or its queue.
LOST_AFTER = timedelta(seconds=2)
SWEPT = "sweep"
"""When the last sweep was: name in the tally's times."""
PLANS_KEPT = timedelta(days=2)


@shared_task(name=outbox.TICK, bind=True)
def operation_tick(self: Any, operation_id: str) -> None:
    place = dispatch.place_of_operation(operation_id)
    if place is not None:
        dispatch.run_here(self, place, lambda: engine.tick(operation_id))


@shared_task(name="operations.sweep")
def sweep() -> int:
    """Drive every operation that is due and that nobody holds."""
    with contextlib.suppress(RedisError):  # who reads the mark finds Redis away as well
        TALLY.mark(SWEPT)
    now = timezone.now()
    lost = list(
        Operation.objects.filter(state__in=ACTIVE_STATES, next_run_at__lt=now - LOST_AFTER)
        .filter(leases.free())
        .values_list("pk", flat=True)[:100]
    )
    if lost:
        with transaction.atomic():
            for operation_id in lost:
                outbox.enqueue(outbox.TICK, [operation_id])
    return len(lost)


@shared_task(name="operations.drain_outbox")
def drain_outbox() -> int:
    return outbox.drain()


@shared_task(name="operations.housekeeping")
def housekeeping() -> None:
    now = timezone.now()
    Plan.move_all(Plan.objects.filter(expires_at__lt=now), PLAN_EXPIRED, secret_token="")
    Plan.objects.filter(operation=None, created_at__lt=now - PLANS_KEPT).delete()
    forget_old_keys()
