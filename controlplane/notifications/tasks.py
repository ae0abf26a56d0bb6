"""Celery's entry points: a round of deliveries, and tidying up."""

from celery import shared_task

from controlplane.notifications import sending, services


@shared_task(name="notifications.send_due")
def send_due() -> int:
    return sending.send_due()


@shared_task(name="notifications.tidy")
def tidy() -> int:
    return services.tidy()
