"""Celery's entry points: who is due, and one pass over one cluster."""

from celery import shared_task
from django.conf import settings

from controlplane.observed import services


@shared_task(name="observed.due")
def due() -> int:
    return services.due(_send)


@shared_task(name="observed.observe")
def observe(cluster_id: str) -> bool:
    return services.observe(cluster_id)


def _send(cluster_id: str) -> None:
    # A pass that nobody has begun by then is asked for again.
    observe.apply_async((cluster_id,), expires=max(settings.OBSERVE_INTERVAL_S, 5.0))
