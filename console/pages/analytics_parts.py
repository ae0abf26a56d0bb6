"""Spark's results as parts. They come from SQL, so they are read in place."""

from typing import Any

from console.parts import Part
from controlplane.analytics import selectors
from controlplane.tenants.models import Tenant

RUNS = 10


def lag_now(tenant: Tenant, cluster_id: str, group: str | None = None) -> Part:
    return Part(lambda: selectors.lag_series(tenant, cluster_id, group=group, latest=True))


def retention(tenant: Tenant, cluster_id: str, topic: str | None = None) -> Part:
    return Part(lambda: selectors.retention_table(tenant, cluster_id, topic=topic))


def runs(tenant: Tenant) -> Part:
    def read() -> list[dict[str, Any]]:
        rows = selectors.run_rows(tenant).order_by("-pk")[:RUNS]
        return [selectors.run_dict(row) for row in rows]

    return Part(read)


def collector(tenant: Tenant, cluster_id: str) -> Part:
    return Part(lambda: selectors.collector_state(tenant, cluster_id))
