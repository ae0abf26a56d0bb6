"""Celery's entry points: who is due, and one look at one cluster, which may not answer."""

from typing import Any

from celery import shared_task

from controlplane.drift import services
from controlplane.operations.dispatch import Place, run_here
from controlplane.operations.queues import SLOW

EXPIRES_S = 60


@shared_task(name="drift.due")
def due() -> int:
    return services.due(_send)


@shared_task(name="drift.look", bind=True)
def look(self: Any, cluster_id: str) -> bool:
    """Under the tenant's share of the pool; beyond it the task is put back."""
    tenant_id = services.tenant_of_due(cluster_id)
    if tenant_id is None:
        return False
    place = Place(f"drift:{cluster_id}", tenant_id=tenant_id, cluster_id=cluster_id, queue=SLOW)
    found = run_here(self, place, lambda: services.look(cluster_id), expires=EXPIRES_S)
    return bool(found)


def _send(cluster_id: str) -> None:
    # A look that nobody has begun by then is asked for again.
    look.apply_async((cluster_id,), expires=EXPIRES_S, queue=SLOW)
