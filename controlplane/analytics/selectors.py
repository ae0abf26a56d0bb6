"""Reads, one tenant at a time: lag, retention, runs, the collector. JSON-ready."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, F, Max, OuterRef, Prefetch, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from controlplane.analytics.answers import (
    BY_COLLECTOR,
    BY_SPARK,
    EXPIRY,
    LAG_POINT,
    RETENTION,
    shown,
)
from controlplane.analytics.conf import conf
from controlplane.analytics.models import (
    AnalyticsRun,
    CollectorState,
    GoldGroupExpiry,
    GoldGroupLag,
    GoldTopicRetention,
    GroupVerdict,
    RunCluster,
)
from controlplane.analytics.newest import group_verdicts, newest_expiries, newest_lags
from controlplane.analytics.rules import (
    ROLLUP_PLANS,
    VERDICT_STALE_S,
    result_stale_s,
    verdict_after_s,
)
from controlplane.analytics.times import iso_ms
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import NotFound
from controlplane.common.times import iso
from controlplane.operations.states import RUNNING, SUCCEEDED
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.runs import Job
from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S

SPAN_DEFAULT_S = 3 * 3600
POINTS_MAX = 400
PROGRESS = ("ts_ms", "phase", "done", "total")
"""Of a run's progress; its message may name any tenant's cluster."""
# A group or topic without a row in this long before the newest one is not there any more.
PRESENT_WITHIN_S = 300


def lag_series(
    tenant: Tenant,
    scope: Scope,
    cluster_id: str,
    *,
    group: str | None = None,
    topic: str | None = None,
    from_ms: int | None = None,
    to_ms: int | None = None,
    latest: bool = False,
) -> dict[str, Any]:
    """{as_of, stale_after, run_id, data}: ascending in time.

    At most `POINTS_MAX` points per group and topic.
    `latest` gives the newest point of each that is still present, by Spark or, where it is newer,
    by the collector. The range is by sample time and
    defaults to the three hours before the newest row.
    """
    sees = sight_of(tenant, scope, cluster_id)
    rows = GoldGroupLag.objects.filter(cluster_id=cluster_id)
    newest = rows.order_by("-ts_ms").first()
    live = group_verdicts([cluster_id]) if latest else GroupVerdict.objects.none()
    if group is not None:
        rows, live = rows.filter(group=group), live.filter(group=group)
    if topic is not None:
        rows, live = rows.filter(topic=topic), live.filter(topic=topic)
    if latest:
        gold = [] if newest is None else newest_of_each(rows, newest.ts_ms, ("group", "topic"))
        found = newest_lags(gold, live)
    elif newest is None:
        found = []
    else:
        end_ms = to_ms if to_ms is not None else newest.sampled_ms + 1
        begin_ms = from_ms if from_ms is not None else end_ms - SPAN_DEFAULT_S * 1000
        found = thinned(rows, begin_ms, end_ms)
    return lags_shown(newest, found, sees)


def lags_shown(
    newest: GoldGroupLag | None,
    found: Iterable[GoldGroupLag | GroupVerdict],
    sees: Callable[..., bool],
) -> dict[str, Any]:
    """{as_of, stale_after, run_id, data}: those of `found` that `sees` (see `sight_of`) lets be
    shown; `newest` is the last row of gold.
    """
    seen = [row for row in found if sees(topic=row.topic, group=row.group)]
    as_of_ms = max((row.sampled_ms for row in seen), default=None)
    is_live = any(isinstance(row, GroupVerdict) for row in seen)
    return answer_of(newest, [lag_dict(row) for row in seen], as_of_ms, is_live=is_live)


def retention_table(
    tenant: Tenant,
    scope: Scope,
    cluster_id: str,
    *,
    topic: str | None = None,
    topics: Collection[str] | None = None,
    group: str | None = None,
) -> dict[str, Any]:
    """{as_of, stale_after, run_id, data}: every topic's newest row with its groups' expiry.

    With `group` those that it reads, as far as somebody has judged it, with its expiry alone.

    A topic that no run knows yet, of which the collector has judged groups, is there with what it
    holds unknown: who is about to lose records learns it with the next sample.
    """
    sees = sight_of(tenant, scope, cluster_id)
    rows = GoldTopicRetention.objects.filter(cluster_id=cluster_id)
    newest = rows.order_by("-ts_ms").first()
    expiries = GoldGroupExpiry.objects.filter(cluster_id=cluster_id)
    if topic is not None:
        topics = [topic]
    live = group_verdicts([cluster_id])
    if topics is not None:
        of_topics = {"topic__in": list(topics)}
        rows, expiries = rows.filter(**of_topics), expiries.filter(**of_topics)
        live = live.filter(**of_topics)
    if group is not None:
        live, expiries = live.filter(group=group), expiries.filter(group=group)
        reads = [*live.values_list("topic", flat=True)]
        if newest is not None:
            recent = expiries.filter(ts_ms__gt=newest.ts_ms - PRESENT_WITHIN_S * 1000)
            reads += recent.values_list("topic", flat=True).distinct()
        rows = rows.filter(topic__in=reads)
    groups: dict[str, list[dict[str, Any]]] = {}
    held: dict[str, GoldTopicRetention] = {}
    gold: list[GoldGroupExpiry] = []
    if newest is not None:
        gold = newest_of_each(expiries, newest.ts_ms, ("topic", "group"))
        held = {row.topic: row for row in newest_of_each(rows, newest.ts_ms, ("topic",))}
    for expiry in newest_expiries(gold, live):
        if sees(group=expiry.group):
            groups.setdefault(expiry.topic, []).append(expiry_dict(expiry))
            if isinstance(expiry, GroupVerdict):
                held.setdefault(expiry.topic, _unknown_retention(expiry))
    seen = [held[name] for name in sorted(held) if sees(topic=name)]
    data = [retention_dict(row, groups.get(row.topic, [])) for row in seen]
    if newest is not None:
        return answer_of(newest, data)
    as_of_ms = max((row.sampled_ms for row in seen), default=None)
    return answer_of(None, data, as_of_ms, is_live=as_of_ms is not None)


def _unknown_retention(verdict: GroupVerdict) -> GoldTopicRetention:
    """Of a topic that only the collector knows: the rest of the row is null."""
    at_ms = verdict.sampled_ms
    return GoldTopicRetention(
        cluster_id=verdict.cluster_id,
        topic=verdict.topic,
        ts_ms=at_ms,
        sampled_ms=at_ms,
        partitions=verdict.partitions,
    )


def expiry_of_group(
    tenant: Tenant, scope: Scope, cluster_id: str, group: str, *, topic: str | None = None
) -> dict[str, Any]:
    """{as_of, data}: by topic when the group's unread records expire, as last judged.

    The collector's verdict is enough, of a topic that no run has seen yet.
    """
    sees = sight_of(tenant, scope, cluster_id)
    wanted = {"group": group} if topic is None else {"group": group, "topic": topic}
    newest = GoldTopicRetention.objects.filter(cluster_id=cluster_id).order_by("-ts_ms").first()
    expiries = GoldGroupExpiry.objects.filter(cluster_id=cluster_id, **wanted)
    gold = newest_of_each(expiries, newest.ts_ms, ("topic", "group")) if newest else []
    live = group_verdicts([cluster_id]).filter(**wanted)
    rows = [row for row in newest_expiries(gold, live) if sees(topic=row.topic, group=row.group)]
    times = [row.sampled_ms if isinstance(row, GroupVerdict) else row.ts_ms for row in rows]
    return {
        "as_of": iso_ms(max(times)) if times else None,
        "data": [expiry_dict(row) for row in rows],
    }


def retention_series(
    tenant: Tenant,
    scope: Scope,
    cluster_id: str,
    topic: str,
    *,
    from_ms: int | None = None,
    to_ms: int | None = None,
) -> dict[str, Any]:
    """{as_of, stale_after, run_id, data}: a topic's bytes and age over time; no groups."""
    sees = sight_of(tenant, scope, cluster_id)
    rows = GoldTopicRetention.objects.filter(cluster_id=cluster_id, topic=topic)
    newest = rows.order_by("-ts_ms").first()
    if newest is None:
        return answer_of(None, [])
    end_ms = to_ms if to_ms is not None else newest.sampled_ms + 1
    begin_ms = from_ms if from_ms is not None else end_ms - SPAN_DEFAULT_S * 1000
    found = thinned(rows, begin_ms, end_ms) if sees(topic=topic) else []
    return answer_of(newest, [retention_dict(row, []) for row in found])


