"""Celery's entry point into the tidying of runs."""

from celery import shared_task

from controlplane.runbooks.services import runs_tidy


@shared_task(name="runbooks.housekeeping")
def housekeeping() -> None:
    runs_tidy()
