"""Beat's safety net under the throttle, and scheduled rebalances."""

import logging
import time
from functools import partial

from celery import shared_task
from django.utils import timezone

from controlplane.clusters.models import RUNNING, Cluster
from controlplane.clusters.selectors import gateway_for
from controlplane.common.apart import apart
from controlplane.common.once_a_minute import OnceAMinute
from controlplane.common.redis_link import LINK
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.patience import deadline
from controlplane.operations.dispatch import slow_share
from controlplane.operations.queues import in_turns
from controlplane.reassignments import scheduled
from controlplane.reassignments.models import ThrottleLease
from controlplane.reassignments.services import leases_expired, throttle_release

LEASES_MAX, LEASES_READ_MAX = 50, 1_000
"""At once, and those that tenants take turns among; the rest waits for the next call."""
RELEASE_S, ROUND_S = 60.0, 30.0
"""All answers of one cluster together; and past which no other cluster is begun."""

log = logging.getLogger(__name__)
complaints = OnceAMinute(LINK)


@shared_task(name="reassignments.release_expired")
def release_expired() -> int:
    """Remove throttles whose lease ran out: their operation is dead or could not.

    Tenants in turns, each under its share of the pool; one cluster's trouble stops no other.
    """
    ends_s = time.monotonic() + ROUND_S
    expired = list(leases_expired(LEASES_READ_MAX))
    serving = Cluster.objects.filter(pk__in={each.cluster_id for each in expired}, phase=RUNNING)
    clusters = {each.pk: each for each in serving}
    turns = in_turns((_tenant_of(clusters.get(each.cluster_id)), each) for each in expired)
    released = 0
    for lease in turns[:LEASES_MAX]:
        if time.monotonic() >= ends_s:
            break
        what = f"the throttle of {lease.operation_id}"
        cluster = clusters.get(lease.cluster_id)
        released += apart(what, partial(_release, lease, cluster), otherwise=False)
    return released


def _tenant_of(cluster: Cluster | None) -> str:
    return "" if cluster is None else str(cluster.tenant_id)


def _release(lease: ThrottleLease, cluster: Cluster | None) -> bool:
    if cluster is None:
        ThrottleLease.objects.filter(pk=lease.pk).update(released_at=timezone.now())
        return False
    with slow_share(tenant_id=_tenant_of(cluster), cluster_id=cluster.pk) as is_free:
        if not is_free:
            return False
        try:
            with deadline(RELEASE_S):
                throttle_release(gateway_for(cluster), lease.operation_id, lease.cluster_id)
        except GatewayError as error:
            if complaints.may(f"throttle:{lease.cluster_id}"):
                log.warning("the throttle of %s stays for now: %s", lease.operation_id, error)
            return False
    return True


@shared_task(name="reassignments.rebalance")
def rebalance() -> int:
    return scheduled.rebalance_round()
