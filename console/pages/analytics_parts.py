"""Spark's results as parts. They come from SQL, so they are read in place."""

from typing import Any

from console.pages.shared import require_whole_tenant
from console.parts import Part
from controlplane.analytics import selectors
from controlplane.common.grants import Scope
from controlplane.tenants.models import Tenant

RUNS = 10


def lag_now(tenant: Tenant, scope: Scope, cluster_id: str, group: str | None = None) -> Part:
    return Part(lambda: selectors.lag_series(tenant, scope, cluster_id, group=group, latest=True))


def retention(
    tenant: Tenant,
    scope: Scope,
    cluster_id: str,
    topic: str | None = None,
    group: str | None = None,
) -> Part:
    return Part(
        lambda: selectors.retention_table(tenant, scope, cluster_id, topic=topic, group=group)
    )


def runs(tenant: Tenant, scope: Scope) -> Part:
    def read() -> list[dict[str, Any]]:
        require_whole_tenant(scope, "Runs")
        rows = selectors.run_rows(tenant).order_by("-pk")[:RUNS]
        return [selectors.run_dict(row) for row in rows]

    return Part(read)


def collector(tenant: Tenant, scope: Scope, cluster_id: str) -> Part:
    """What pages show of it; the rest of its state is another one with each sample."""

    def read() -> dict[str, Any]:
        state = selectors.collector_state(tenant, scope, cluster_id)
        return {"first_verdict_due_at": state["first_verdict_due_at"]}

    return Part(read)
