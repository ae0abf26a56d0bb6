"""Loads the Celery app with Django, so that every process sends its tasks to the right queue."""

from controlplane.celery import app as celery_app

__all__ = ["celery_app"]
