"""Celery's entry points into the engine; each fetches and calls, nothing more."""

import contextlib
from datetime import timedelta
from typing import Any

from celery import shared_task
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
LOOKED_AT_MAX, SWEPT_MAX = 1_000, 100
"""Operations that one sweep looks at, and ticks that it sends at most."""
SWEPT = "sweep"
"""When the last sweep was: name in the tally's times."""
PLANS_KEPT = timedelta(days=2)


@shared_task(name=outbox.TICK, bind=True)
def operation_tick(self: Any, operation_id: str) -> None:
    place = dispatch.place_of_operation(operation_id)
    if place is not None:
        dispatch.run_here(self, place, lambda: engine.tick(operation_id))


@shared_task(name="operations.sweep", bind=True)
def sweep(self: Any) -> int:
    """Drive every operation that is due and that nobody holds; how many ticks were sent.

    What still waits in the queue is not lost: this task stood in the same queue, so whatever was
    sent `LOST_AFTER` before it has left that by now. Copies of ticks that only wait would make the
    queue longer, and more ticks look lost.
    """
    with contextlib.suppress(RedisError):  # who reads the mark finds Redis away as well
        TALLY.mark(SWEPT)
    queued_for = timedelta(seconds=dispatch.queued_for_s(self))
    lost = (
        Operation.objects.filter(state__in=ACTIVE_STATES)
        .filter(leases.free(), next_run_at__lt=timezone.now() - LOST_AFTER - queued_for)
        .order_by("next_run_at")
        .values_list("pk", flat=True)
    )
    kept_s = LOST_AFTER.total_seconds() + 2 * queued_for.total_seconds()
    fresh = dispatch.not_swept_lately(list(lost[:LOOKED_AT_MAX]), SWEPT_MAX, kept_s)
    return outbox.send(outbox.TICK, [[operation_id] for operation_id in fresh])


@shared_task(name="operations.drain_outbox")
def drain_outbox() -> int:
    return outbox.drain()


@shared_task(name="operations.housekeeping")
def housekeeping() -> None:
    now = timezone.now()
    Plan.move_all(Plan.objects.filter(expires_at__lt=now), PLAN_EXPIRED, secret_token="")
    Plan.objects.filter(operation=None, created_at__lt=now - PLANS_KEPT).delete()
    forget_old_keys()
