"""`/metrics`: what this process counts about itself, and what all processes together do.

The second part is read at each scrape from where it is kept: Redis (counters, breakers, queues) and
the database (operations, collectors). So it is the same from every web process, and workers need no
page of their own. What cannot be read is left out, as `penstock_metrics_source_up` says; it is
never shown as 0.

Clusters are named by id, so a page gives nobody's name away; the first `METRICS_CLUSTERS_MAX` have
series of their own, the others are one, `other`.
"""

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Count, Min
from django.utils import timezone
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from controlplane.access.models import OPEN_STATES, PasswordOverlap
from controlplane.alerts import metrics as alert_metrics
from controlplane.alerts.evaluation import ROUNDS
from controlplane.analytics import metrics as analytics_metrics
from controlplane.analytics.models import CollectorState
from controlplane.clusters.models import WATCHED_PHASES, Broker, Cluster
from controlplane.common import leases
from controlplane.common.metrics import SHARED_COUNTERS
from controlplane.common.redis_link import LINK
from controlplane.common.tally import TALLY, Series
from controlplane.gateway.breaker import BREAKER_MOVES
from controlplane.gateway.breakers import BREAKERS
from controlplane.gateway.passage import BUCKETS_S, CALL_SECONDS, CALLS
from controlplane.notifications.kinds.table import KINDS
from controlplane.notifications.models import OPEN_STATES as OPEN_DELIVERIES
from controlplane.notifications.models import Delivery
from controlplane.notifications.queue import due as due_deliveries
from controlplane.operations.dispatch import is_first_contact
from controlplane.operations.models import Operation, OutboxMessage
from controlplane.operations.queues import QUEUED_AT, QUEUES, queue_for
from controlplane.operations.states import ACTIVE_STATES
from controlplane.operations.tasks import SWEPT
from controlplane.topics.models import OPEN_STATES as LEASE_OPEN_STATES
from controlplane.topics.models import RetentionLease

log = logging.getLogger(__name__)
OTHER = "other"
REDIS, DATABASE = "redis", "database"
LES = (*map(str, BUCKETS_S), "+Inf")


def page() -> bytes:
    """Prometheus text."""
    shared = CollectorRegistry()
    shared.register(SharedMetrics())
    return generate_latest(REGISTRY) + generate_latest(shared)


class SharedMetrics(Collector):
    def collect(self) -> Iterator[Metric]:
        """Every family whose source answers."""
        up = GaugeMetricFamily(
            "penstock_metrics_source_up",
            "Whether this scrape could read from there; if not, its metrics are missing.",
            labels=["source"],
        )
        away: set[str] = set()
        for source, read, errors in (
            (DATABASE, self._from_database, DatabaseError),
            (REDIS, self._from_redis, (RedisError, DatabaseError)),
        ):
            try:
                yield from read()
            except errors as error:
                log.debug("metrics without %s: %s", source, error)
                away.add(DATABASE if isinstance(error, DatabaseError) else source)
        for source in (DATABASE, REDIS):
            up.add_metric([source], source not in away)
        yield up

    def _from_database(self) -> list[Metric]:
        return [
            *_operations(),
            _outbox(),
            _collectors(_names()),
            _certificates(),
            _overlaps(),
            _leases(),
            *_deliveries(),
            *alert_metrics.from_database(),
            *analytics_metrics.from_database(),
        ]

    def _from_redis(self) -> list[Metric]:
        names = _names()
        TALLY.flush()
        counted = TALLY.read()
        return [
            _calls(counted, names),
            _call_seconds(counted, names),
            *_breakers(names),
            *_counters(counted),
            *_queues(),
            *_sweep_lag(),
        ]


class _Names:
    """Which clusters have series of their own; None: of a cluster that is removed."""

    def __init__(self, ids: list[str]) -> None:
        self.ids = ids
        self._own = set(ids[: settings.METRICS_CLUSTERS_MAX])
        self._all = set(ids)

    def label(self, cluster_id: str) -> str | None:
        if cluster_id in self._own:
            return cluster_id
        return OTHER if cluster_id in self._all else None


def _names() -> _Names:
    return _Names(
        list(Cluster.objects.filter(deleted_at=None).order_by("pk").values_list("pk", flat=True))
    )


def _operations() -> list[Metric]:
    now = timezone.now()
    due = Operation.objects.filter(state__in=ACTIVE_STATES, next_run_at__lte=now).filter(
        leases.free()
    )
    ages = GaugeMetricFamily(
        "penstock_oldest_due_operation_seconds",
        "How long the operation that is due longest, and that nobody holds, has been due,"
        " by the queue that it belongs to.",
        labels=["queue"],
    )
    for queue, age_s in _oldest_due(due.values_list("kind", "cluster_id", "next_run_at"), now):
        ages.add_metric([queue], age_s)
    active = Counter(
        Operation.objects.filter(state__in=ACTIVE_STATES).values_list("state", flat=True)
    )
    states = GaugeMetricFamily(
        "penstock_operations_active", "Operations that have not ended.", labels=["state"]
    )
    for state in sorted(ACTIVE_STATES):
        states.add_metric([state], active[state])
    return [
        ages,
        GaugeMetricFamily(
            "penstock_operations_held",
            "Operations that a worker is at.",
            Operation.objects.filter(state__in=ACTIVE_STATES).exclude(leases.free()).count(),
        ),
        states,
    ]


