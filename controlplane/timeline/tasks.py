"""Celery's entry point: forgetting what is old."""

from celery import shared_task
from django.utils import timezone

from controlplane.timeline import services


@shared_task(name="timeline.housekeeping")
def housekeeping() -> int:
    """How many events went."""
    return services.forget_old(timezone.now())
