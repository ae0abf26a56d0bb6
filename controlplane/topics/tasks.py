"""Celery's entry point into the end of retention leases."""

from celery import shared_task

from controlplane.topics.retention import restore_due


@shared_task(name="topics.end_retention_leases")
def end_retention_leases() -> int:
    return restore_due()
