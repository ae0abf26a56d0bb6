"""Checks about this service: collector, analytics, operations, keys, limits."""

from datetime import datetime

from django.conf import settings
from django.utils import timezone

from controlplane.access.selectors import overlap_list
from controlplane.analytics import selectors as analytics
from controlplane.analytics.conf import conf
from controlplane.clusters.models import MANAGED, Broker, Cluster
from controlplane.common.problems import Forbidden
from controlplane.operations.models import Plan
from controlplane.operations.selectors import operation_get, operation_list
from controlplane.operations.states import PLAN_OPEN, SUCCEEDED
from controlplane.runbooks import rules
from controlplane.runbooks.checks.base import Asked, Check
from controlplane.runbooks.rules import Finding
from controlplane.tenants.selectors import ending_keys
from controlplane.topics.models import OPEN_STATES
from controlplane.topics.selectors import lease_list

OPERATIONS_MAX = 200


def collector(asked: Asked) -> Finding:
    state = analytics.collector_state(asked.tenant, asked.scope, asked["cluster"])
    last = state["last_sample_at"]
    return rules.late(
        "sample",
        datetime.fromisoformat(last) if last else None,
        state["interval_s"],
        timezone.now(),
        state["last_error"] or "",
    )


def spark(asked: Asked) -> Finding:
    rows = analytics.run_rows(asked.tenant).filter(state=SUCCEEDED)
    last = rows.order_by("-finished_at").values_list("finished_at", flat=True).first()
    return rules.late("analytics run", last, conf().interval_s, timezone.now())


def operation(asked: Asked) -> Finding:
    found = operation_get(asked.tenant, asked.scope, asked["operation"])
    return rules.operation(found, timezone.now())


def operations(asked: Asked) -> Finding:
    cluster_id = asked.cluster().pk if "cluster" in asked.values else None
    found = operation_list(
        asked.tenant, asked.scope, cluster_id=cluster_id, state="active", limit=OPERATIONS_MAX
    )
    return rules.waiting(found, timezone.now())


def keys(asked: Asked) -> Finding:
    _require_all(asked, "Keys")
    now = timezone.now()
    rows = ending_keys(now).filter(tenant=asked.tenant)
    return rules.keys({key.name: key.expires_at for key in rows if key.expires_at}, now)


def limits(asked: Asked) -> Finding:
    _require_all(asked, "The limits of a tenant")
    tenant, now = asked.tenant, timezone.now()
    clusters = Cluster.objects.filter(tenant=tenant, deleted_at=None).count()
    placed = Broker.objects.filter(
        cluster__tenant=tenant, cluster__kind=MANAGED, cluster__deleted_at=None
    )
    plans = Plan.objects.filter(tenant=tenant, state=PLAN_OPEN, expires_at__gt=now).count()
    return rules.limits(
        {
            "clusters": (clusters, settings.CLUSTERS_PER_TENANT),
            "brokers": (placed.count(), settings.BROKERS_PER_TENANT),
            "open_plans": (plans, settings.PLANS_OPEN_MAX),
        },
        now,
    )


def leases(asked: Asked) -> Finding:
    rows = lease_list(asked.cluster(), asked.scope)
    return rules.overdue(
        "lease", [row for row in rows if row["state"] in OPEN_STATES], timezone.now()
    )


def overlaps(asked: Asked) -> Finding:
    return rules.overdue("overlap", overlap_list(asked.cluster(), asked.scope), timezone.now())


def _require_all(asked: Asked, what: str) -> None:
    if not asked.scope.sees_all:
        raise Forbidden(f"{what} are seen with a role on the whole tenant.")


CHECKS = (
    Check(name="collector-age", needs=("cluster",), run=collector),
    Check(name="spark-run-age", needs=(), run=spark),
    Check(name="operation-state", needs=("operation",), run=operation),
    Check(name="operations-active", needs=(), may=("cluster",), run=operations),
    Check(name="key-ends", needs=(), run=keys),
    Check(name="tenant-limits", needs=(), run=limits),
    Check(name="retention-leases", needs=("cluster",), run=leases),
    Check(name="password-overlaps", needs=("cluster",), run=overlaps),
)