def _oldest_due(
    due: Iterable[tuple[str, str | None, datetime]], now: datetime
) -> list[tuple[str, float]]:
    rows = list(due)
    known = BREAKERS.records({cluster_id for _, cluster_id, _ in rows if cluster_id is not None})
    ages = dict.fromkeys(QUEUES, 0.0)
    for kind, cluster_id, next_run_at in rows:
        record = known.get(cluster_id) if cluster_id is not None else None
        queue = queue_for(
            is_first_contact=is_first_contact(kind),
            is_doubtful=record is not None and record.is_doubtful,
        )
        ages[queue] = max(ages[queue], (now - next_run_at).total_seconds())
    return list(ages.items())


def _outbox() -> Metric:
    oldest = OutboxMessage.objects.aggregate(oldest=Min("created_at"))["oldest"]
    return GaugeMetricFamily(
        "penstock_outbox_age_seconds",
        "How long the oldest task waits in the database to be handed to its queue.",
        0.0 if oldest is None else max(0.0, (timezone.now() - oldest).total_seconds()),
    )


def _collectors(names: _Names) -> Metric:
    """A cluster that was never sampled counts from when it was made."""
    family = GaugeMetricFamily(
        "penstock_collector_lag_seconds",
        "Age of the last sample of a cluster; of all others the greatest.",
        labels=["cluster"],
    )
    now = timezone.now()
    sampled = dict(CollectorState.objects.values_list("pk", "last_sample_at"))
    watched = Cluster.objects.filter(deleted_at=None, phase__in=WATCHED_PHASES)
    lags: dict[str, float] = {}
    for cluster_id, created_at in watched.order_by("pk").values_list("pk", "created_at"):
        label = names.label(cluster_id)
        if label is not None:
            age_s = (now - (sampled.get(cluster_id) or created_at)).total_seconds()
            lags[label] = max(lags.get(label, 0.0), age_s)
    for label, lag_s in lags.items():
        family.add_metric([label], lag_s)
    return family


def _certificates() -> Metric:
    """Without a sample where no broker has one of ours; negative once it has ended."""
    family = GaugeMetricFamily(
        "penstock_certificate_left_seconds",
        "How long the certificate lasts that ends first, of brokers of managed clusters.",
    )
    first = Broker.objects.aggregate(first=Min("certificate_ends_at"))["first"]
    if first is not None:
        family.add_metric([], (first - timezone.now()).total_seconds())
    return family


def _overlaps() -> Metric:
    family = GaugeMetricFamily(
        "penstock_password_overlaps_overdue",
        "Users whose old password still works although its time is over, by the overlap's state:"
        " standing ones are tried again, held ones nobody ends.",
        labels=["state"],
    )
    overdue = PasswordOverlap.objects.filter(
        state__in=OPEN_STATES, ends_at__lt=timezone.now(), cluster__deleted_at=None
    )
    found = Counter(overdue.values_list("state", flat=True))
    for state in OPEN_STATES:
        family.add_metric([state], found[state])
    return family


def _leases() -> Metric:
    return GaugeMetricFamily(
        "penstock_retention_leases_overdue",
        "Topics whose retention is still raised although the time of their lease is over.",
        value=RetentionLease.objects.filter(
            state__in=LEASE_OPEN_STATES, ends_at__lt=timezone.now(), cluster__deleted_at=None
        ).count(),
    )


def _deliveries() -> list[Metric]:
    waiting = GaugeMetricFamily(
        "penstock_deliveries_waiting",
        "Notifications on their way, by the kind of their destination.",
        labels=["kind"],
    )
    age = GaugeMetricFamily(
        "penstock_oldest_due_delivery_seconds",
        "How long the notification that is due longest, and that nobody holds, has been due.",
        labels=["kind"],
    )
    now = timezone.now()
    on_their_way = Delivery.objects.filter(state__in=OPEN_DELIVERIES).order_by()
    counts = dict(
        on_their_way.values("destination__kind")
        .annotate(count=Count("pk"))
        .values_list("destination__kind", "count")
    )
    oldest = dict(
        due_deliveries(now)
        .order_by()
        .values("destination__kind")
        .annotate(oldest=Min("next_try_at"))
        .values_list("destination__kind", "oldest")
    )
    for kind in KINDS:
        waiting.add_metric([kind], counts.get(kind, 0))
        age.add_metric([kind], (now - oldest.get(kind, now)).total_seconds())
    return [waiting, age]


