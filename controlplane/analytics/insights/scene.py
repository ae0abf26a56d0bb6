"""What every analysis is given: a cluster, a range of whole hours, how much of it was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Max, Sum

from controlplane.analytics.models import GoldClusterRollup
from controlplane.observed.models import ObservedTopic
from spark_analytics.contracts.gold import HOUR_S
from spark_analytics.contracts.rules import Rules

HOUR_MS = HOUR_S * 1000
DAY_MS = 24 * HOUR_MS
WINDOWS = HOUR_S // Rules().window_s
"""Of an hour."""
GIB = 2**30

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Hours that begin in [from_ms, to_ms). `seen_share`: windows with a sample, of all of them."""

    cluster_id: str
    from_ms: int
    to_ms: int
    as_of_ms: int
    run_id: str
    seen_share: float


def scene_of(
    cluster_id: str, *, from_ms: int | None, to_ms: int | None, span_ms: int
) -> Scene | None:
    """The range asked for, by default `span_ms` up to the newest hour; None before the first hour.

    What lies after the newest hour is left out: it is not known yet, not missing.
    """
    hours = GoldClusterRollup.objects.filter(cluster_id=cluster_id, period_s=HOUR_S)
    newest = hours.order_by("-ts_ms").first()
    if newest is None:
        return None
    end_ms = newest.ts_ms + HOUR_MS
    if to_ms is not None:
        end_ms = min(end_ms, -(-to_ms // HOUR_MS) * HOUR_MS)
    begin_ms = end_ms - span_ms if from_ms is None else from_ms // HOUR_MS * HOUR_MS
    begin_ms = min(begin_ms, end_ms)
    inside = hours.filter(ts_ms__gte=begin_ms, ts_ms__lt=end_ms)
    found = inside.aggregate(samples=Sum("samples"), last=Max("sampled_ms"))
    windows = (end_ms - begin_ms) // HOUR_MS * WINDOWS
    return Scene(
        cluster_id=cluster_id,
        from_ms=begin_ms,
        to_ms=end_ms,
        as_of_ms=found["last"] or newest.sampled_ms,
        run_id=newest.run_id,
        seen_share=min(1.0, (found["samples"] or 0) / windows) if windows else 0.0,
    )


def hours_of(model: Any, scene: Scene) -> Any:
    """The hourly rows of the scene."""
    return model._default_manager.filter(  # noqa: SLF001 - Django's documented name
        cluster_id=scene.cluster_id,
        period_s=HOUR_S,
        ts_ms__gte=scene.from_ms,
        ts_ms__lt=scene.to_ms,
    )


def replicas_of(cluster_id: str) -> dict[str, int]:
    """Replicas of each topic that was observed; a topic that is gone has none."""
    rows = ObservedTopic.objects.filter(cluster_id=cluster_id, gone=False)
    found = {}
    for name, row in rows.values_list("key", "row").iterator():
        factor = row.get("replication_factor")
        if isinstance(factor, int) and factor > 0:
            found[name] = factor
    return found
