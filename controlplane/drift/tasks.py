"""Celery's entry points: who is due, and one look at one cluster, which may not answer."""

from celery import shared_task

from controlplane.drift import services
from controlplane.operations.queues import SLOW

EXPIRES_S = 60


@shared_task(name="drift.due")
def due() -> int:
    return services.due(_send)


@shared_task(name="drift.look")
def look(cluster_id: str) -> bool:
    return services.look(cluster_id)


def _send(cluster_id: str) -> None:
    # A look that nobody has begun by then is asked for again.
    look.apply_async((cluster_id,), expires=EXPIRES_S, queue=SLOW)
