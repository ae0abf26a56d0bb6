"""Which lag objectives are being burnt: counted once for each new window of gold, and kept.

Rounds come each 10 s, windows with a run each 5 minutes: what was counted for a cluster's newest
window stays true until there is another one, or an objective changes.
"""

import hashlib
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime

from django.db import OperationalError

from controlplane.alerts.fact_types import BurnFact, BurnFacts, ClusterFacts
from controlplane.alerts.facts_groups import STALE_S
from controlplane.alerts.models import BurnCount
from controlplane.analytics.insights.burning import burning, newest, targets_by_tenant
from controlplane.analytics.insights.tallies import TooManyWindowsError
from controlplane.analytics.insights.targets import Target
from controlplane.clusters.models import Cluster

log = logging.getLogger(__name__)
COUNTING_S = 2.0
"""Of one round: clusters that are not reached keep what was counted before, and come first next."""
_KEPT = tuple(BurnFact.__dataclass_fields__)


def read(clusters: Iterable[Cluster], now: datetime) -> dict[str, tuple[BurnFacts | None, str]]:
    """By cluster (burns, why they are not known); where nobody has set an objective, not there."""
    by_tenant = targets_by_tenant()
    targets: dict[str, list[Target]] = {}
    for cluster in clusters:
        mine = by_tenant.get(cluster.tenant_id, ())
        if about := [each for each in mine if each.cluster_id in {None, cluster.id}]:
            targets[cluster.id] = about
    if not targets:
        return {}
    counts = BurnCount.objects.in_bulk(list(targets))
    _count(targets, counts)
    return {cluster_id: _facts(counts.get(cluster_id), now) for cluster_id in targets}


def with_burns(cluster: ClusterFacts, found: tuple[BurnFacts | None, str] | None) -> ClusterFacts:
    if found is None:
        return cluster
    return replace(cluster, burns=found[0], burns_unknown_because=found[1])


def _count(targets: Mapping[str, Sequence[Target]], counts: dict[str, BurnCount]) -> None:
    """Those with a new window or other objectives, the longest ago first, within the time."""
    order = sorted(targets, key=lambda each: counts[each].sampled_ms if each in counts else 0)
    began_s: float | None = None
    for cluster_id in order:
        if began_s is not None and time.monotonic() - began_s > COUNTING_S:
            return
        window = newest(cluster_id)
        if window is None:
            continue
        mark, known = _mark(window, targets[cluster_id]), counts.get(cluster_id)
        if known is not None and known.mark == mark:
            continue
        began_s = time.monotonic() if began_s is None else began_s
        counts[cluster_id] = _counted(cluster_id, window, mark, targets[cluster_id], known)
        BurnCount.objects.bulk_create(
            [counts[cluster_id]],
            update_conflicts=True,
            unique_fields=["cluster_id"],
            update_fields=["mark", "sampled_ms", "rows", "whole"],
        )


def _counted(
    cluster_id: str,
    window: tuple[int, int, str],
    mark: str,
    targets: Sequence[Target],
    known: BurnCount | None,
) -> BurnCount:
    try:
        rows, whole = burning(cluster_id, window[0], targets)
    except (OperationalError, TooManyWindowsError):
        # What was counted before stands until it is too old; the next window is tried again.
        log.warning("the burns of %s could not be counted", cluster_id, exc_info=True)
        found = known or BurnCount(pk=cluster_id, sampled_ms=0)
        found.mark = mark
        return found
    kept = [{name: row[name] for name in _KEPT} for row in rows]
    return BurnCount(pk=cluster_id, mark=mark, sampled_ms=window[1], rows=kept, whole=whole)


def _mark(window: tuple[int, int, str], targets: Sequence[Target]) -> str:
    said = repr((window, [sorted(asdict(each).items()) for each in targets]))
    return hashlib.sha256(said.encode()).hexdigest()


def _facts(row: BurnCount | None, now: datetime) -> tuple[BurnFacts | None, str]:
    if row is None:
        return None, "its groups' lag has not been computed yet"
    if now.timestamp() - row.sampled_ms / 1000 > STALE_S:
        return None, "its groups' lag was not computed lately"
    return BurnFacts(rows=tuple(BurnFact(**each) for each in row.rows), whole=row.whole), ""


def forget(cluster_ids: Iterable[str]) -> int:
    """Rows of clusters other than these; how many went."""
    return BurnCount.objects.exclude(cluster_id__in=list(cluster_ids)).delete()[0]
