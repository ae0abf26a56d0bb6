"""Celery's entry points: a round over all rules, and forgetting what is old."""

from celery import shared_task
from django.utils import timezone

from controlplane.alerts import evaluation, facts_burns, services, tracks
from controlplane.clusters.models import Cluster


@shared_task(name="alerts.evaluate")
def evaluate() -> int:
    """How many alerts moved."""
    found = evaluation.evaluate()
    return found.moved if found is not None else 0


@shared_task(name="alerts.housekeeping")
def housekeeping() -> int:
    ids = list(Cluster.objects.filter(deleted_at=None).values_list("pk", flat=True))
    tracks.forget(ids)
    facts_burns.forget(ids)
    return services.forget_old(timezone.now())
