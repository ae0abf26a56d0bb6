"""What brokers held and how often they were started, over the last day; written by the evaluator.

Observed tables have the present alone. A ring a broker: 96 sizes, one each quarter of an hour, and
the last 40 changes of the number of starts.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from controlplane.alerts.fact_types import TenantFacts
from controlplane.alerts.models import BrokerTrack

SIZE_EVERY = timedelta(minutes=15)
SIZES_KEPT = 96
STARTS_KEPT = 40
Key = tuple[str, int]


def keep(tenants: Iterable[TenantFacts], starts: Mapping[Key, int], now: datetime) -> int:
    """Note what is new; how many rows were written."""
    sizes = {
        (cluster.id, broker.id): broker.size_bytes
        for tenant in tenants
        for cluster in tenant.clusters
        for broker in cluster.brokers or ()
        if broker.size_bytes is not None
    }
    ids = {cluster_id for cluster_id, _ in (*sizes, *starts)}
    known = {
        (row.cluster_id, row.broker_id): row
        for row in BrokerTrack.objects.filter(cluster_id__in=ids)
    }
    changed = []
    for key in sorted({*sizes, *starts}):
        row = known.get(key) or BrokerTrack(cluster_id=key[0], broker_id=key[1])
        if noted(row, sizes.get(key), starts.get(key), now):
            changed.append(row)
    BrokerTrack.objects.bulk_create(
        changed,
        batch_size=500,
        update_conflicts=True,
        unique_fields=["cluster_id", "broker_id"],
        update_fields=["sizes", "starts"],
    )
    return len(changed)


def noted(row: BrokerTrack, size: int | None, starts: int | None, now: datetime) -> bool:
    """Add what is new to the row's rings; whether anything was."""
    at, is_changed = now.isoformat(), False
    if size is not None and _is_due(row.sizes, now):
        row.sizes = [*row.sizes, [at, size]][-SIZES_KEPT:]
        is_changed = True
    if starts is not None and (not row.starts or row.starts[-1][1] != starts):
        row.starts = [*row.starts, [at, starts]][-STARTS_KEPT:]
        is_changed = True
    return is_changed


def _is_due(sizes: list[Any], now: datetime) -> bool:
    if not sizes:
        return True
    last = datetime.fromisoformat(sizes[-1][0])
    # A clock that was set back: what it said meanwhile is no reason to wait until then.
    return now - last >= SIZE_EVERY or last > now


def forget(cluster_ids: Iterable[str]) -> int:
    """Rows of clusters other than these; how many went."""
    return BrokerTrack.objects.exclude(cluster_id__in=list(cluster_ids)).delete()[0]