def _by_cluster(
    counted: dict[Series, float], name: str, names: _Names, also: str = ""
) -> dict[tuple[str, ...], float]:
    """Sums by cluster, and by the other label when there is one."""
    sums: dict[tuple[str, ...], float] = defaultdict(float)
    for (found, labels), value in counted.items():
        if found != name:
            continue
        given = dict(labels)
        cluster = names.label(given["cluster"])
        if cluster is not None:
            sums[(cluster, given[also]) if also else (cluster,)] += value
    return sums


def _calls(counted: dict[Series, float], names: _Names) -> Metric:
    family = CounterMetricFamily(
        "penstock_gateway_calls",
        "Questions to a cluster by how they ended: ok, refused, no-answer, breaker-open, busy.",
        labels=["cluster", "outcome"],
    )
    for labels, value in sorted(_by_cluster(counted, CALLS, names, "outcome").items()):
        family.add_metric(labels, value)
    return family


def _call_seconds(counted: dict[Series, float], names: _Names) -> Metric:
    family = HistogramMetricFamily(
        "penstock_gateway_call_seconds",
        "How long questions that were sent to a cluster took, with or without an answer.",
        labels=["cluster"],
    )
    buckets = _by_cluster(counted, f"{CALL_SECONDS}_bucket", names, "le")
    sums = _by_cluster(counted, f"{CALL_SECONDS}_sum", names)
    for cluster in sorted({labels[0] for labels in buckets}):
        total, rows = 0.0, []
        for le in LES:
            total += buckets.get((cluster, le), 0)
            rows.append((le, total))
        family.add_metric([cluster], rows, sums.get((cluster,), 0.0))
    return family


def _breakers(names: _Names) -> list[Metric]:
    states = GaugeMetricFamily(
        "penstock_gateway_breaker_state",
        "1 for the state that a cluster's breaker is in, 0 for the others.",
        labels=["cluster", "state"],
    )
    counts = GaugeMetricFamily(
        "penstock_gateway_breakers", "Breakers of all clusters by state.", labels=["state"]
    )
    found = BREAKERS.records(names.ids)
    for cluster_id, record in found.items():
        if names.label(cluster_id) == cluster_id:
            for state in BREAKER_MOVES.states:
                states.add_metric([cluster_id, state], state == record.state)
    total = Counter(record.state for record in found.values())
    for state in BREAKER_MOVES.states:
        counts.add_metric([state], total[state])
    return [states, counts]


def _counters(counted: dict[Series, float]) -> Iterator[Metric]:
    for counter in (*SHARED_COUNTERS, ROUNDS):
        family = CounterMetricFamily(
            counter.name, counter.text, labels=[] if counter.label is None else [counter.label]
        )
        found = {labels: value for (name, labels), value in counted.items() if name == counter.name}
        if counter.label is None:
            family.add_metric([], found.get((), 0.0))
        else:
            for labels, value in sorted(found.items()):
                family.add_metric([text for _, text in labels], value)
        yield family


def _queues() -> list[Metric]:
    length = GaugeMetricFamily(
        "penstock_queue_messages", "Tasks that no worker has taken.", labels=["queue"]
    )
    age = GaugeMetricFamily(
        "penstock_queue_age_seconds", "How long the oldest of them has waited.", labels=["queue"]
    )
    now_s = timezone.now().timestamp()
    for queue in QUEUES:
        count, oldest = LINK.call(_oldest_of(queue))
        length.add_metric([queue], count)
        queued_at_s = _queued_at_s(oldest)
        if not count:
            age.add_metric([queue], 0.0)
        elif queued_at_s is not None:
            age.add_metric([queue], max(0.0, now_s - queued_at_s))
    return [length, age]


def _oldest_of(queue: str) -> Callable[[Any], tuple[int, bytes | None]]:
    """Celery's transport pushes on the left and takes from the right."""

    def read(client: Any) -> tuple[int, bytes | None]:
        pipe = client.pipeline(transaction=True)
        pipe.llen(queue)
        pipe.lindex(queue, -1)
        count, oldest = pipe.execute()
        return count, oldest

    return read


def _queued_at_s(message: bytes | None) -> float | None:
    """None when the message does not say, as one of an earlier version."""
    if message is None:
        return None
    try:
        return float(json.loads(message)["headers"][QUEUED_AT])
    except (KeyError, TypeError, ValueError):
        return None


def _sweep_lag() -> list[Metric]:
    """Missing until the first sweep since Redis was empty."""
    swept_at_s = TALLY.marked_at_s(SWEPT)
    if swept_at_s is None:
        return []
    late_s = timezone.now().timestamp() - swept_at_s - settings.OPERATION_SWEEP_S
    return [
        GaugeMetricFamily(
            "penstock_sweep_lag_seconds",
            "How much longer ago than its interval the last sweep for lost ticks was.",
            max(0.0, late_s),
        )
    ]
