"""What came of scheduled rebalances: each ends with its operation, whatever its cluster says."""

import logging
import time
from datetime import datetime
from functools import partial

from django.db import transaction

from controlplane.audit.services import SYSTEM, About, audit_record
from controlplane.clusters.connections import gateway_for
from controlplane.clusters.models import Cluster
from controlplane.common.apart import apart
from controlplane.common.problems import Problem
from controlplane.common.words import storable
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.patience import deadline
from controlplane.operations.dispatch import slow_share
from controlplane.operations.models import Operation
from controlplane.operations.queues import in_turns
from controlplane.operations.states import ACTIVE_STATES
from controlplane.operations.states import CANCELLED as OP_CANCELLED
from controlplane.operations.states import SUCCEEDED as OP_SUCCEEDED
from controlplane.reassignments.imbalance import Facts
from controlplane.reassignments.models import ScheduledRebalance
from controlplane.reassignments.schedule_facts import LOOK_S, UNKNOWN, figures_of, loads_of
from controlplane.reassignments.schedule_states import CANCELLED, FAILED, RUNNING, SUCCEEDED
from controlplane.reassignments.selectors import read_truth

log = logging.getLogger(__name__)
TEXT_MAX = 1_000


def follow_runs(now: datetime, ends_s: float) -> None:
    """Those whose operation has ended: how, and how far from the mean brokers are now.

    Past `ends_s`, by the monotonic clock, the others wait for the next round.
    """
    runs = ScheduledRebalance.objects.filter(state=RUNNING).select_related("cluster")
    for run in in_turns((each.cluster.tenant_id, each) for each in runs):
        if time.monotonic() >= ends_s:
            return
        apart(f"the end of {run.id}", partial(_follow, run, now), otherwise=None)


def _follow(run: ScheduledRebalance, now: datetime) -> None:
    operation = Operation.objects.filter(pk=run.operation_id).first()
    if operation is not None and operation.state in ACTIVE_STATES:
        return
    tenant_id, cluster_id = str(run.cluster.tenant_id), run.cluster_id
    with slow_share(tenant_id=tenant_id, cluster_id=cluster_id) as is_free:
        if is_free:
            _end(run, operation, now)


def _end(run: ScheduledRebalance, operation: Operation | None, now: datetime) -> None:
    state, result = _result(operation)
    with deadline(LOOK_S):
        after = apart(f"the balance of {run.cluster_id}", partial(_after, run.cluster), UNKNOWN)
    with transaction.atomic():
        ended = ScheduledRebalance.move_all(
            ScheduledRebalance.objects.filter(pk=run.pk),
            state,
            result=storable(result)[:TEXT_MAX],
            ended_at=now,
            bytes_after=after["bytes_percent"],
            leaders_after=after["leaders_percent"],
        )
        if ended:
            run_record(run, state, result)


def _result(operation: Operation | None) -> tuple[str, str]:
    if operation is None:
        return FAILED, "Its operation is gone: what it did is not known."
    if operation.state == OP_SUCCEEDED:
        return SUCCEEDED, str(operation.plan.impact["summary"])
    error = operation.error or {}
    if operation.state == OP_CANCELLED:
        return CANCELLED, "It was cancelled."
    return FAILED, str(error.get("detail") or "It did not succeed.")


def _after(cluster: Cluster) -> dict[str, float | None]:
    try:
        truth = read_truth(gateway_for(cluster), None)
    except (GatewayError, Problem) as error:
        log.info("how %s is balanced after is not known: %s", cluster.id, error)
        return UNKNOWN
    return figures_of(Facts(loads=loads_of(truth)))


def run_record(run: ScheduledRebalance, what: str, reason: str) -> None:
    audit_record(
        tenant_id=run.cluster.tenant_id,
        actor=SYSTEM,
        action=f"rebalance.{what}",
        resource=f"cluster/{run.cluster.name}",
        reason=reason[:500],
        data={"operation_id": run.operation_id},
        about=About(cluster_id=run.cluster_id, cluster_name=run.cluster.name),
    )
