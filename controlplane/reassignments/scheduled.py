"""Rounds of scheduled rebalances: one look at a cluster, one verdict, one operation at a time.

The operation is the one that a person would get by a plan of all topics over all brokers, under
the schedule's limit. Why it began, and how far from the mean brokers were before and after, is
kept.
"""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from controlplane.audit.services import SYSTEM, About, audit_record
from controlplane.clusters.connections import gateway_for
from controlplane.clusters.host_states import DRAINING
from controlplane.clusters.models import MANAGED, RUNNING, Broker, Cluster, HostState, LostBroker
from controlplane.common import leases
from controlplane.common.problems import Problem
from controlplane.gateway.errors import GatewayError
from controlplane.healing.looking import under_way
from controlplane.healing.models import HealingCase
from controlplane.healing.states import OPEN
from controlplane.operations.models import Operation
from controlplane.operations.operations import PlanContext, PlanDraft, required_kind
from controlplane.operations.services import announced_start
from controlplane.operations.states import ACTIVE_STATES
from controlplane.operations.states import CANCELLED as OP_CANCELLED
from controlplane.operations.states import SUCCEEDED as OP_SUCCEEDED
from controlplane.reassignments.imbalance import (
    BEGIN,
    LATER,
    NONE,
    WAIT,
    Facts,
    Load,
    Verdict,
    imbalance_of_bytes,
    imbalance_of_leaders,
    judge,
    not_due,
)
from controlplane.reassignments.inputs import BATCH_DEFAULT
from controlplane.reassignments.models import RebalanceSchedule, ScheduledRebalance
from controlplane.reassignments.operations import Reassignment
from controlplane.reassignments.schedule_states import CANCELLED, FAILED, SUCCEEDED
from controlplane.reassignments.schedule_states import RUNNING as UNDER_WAY
from controlplane.reassignments.schedules import past_of, schedule_of
from controlplane.reassignments.selectors import Truth, read_truth

log = logging.getLogger(__name__)
LEASE = timedelta(seconds=120)
CLUSTERS_AT_A_TIME = 20
"""In one round, those first that were looked at the longest ago."""
RUNS_KEPT = 100
"""Of one cluster."""
TEXT_MAX = 1_000
NOTHING_BETTER = "nothing-to-do"


def rebalance_round(now: datetime | None = None) -> int:
    """One look at every cluster whose schedule is on and due; how many rebalances it began."""
    now = now or timezone.now()
    follow_runs(now)
    rows = RebalanceSchedule.objects.filter(
        enabled=True, cluster__deleted_at=None, cluster__phase=RUNNING
    )
    rows = rows.select_related("cluster").order_by(F("looked_at").asc(nulls_first=True), "pk")
    due = [row.pk for row in rows if _is_due(row, now)]
    return sum(_look(cluster_id, now) for cluster_id in due[:CLUSTERS_AT_A_TIME])


def _is_due(row: RebalanceSchedule, now: datetime) -> bool:
    """What forbids a look without anybody being asked is kept where it is news."""
    verdict = not_due(schedule_of(row), past_of(row.cluster, row), now)
    if verdict is None:
        return True
    # A look that is not due yet is no news: what the last one came to still stands.
    if verdict.code != LATER and verdict.text != row.decided_text:
        RebalanceSchedule.objects.filter(pk=row.pk).update(**_decided(verdict, now))
    return False


def _decided(verdict: Verdict, now: datetime) -> dict[str, Any]:
    return {
        "decided_code": verdict.code[:40],
        "decided_text": verdict.text[:TEXT_MAX],
        "decided_at": now,
    }


def _look(cluster_id: str, now: datetime) -> bool:
    """True when a rebalance was begun."""
    rows = RebalanceSchedule.objects.filter(pk=cluster_id)
    token = leases.claim(rows, LEASE)
    if token is None:
        return False
    kept: dict[str, Any] = {"looked_at": now}
    try:
        row = rows.select_related("cluster__tenant").get()
        if not_due(schedule_of(row), past_of(row.cluster, row), now) is not None:
            kept = {}  # another process was quicker, or somebody switched it off
            return False
        try:
            facts = facts_of(row.cluster)
        except GatewayError as error:
            text = f"The cluster does not answer: {error.code}."
            verdict = Verdict(act=WAIT, code="cluster-silent", text=text)
            kept |= {"bytes_percent": None, "leaders_percent": None}
        else:
            kept |= _figures(facts)
            verdict = _begin(row, judge(schedule_of(row), facts), facts)
        kept |= _decided(verdict, now)
        return verdict.act == BEGIN
    finally:
        leases.release(rows, token, **kept)


def _figures(facts: Facts) -> dict[str, float | None]:
    return {
        "bytes_percent": imbalance_of_bytes(facts.loads).percent,
        "leaders_percent": imbalance_of_leaders(facts.loads).percent,
    }


def facts_of(cluster: Cluster) -> Facts:
    """What the cluster and our own tables say now.

    Raises:
        GatewayError: topics or brokers cannot be read.
    """
    gateway = gateway_for(cluster)
    truth = read_truth(gateway, None)
    return Facts(
        loads=loads_of(truth),
        missing=_missing(cluster, set(truth.racks)),
        behind=sum(
            tp in truth.unled or len(truth.in_sync[tp]) < len(replicas)
            for tp, replicas in truth.assignment.items()
        ),
        moving=len(gateway.list_reassignments(None)),
        under_way=under_way(cluster),
        is_healing=_is_healing(cluster),
    )