def sight_of(tenant: Tenant, scope: Scope, cluster_id: str) -> Callable[..., bool]:
    """Whether a row of the cluster that names a topic, a group or both may be shown."""
    name = seen_cluster(tenant, scope, cluster_id, with_brokers=False).name

    def sees(topic: str | None = None, group: str | None = None) -> bool:
        return (topic is None or scope.sees(Area.TOPIC, name, topic)) and (
            group is None or scope.sees(Area.GROUP, name, group)
        )

    return sees


def run_rows(tenant: Tenant) -> QuerySet[AnalyticsRun]:
    """Runs that concern the tenant, each with the part of its own clusters only.

    A run that has not read its clusters yet concerns everybody who has one.
    """
    parts = RunCluster.objects.filter(run_id=OuterRef("pk"))
    concerns = Exists(parts.filter(cluster_id__in=_own_ids(tenant))) | (
        ~Exists(parts) & Exists(Cluster.objects.filter(tenant=tenant))
    )
    return AnalyticsRun.objects.filter(concerns).prefetch_related(
        Prefetch(
            "clusters",
            queryset=RunCluster.objects.filter(cluster_id__in=_own_ids(tenant)).order_by("pk"),
            to_attr="own_clusters",
        )
    )


def run_row(tenant: Tenant, run_id: str) -> AnalyticsRun:
    found = run_rows(tenant).filter(pk=run_id).first()
    if found is None:
        raise NotFound("Run not found.")
    return found


