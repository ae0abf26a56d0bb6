"""What is swept by schedule."""

from importlib import import_module

from celery import shared_task
from django.conf import settings


@shared_task(name="tenants.clear_sessions")
def clear_sessions() -> None:
    """Delete the rows of sessions that have run out: nobody else ever does."""
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
