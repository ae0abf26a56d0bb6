"""A cluster's schedule of rebalances: read, set, and as the evaluator wants it."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.audit.services import About, Actor, audit_record
from controlplane.clusters.models import Cluster
from controlplane.common.etags import with_tag
from controlplane.common.said import parts_of
from controlplane.common.times import iso
from controlplane.healing.windows import is_open, opens_at, window_of
from controlplane.reassignments.imbalance import Past, Schedule
from controlplane.reassignments.models import RebalanceSchedule, ScheduledRebalance
from controlplane.reassignments.schedule_states import FAILED, RUNNING

RUNS_SHOWN = 20
OBSERVED = ("runs", "decision", "window_open", "window_opens_at", "bytes_percent",
            "leaders_percent", "looked_at")  # fmt: skip


def schedule_of(row: RebalanceSchedule) -> Schedule:
    return Schedule(
        enabled=row.enabled,
        threshold_percent=row.threshold_percent,
        windows=tuple(window_of(each) for each in row.windows),
        time_zone=row.time_zone,
    )


def past_of(cluster: Cluster, row: RebalanceSchedule) -> Past:
    """The last one that the schedule began, and the last look."""
    last = ScheduledRebalance.objects.filter(cluster=cluster).first()
    if last is None:
        return Past(looked_at=row.looked_at)
    return Past(
        is_running=last.state == RUNNING,
        ended_at=last.ended_at,
        has_failed=last.state == FAILED,
        looked_at=row.looked_at,
    )


def schedule_dict(cluster: Cluster, *, locked: bool = False) -> dict[str, Any]:
    """The schedule of the cluster, off where none was set, and what it began."""
    rows = RebalanceSchedule.objects.all()
    rows = rows.select_for_update() if locked else rows
    row = rows.filter(pk=cluster.pk).first() or RebalanceSchedule(cluster=cluster)
    windows, now = [window_of(each) for each in row.windows], timezone.now()
    runs = ScheduledRebalance.objects.filter(cluster=cluster)[:RUNS_SHOWN]
    shown = {
        "enabled": row.enabled,
        "threshold_percent": row.threshold_percent,
        "throttle_bytes_per_s": row.throttle_bytes_per_s,
        "windows": row.windows,
        "time_zone": row.time_zone,
        "changed_at": iso(row.changed_at),
        "changed_by": row.changed_by or None,
        "window_open": is_open(windows, row.time_zone, now),
        "window_opens_at": iso(opens_at(windows, row.time_zone, now)),
        "decision": _decision(row),
        "bytes_percent": row.bytes_percent,
        "leaders_percent": row.leaders_percent,
        "looked_at": iso(row.looked_at),
        "runs": [_run(each) for each in runs],
    }
    return with_tag(shown, observed=OBSERVED)


def _decision(row: RebalanceSchedule) -> dict[str, Any] | None:
    if row.decided_at is None:
        return None
    return {
        "code": row.decided_code,
        "text": row.decided_text,
        "parts": parts_of(row.decided_text, row.decided_parts),
        "at": iso(row.decided_at),
    }


def _run(run: ScheduledRebalance) -> dict[str, Any]:
    return {
        "id": run.id,
        "state": run.state,
        "operation_id": run.operation_id,
        "reason": run.reason,
        "reason_parts": parts_of(run.reason, run.reason_parts),
        "result": run.result or None,
        "bytes_before": run.bytes_before,
        "bytes_after": run.bytes_after,
        "leaders_before": run.leaders_before,
        "leaders_after": run.leaders_after,
        "began_at": iso(run.began_at),
        "ended_at": iso(run.ended_at),
    }


@transaction.atomic
def schedule_set(*, cluster: Cluster, actor: Actor, **values: Any) -> RebalanceSchedule:
    """Replace the schedule; the audit has both. One that is under way goes on."""
    row, _ = RebalanceSchedule.objects.get_or_create(cluster=cluster)
    before = {name: getattr(row, name) for name in values}
    # By the new word somebody looks anew, and what the old one came to says nothing of it.
    RebalanceSchedule.objects.filter(pk=row.pk).update(
        **values,
        changed_at=timezone.now(),
        changed_by=actor.name,
        looked_at=None,
        decided_at=None,
        decided_code="",
        decided_text="",
        decided_parts=[],
    )
    audit_record(
        tenant_id=cluster.tenant_id,
        actor=actor,
        action="rebalance.schedule",
        resource=f"cluster/{cluster.name}",
        data={"before": before, "after": values},
        about=About(cluster_id=cluster.id, cluster_name=cluster.name),
    )
    row.refresh_from_db()
    return row
