"""Celery's entries into self-healing; each fetches and calls, nothing more."""

from celery import shared_task

from controlplane.healing import addresses, draining, ensembles, services


@shared_task(name="healing.heal")
def heal() -> int:
    return services.heal_round()


@shared_task(name="healing.drain")
def drain() -> int:
    """Brokers of hosts that are emptied, and of those that are reached, or reach ZooKeeper, at
    another address.
    """
    return draining.drain_round() + addresses.address_round() + ensembles.zookeeper_round()
