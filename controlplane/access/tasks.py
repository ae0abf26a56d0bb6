"""Celery's entry point into the end of overlapping passwords."""

from celery import shared_task

from controlplane.access.rotation import end_due


@shared_task(name="access.end_overlaps")
def end_overlaps() -> int:
    return end_due()