def loads_of(truth: Truth) -> tuple[Load, ...]:
    """What each live broker holds by its own word, and how many partitions prefer it."""
    leaders = [replicas[0] for replicas in truth.assignment.values() if replicas]
    return tuple(
        Load(
            broker=broker,
            bytes=sum(truth.held[broker].values()) if broker in truth.held else None,
            leaders=leaders.count(broker),
        )
        for broker in sorted(truth.racks)
    )


def _missing(cluster: Cluster, live: set[int]) -> int:
    """Of a Kafka that runs elsewhere nobody says which brokers there should be."""
    if cluster.kind != MANAGED:
        return 0
    expected = set(Broker.objects.filter(cluster=cluster).values_list("broker_id", flat=True))
    lost = LostBroker.objects.filter(cluster=cluster).values_list("broker_id", flat=True)
    return len(expected.union(lost) - live)


def _is_healing(cluster: Cluster) -> bool:
    leaving = HostState.objects.filter(state=DRAINING).values("host_id")
    return (
        HealingCase.objects.filter(cluster=cluster, state__in=OPEN).exists()
        or Broker.objects.filter(cluster=cluster, host_id__in=leaving).exists()
    )


def _begin(row: RebalanceSchedule, verdict: Verdict, facts: Facts) -> Verdict:
    """Start what was decided; the verdict as it came out."""
    if verdict.act != BEGIN:
        return verdict
    inputs = {
        "all_topics": True,
        "target_brokers": [load.broker for load in facts.loads],
        "throttle_bytes_per_s": row.throttle_bytes_per_s,
        "batch_size": BATCH_DEFAULT,
    }
    context = PlanContext(tenant=row.cluster.tenant, cluster_id=row.cluster.id, actor=SYSTEM)
    try:
        draft = required_kind(Reassignment.name).plan(context, inputs)
        _start(row.cluster, draft, inputs, verdict, facts)
    except GatewayError as error:
        return _refused(verdict, error.code, str(error))
    except Problem as problem:
        if problem.code == NOTHING_BETTER:
            text = f"{verdict.text} No move makes it better: {problem.detail}"
            return Verdict(act=NONE, code="nothing-better", text=text)
        return _refused(verdict, problem.code, problem.detail)
    return verdict


def _refused(verdict: Verdict, code: str, why: str) -> Verdict:
    return Verdict(act=WAIT, code=code, text=f"{verdict.text} It is refused: {why}")


@transaction.atomic
def _start(
    cluster: Cluster, draft: PlanDraft, inputs: dict[str, Any], verdict: Verdict, facts: Facts
) -> None:
    """The operation and the row that says why, or neither.

    Raises Problem: another operation is in the way.
    """
    operation = announced_start(
        tenant=cluster.tenant,
        kind_name=Reassignment.name,
        cluster_id=cluster.id,
        inputs=inputs,
        draft=draft,
        reason=f"Scheduled. {verdict.text}"[:500],
    )
    found = _figures(facts)
    run = ScheduledRebalance.objects.create(
        cluster=cluster,
        operation_id=operation.id,
        reason=verdict.text[:TEXT_MAX],
        bytes_before=found["bytes_percent"],
        leaders_before=found["leaders_percent"],
    )
    _record(run, "begun", run.reason)
    old = ScheduledRebalance.objects.filter(cluster=cluster).values_list("pk", flat=True)
    ScheduledRebalance.objects.filter(pk__in=list(old[RUNS_KEPT:])).delete()


# -- what came of them --------------------------------------------------------------------------
def follow_runs(now: datetime) -> None:
    """Those whose operation has ended: how, and how far from the mean brokers are now."""
    for run in ScheduledRebalance.objects.filter(state=UNDER_WAY).select_related("cluster"):
        operation = Operation.objects.filter(pk=run.operation_id).first()
        if operation is None or operation.state not in ACTIVE_STATES:
            _end(run, operation, now)


def _end(run: ScheduledRebalance, operation: Operation | None, now: datetime) -> None:
    state, result = _result(operation)
    after = _after(run.cluster)
    with transaction.atomic():
        ended = ScheduledRebalance.move_all(
            ScheduledRebalance.objects.filter(pk=run.pk),
            state,
            result=result[:TEXT_MAX],
            ended_at=now,
            bytes_after=after["bytes_percent"],
            leaders_after=after["leaders_percent"],
        )
        if ended:
            _record(run, state, result)


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
        return {"bytes_percent": None, "leaders_percent": None}
    return _figures(Facts(loads=loads_of(truth)))


def _record(run: ScheduledRebalance, what: str, reason: str) -> None:
    audit_record(
        tenant_id=run.cluster.tenant_id,
        actor=SYSTEM,
        action=f"rebalance.{what}",
        resource=f"cluster/{run.cluster.name}",
        reason=reason[:500],
        data={"operation_id": run.operation_id},
        about=About(cluster_id=run.cluster_id, cluster_name=run.cluster.name),
    )
