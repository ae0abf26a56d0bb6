"""Facts that are the tenant's own: operations, keys, and what it has of the service's limits."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q

from controlplane.alerts.fact_types import KeyFact, LimitFact, OperationFact
from controlplane.clusters.models import MANAGED, Broker, Cluster
from controlplane.operations.models import Operation, Plan, Step
from controlplane.operations.states import (
    ACTIVE_STATES,
    FAILED,
    PLAN_OPEN,
    STEP_RUNNING,
    SUCCEEDED,
)
from controlplane.tenants.selectors import ending_keys

FAILED_WITHIN = timedelta(days=30)
"""Failed operations of longer ago are in no alert, whatever an override says."""
SHORTLY = timedelta(days=1)
OPERATIONS_MAX = 2_000
REMAINS_SHOWN = 5


@dataclass(slots=True)
class Others:
    """By tenant."""

    operations: defaultdict[str, list[OperationFact]] = field(
        default_factory=lambda: defaultdict(list)
    )
    keys: defaultdict[str, list[KeyFact]] = field(default_factory=lambda: defaultdict(list))
    clusters: Counter[str] = field(default_factory=Counter)
    brokers: Counter[str] = field(default_factory=Counter)
    plans: Counter[str] = field(default_factory=Counter)

    def limits(self, tenant_id: str) -> Iterator[LimitFact]:
        """Of what the control plane gives. Quotas of Kafka's clients are not seen by Admin."""
        yield LimitFact("clusters", self.clusters[tenant_id], settings.CLUSTERS_PER_TENANT)
        yield LimitFact("brokers", self.brokers[tenant_id], settings.BROKERS_PER_TENANT)
        yield LimitFact("open plans", self.plans[tenant_id], settings.PLANS_OPEN_MAX)


def read(now: datetime) -> Others:
    found = Others()
    _operations(found, now)
    _keys(found, now)
    clusters = Cluster.objects.filter(deleted_at=None).values_list("tenant_id")
    found.clusters.update(
        dict(clusters.annotate(count=Count("pk")).values_list("tenant_id", "count"))
    )
    brokers = Broker.objects.filter(cluster__kind=MANAGED, cluster__deleted_at=None)
    found.brokers.update(
        dict(
            brokers.values("cluster__tenant_id")
            .annotate(count=Count("pk"))
            .values_list("cluster__tenant_id", "count")
        )
    )
    plans = Plan.objects.filter(state=PLAN_OPEN, expires_at__gt=now)
    found.plans.update(
        dict(
            plans.values("tenant_id").annotate(count=Count("pk")).values_list("tenant_id", "count")
        )
    )
    return found


def _operations(found: Others, now: datetime) -> None:
    failed = Q(state=FAILED, finished_at__gte=now - FAILED_WITHIN)
    # Of long ago only those that have left something behind.
    failed &= Q(finished_at__gte=now - SHORTLY) | ~Q(remains=[])
    # Nothing is left, and the same has been done since: that was the mending.
    since = Operation.objects.filter(
        tenant_id=OuterRef("tenant_id"),
        kind=OuterRef("kind"),
        cluster_id=OuterRef("cluster_id"),
        resource=OuterRef("resource"),
        state=SUCCEEDED,
        created_at__gt=OuterRef("finished_at"),
    )
    rows = list(
        Operation.objects.filter(Q(state__in=ACTIVE_STATES) | failed)
        .exclude(Exists(since), state=FAILED, remains=[])
        .defer("memo")
        .order_by("-pk")[:OPERATIONS_MAX]
    )
    active = [row.pk for row in rows if row.state in ACTIVE_STATES]
    running = Step.objects.filter(operation_id__in=active, state=STEP_RUNNING)
    steps = {
        step.operation_id: step for step in running.only("operation_id", "title", "started_at")
    }
    for row in rows:
        step = steps.get(row.pk)
        is_held = row.lease_expires_at is not None and row.lease_expires_at > now
        error = row.error or {}
        found.operations[row.tenant_id].append(
            OperationFact(
                id=row.pk,
                kind=row.kind,
                resource=row.resource,
                cluster_id=row.cluster_id or "",
                state=row.state,
                rolling_back=row.rolling_back,
                due_since=None if is_held or row.next_run_at > now else row.next_run_at,
                step=step.title if step is not None else "",
                step_since=step.started_at if step is not None else None,
                finished_at=row.finished_at,
                remains=tuple(map(str, (row.remains or [])[:REMAINS_SHOWN])),
                error=str(error.get("code", "")),
            )
        )


def _keys(found: Others, now: datetime) -> None:
    columns = ("tenant_id", "name", "created_at", "expires_at")
    for tenant_id, name, made_at, ends_at in ending_keys(now).values_list(*columns):
        if ends_at is not None:
            found.keys[tenant_id].append(KeyFact(name=name, made_at=made_at, ends_at=ends_at))
