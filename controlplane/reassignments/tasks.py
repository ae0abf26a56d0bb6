"""Beat's safety net under the throttle, and scheduled rebalances."""

import logging

from celery import shared_task
from django.utils import timezone

from controlplane.clusters.models import RUNNING, Cluster
from controlplane.clusters.selectors import gateway_for
from controlplane.common.once_a_minute import OnceAMinute
from controlplane.common.redis_link import LINK
from controlplane.gateway.errors import GatewayError
from controlplane.reassignments import scheduled
from controlplane.reassignments.models import ThrottleLease
from controlplane.reassignments.services import leases_expired, throttle_release

LEASES_MAX = 50
"""At once; the rest waits for the next call."""

log = logging.getLogger(__name__)
complaints = OnceAMinute(LINK)


@shared_task(name="reassignments.release_expired")
def release_expired() -> int:
    """Remove throttles whose lease ran out: their operation is dead or could not."""
    now = timezone.now()
    released = 0
    for lease in leases_expired(LEASES_MAX):
        cluster = Cluster.objects.filter(pk=lease.cluster_id, phase=RUNNING).first()
        if cluster is None:
            ThrottleLease.objects.filter(pk=lease.pk).update(released_at=now)
            continue
        try:
            throttle_release(gateway_for(cluster), lease.operation_id, lease.cluster_id)
            released += 1
        except GatewayError as error:
            if complaints.may(f"throttle:{lease.cluster_id}"):
                log.warning("the throttle of %s stays for now: %s", lease.operation_id, error)
    return released


@shared_task(name="reassignments.rebalance")
def rebalance() -> int:
    return scheduled.rebalance_round()
