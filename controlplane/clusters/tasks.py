"""Celery's entry into this app; it fetches and calls, nothing more."""

from celery import shared_task

from controlplane.clusters import connections


@shared_task(name="clusters.forget_removed")
def forget_removed() -> list[str]:
    return connections.forget_removed()
