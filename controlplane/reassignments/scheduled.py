"""Rounds of scheduled rebalances: one look at a cluster, one verdict, one operation at a time.

The operation is the one that a person would get by a plan of all topics over all brokers, under
the schedule's limit. Why it began, and how far from the mean brokers were before and after, is
kept.

A tenant's cluster may be anything: what is odd about one is logged and stands as its verdict, one
that answers slowly is asked no longer than `LOOK_S`, and under its tenant's share of the pool.
"""

import time
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from controlplane.audit.services import SYSTEM
from controlplane.clusters.models import RUNNING, Cluster
from controlplane.common import leases
from controlplane.common.apart import apart
from controlplane.common.problems import Problem
from controlplane.common.said import kept
from controlplane.common.words import storable
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.patience import deadline
from controlplane.operations.dispatch import slow_share
from controlplane.operations.operations import PlanContext, PlanDraft, required_kind
from controlplane.operations.queues import in_turns
from controlplane.operations.services import announced_start
from controlplane.reassignments.imbalance import (
    BEGIN,
    LATER,
    NONE,
    WAIT,
    Facts,
    Verdict,
    judge,
    not_due,
)
from controlplane.reassignments.inputs import BATCH_DEFAULT
from controlplane.reassignments.models import RebalanceSchedule, ScheduledRebalance
from controlplane.reassignments.operations import Reassignment
from controlplane.reassignments.schedule_ends import TEXT_MAX, follow_runs, run_record
from controlplane.reassignments.schedule_facts import LOOK_S, UNKNOWN, facts_of, figures_of
from controlplane.reassignments.schedule_sentences import judged, with_why
from controlplane.reassignments.schedules import past_of, schedule_of
from controlplane.tenants.models import ACTIVE

LEASE = timedelta(seconds=120)
"""Nobody renews it: far more than `LOOK_S`."""
ROUND_S = 30.0
"""Past it a round looks at no other cluster: the thread is one of few."""
CLUSTERS_AT_A_TIME = 20
"""In one round, tenants in turns, of each those first that were looked at the longest ago."""
RUNS_KEPT = 100
"""Of one cluster."""
NOTHING_BETTER = "nothing-to-do"
ODD = Verdict(act=WAIT, code="look-failed", parts=(judged("look-failed"),))


def rebalance_round(now: datetime | None = None) -> int:
    """One look at every cluster whose schedule is on and due; how many rebalances it began.

    Suspended tenants are read-only: nothing of theirs is moved.
    """
    now, ends_s = now or timezone.now(), time.monotonic() + ROUND_S
    follow_runs(now, ends_s)
    rows = RebalanceSchedule.objects.filter(
        enabled=True,
        cluster__deleted_at=None,
        cluster__phase=RUNNING,
        cluster__tenant__state=ACTIVE,
    )
    rows = rows.select_related("cluster").order_by(F("looked_at").asc(nulls_first=True), "pk")
    due = [(row.cluster.tenant_id, row) for row in rows if _is_due_apart(row, now)]
    looks = begun = 0
    for row in in_turns(due):
        if looks == CLUSTERS_AT_A_TIME or time.monotonic() >= ends_s:
            break
        with slow_share(tenant_id=str(row.cluster.tenant_id), cluster_id=row.pk) as is_free:
            if is_free:  # else the next round sees to it
                looks += 1
                begun += apart(
                    f"the look at {row.pk}", partial(_look, row.pk, now), otherwise=False
                )
    return begun


def _is_due_apart(row: RebalanceSchedule, now: datetime) -> bool:
    return apart(f"the schedule of {row.pk}", partial(_is_due, row, now), otherwise=False)


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
    text, parts = kept(verdict.parts, TEXT_MAX)
    return {
        "decided_code": verdict.code[:40],
        "decided_text": text,
        "decided_parts": parts,
        "decided_at": now,
    }


def _look(cluster_id: str, now: datetime) -> bool:
    """True when a rebalance was begun."""
    rows = RebalanceSchedule.objects.filter(pk=cluster_id)
    token = leases.claim(rows, LEASE)
    if token is None:
        return False
    # Whatever happens it was looked at: the others come before it the next time.
    seen: dict[str, Any] = {"looked_at": now, **UNKNOWN, **_decided(ODD, now)}
    try:
        row = rows.select_related("cluster__tenant").get()
        is_due = not_due(schedule_of(row), past_of(row.cluster, row), now) is None
        if not is_due or row.cluster.tenant.state != ACTIVE:
            seen = {}  # another process was quicker, or somebody switched it off
            return False
        with deadline(LOOK_S):
            verdict, figures = _seen(row)
        seen |= {**figures, **_decided(verdict, now)}
        return verdict.act == BEGIN
    finally:
        leases.release(rows, token, **seen)


def _seen(row: RebalanceSchedule) -> tuple[Verdict, dict[str, float | None]]:
    """What came of the look, and how far brokers are from the mean."""
    try:
        facts = facts_of(row.cluster)
    except GatewayError as error:
        parts = (judged("cluster-silent", error=storable(error.code)),)
        return Verdict(act=WAIT, code="cluster-silent", parts=parts), UNKNOWN
    return _begin(row, judge(schedule_of(row), facts), facts), figures_of(facts)


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
            parts = (*verdict.parts, with_why("nothing-better", problem.detail))
            return Verdict(act=NONE, code="nothing-better", parts=parts)
        return _refused(verdict, problem.code, problem.detail)
    return verdict


def _refused(verdict: Verdict, code: str, why: str) -> Verdict:
    return Verdict(act=WAIT, code=code, parts=(*verdict.parts, with_why("refused", why)))


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
        reason=storable(f"Scheduled. {verdict.text}")[:500],
    )
    found, (text, parts) = figures_of(facts), kept(verdict.parts, TEXT_MAX)
    run = ScheduledRebalance.objects.create(
        cluster=cluster,
        operation_id=operation.id,
        reason=text,
        reason_parts=parts,
        bytes_before=found["bytes_percent"],
        leaders_before=found["leaders_percent"],
    )
    run_record(run, "begun", run.reason)
    old = ScheduledRebalance.objects.filter(cluster=cluster).values_list("pk", flat=True)
    ScheduledRebalance.objects.filter(pk__in=list(old[RUNS_KEPT:])).delete()