def collector_state(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Any]:
    """When the cluster was sampled last, how late, and what went wrong."""
    seen_cluster(tenant, scope, cluster_id, with_brokers=False)
    state = CollectorState.objects.filter(pk=cluster_id).first()
    if state is None:
        state = CollectorState(pk=cluster_id)
    return {
        "interval_s": SAMPLE_INTERVAL_S,
        "first_verdict_due_at": iso(_first_verdict_due(state)),
        "last_sample_at": iso(state.last_sample_at),
        "took_ms": state.took_ms,
        "lateness_ms": state.lateness_ms,
        "slices": state.slices,
        "samples": state.samples,
        "failures": state.failures,
        "last_error": state.last_error or None,
    }


def _first_verdict_due(state: CollectorState) -> datetime | None:
    """When the first run that can judge the cluster's groups starts; null once one has."""
    if state.first_sample_at is None:
        return None
    due_at = state.first_sample_at + timedelta(seconds=verdict_after_s(Rules()))
    runs = AnalyticsRun.objects.filter(job=Job.TELEMETRY, state=SUCCEEDED)
    judged = runs.filter(created_at__gte=due_at).exists()
    return None if judged else due_at


def lag_dict(row: GoldGroupLag | GroupVerdict) -> dict[str, Any]:
    source = BY_COLLECTOR if isinstance(row, GroupVerdict) else BY_SPARK
    return {"ts": iso_ms(row.sampled_ms), "source": source, **shown(row, LAG_POINT)}


