"""Celery's entries into this app; each fetches and calls, nothing more."""

import logging

from celery import shared_task
from django.utils import timezone

from controlplane.clusters import connections, losing, owed
from controlplane.clusters.hosts import HostsUnavailableError
from controlplane.clusters.renewal import renew_certificates

log = logging.getLogger(__name__)


@shared_task(name="clusters.forget_removed")
def forget_removed() -> list[str]:
    return connections.forget_removed()


@shared_task(name="clusters.settle_owed")
def settle_owed() -> list[str]:
    """What hosts that are back have deleted of clusters that went while they were away.

    First ZooKeeper is told what it has not been told of hosts that were declared lost.
    """
    try:
        losing.fence()
        return owed.settle()
    except HostsUnavailableError as error:
        log.warning("what hosts owe is looked at by the next run: %s", error)
        return []


@shared_task(name="clusters.renew_certificates")
def renew() -> int:
    """Renew what is due, and send what has not reached its host; how many brokers were sent one."""
    try:
        return renew_certificates(timezone.now()).sent
    except HostsUnavailableError as error:
        log.warning("certificates are renewed at the next run: %s", error)
        return 0