def retention_dict(row: GoldTopicRetention, groups: list[dict[str, Any]]) -> dict[str, Any]:
    return {"ts": iso_ms(row.sampled_ms), **shown(row, RETENTION), "groups": groups}


def expiry_dict(row: GoldGroupExpiry | GroupVerdict) -> dict[str, Any]:
    """When the first loss is to be expected is known of the collector's verdicts alone."""
    if isinstance(row, GoldGroupExpiry):
        nothing = {"loss_from": None, "loss_until": None}
        return {**shown(row, EXPIRY), **nothing, "source": BY_SPARK}
    columns = [column for column in EXPIRY if column.name not in ("method", "status")]
    return {
        **shown(row, columns),
        "lost_records": row.lost_records or 0,
        "method": row.expiry_method,
        "status": row.risk,
        "loss_from": None if row.loss_from_ms is None else iso_ms(row.loss_from_ms),
        "loss_until": None if row.loss_until_ms is None else iso_ms(row.loss_until_ms),
        "source": BY_COLLECTOR,
    }


RUNS_COMPARED = 5


def eta_s(row: AnalyticsRun) -> float | None:
    """Seconds until a run ends: what the last of its job took, by the length of the range, less
    what it has run for; null when it does not run or none has succeeded yet.
    """
    if row.state != RUNNING or row.started_at is None:
        return None
    before = AnalyticsRun.objects.filter(job=row.job, state=SUCCEEDED, wall_s__isnull=False)
    last = list(before.order_by("-pk")[:RUNS_COMPARED])
    if not last:
        return None
    usual_s = statistics.median(run.wall_s for run in last if run.wall_s is not None)
    usual_span = statistics.median(run.to_ts_ms - run.from_ts_ms for run in last)
    # A short range costs as much as another: most of a run is Spark's start.
    longer = max(1.0, (row.to_ts_ms - row.from_ts_ms) / max(1, usual_span))
    return max(0.0, usual_s * longer - (timezone.now() - row.started_at).total_seconds())


RUN_FAILED = "The run failed on the service's side; its operator finds why in the log."


def backfill_rows() -> QuerySet[AnalyticsRun]:
    """Runs of hours and days, those of the schedule too: what was computed, and by whom."""
    return AnalyticsRun.objects.filter(job__in=ROLLUP_PLANS)


def any_run_row(run_id: str) -> AnalyticsRun:
    """Whoever's clusters it computes: for operators of the platform."""
    found = AnalyticsRun.objects.filter(pk=run_id).first()
    if found is None:
        raise NotFound("Analytics run not found.")
    return found


def backfill_dict(row: AnalyticsRun) -> dict[str, Any]:
    """A run as operators of the platform see it; no tenant's part of it."""
    return {
        "id": row.pk,
        "job": row.job,
        "state": row.state,
        "trigger": row.trigger,
        "requested_by": row.requested_by,
        "from": iso_ms(row.from_ts_ms),
        "to": iso_ms(row.to_ts_ms),
        "attempt": row.attempt,
        "progress": {name: row.progress[name] for name in PROGRESS if name in row.progress},
        "eta_s": eta_s(row),
        "cancel_requested": row.cancel_requested,
        "created_at": iso(row.created_at),
        "started_at": iso(row.started_at),
        "finished_at": iso(row.finished_at),
        "rows_out": row.rows_out,
        "wall_s": row.wall_s,
        "error": row.error,
    }


def run_dict(row: AnalyticsRun) -> dict[str, Any]:
    """What one tenant sees of a run of all tenants.

    Its error may be what any tenant's cluster said, and its progress names the cluster that is
    being read: neither is shown. Of one's own clusters `clusters` has the errors.
    """
    clusters: list[RunCluster] = row.own_clusters  # type: ignore[attr-defined] # set by run_rows
    return {
        "id": row.pk,
        "job": row.job,
        "state": row.state,
        "trigger": row.trigger,
        "attempt": row.attempt,
        "from": iso_ms(row.from_ts_ms),
        "to": iso_ms(row.to_ts_ms),
        "progress": {name: row.progress[name] for name in PROGRESS if name in row.progress},
        "eta_s": eta_s(row),
        "cancel_requested": row.cancel_requested,
        "created_at": iso(row.created_at),
        "started_at": iso(row.started_at),
        "finished_at": iso(row.finished_at),
        "rows_in": sum(cluster.records_in for cluster in clusters),
        "rows_rejected": sum(cluster.records_rejected for cluster in clusters),
        "rows_out": row.rows_out,
        "wall_s": row.wall_s,
        "phases_s": row.phases_s,
        "formula_version": row.formula_version,
        "error": RUN_FAILED if row.error and row.state != SUCCEEDED else "",
        "clusters": [
            {
                "cluster_id": cluster.cluster_id,
                "offsets_end": cluster.offsets_end,
                "records_in": cluster.records_in,
                "records_rejected": cluster.records_rejected,
                "records_skipped": cluster.records_skipped,
                "telemetry_recreated": cluster.telemetry_recreated,
                "error": cluster.error or None,
            }
            for cluster in clusters
        ],
    }


def answer_of(
    newest: GoldGroupLag | GoldTopicRetention | None,
    data: list[dict[str, Any]],
    as_of_ms: int | None = None,
    *,
    is_live: bool = False,
) -> dict[str, Any]:
    """`as_of` is Spark's newest sample, or the collector's if that is later.

    Newer numbers are due before `stale_after`; later than that, what is shown is old. With
    `is_live` the collector has judged the newest, which it does with every sample.
    """
    times = [at for at in (newest.sampled_ms if newest else None, as_of_ms) if at is not None]
    stale_s = VERDICT_STALE_S if is_live else result_stale_s(conf().interval_s, conf().deadline_s)
    return {
        "as_of": iso_ms(max(times)) if times else None,
        "stale_after": iso_ms(max(times) + int(stale_s * 1000)) if times else None,
        "run_id": newest.run_id if newest else None,
        "data": data,
    }


def newest_of_each(rows: QuerySet[Any], newest_ms: int, key: tuple[str, ...]) -> list[Any]:
    """The last row of each key among those that are still present, by key."""
    return sorted(
        last_of_each(rows, newest_ms, key),
        key=lambda row: tuple(getattr(row, name) for name in key),
    )


def last_of_each(
    rows: QuerySet[Any], newest_ms: int, key: tuple[str, ...] = ("group", "topic")
) -> QuerySet[Any]:
    """The same in no order. The database picks them: of ten windows nine would be read in vain."""
    recent = rows.filter(ts_ms__gt=newest_ms - PRESENT_WITHIN_S * 1000)
    nth = Window(RowNumber(), partition_by=[F(name) for name in key], order_by=F("ts_ms").desc())
    last: QuerySet[Any] = recent.annotate(nth=nth).filter(nth=1)
    return last


def thinned(rows: QuerySet[Any], begin_ms: int, end_ms: int) -> list[Any]:
    """Rows of [begin, end), every n-th window when there are too many, the newest always."""
    window_ms = Rules().window_s * 1000
    inside = rows.filter(ts_ms__gt=begin_ms - window_ms, ts_ms__lt=end_ms)
    last_ms = inside.aggregate(at=Max("ts_ms"))["at"]
    if last_ms is None:
        return []
    windows = max(1, (end_ms - begin_ms) // window_ms)
    step_ms = -(-windows // POINTS_MAX) * window_ms
    if step_ms > window_ms:
        inside = inside.annotate(phase=F("ts_ms") % step_ms).filter(phase=last_ms % step_ms)
    return list(inside.order_by("ts_ms", "pk"))


def _own_ids(tenant: Tenant) -> QuerySet[Cluster, str]:
    return Cluster.objects.filter(tenant=tenant).values_list("pk", flat=True)
