"""Topics that get far less than they do at this hour of the day."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence

from controlplane.analytics.insights.scene import DAY_MS, HOUR_MS, Row, Scene, hours_of
from controlplane.analytics.models import GoldTopicRollup
from spark_analytics.contracts.analyses import Verdict
from spark_analytics.contracts.gold import HOUR_S

DAYS_BACK = 14
DAYS_MIN = 3
SILENT_SHARE = 0.1
USUAL_MIN = 100
"""Records in that hour; below, chance decides."""
SEEN_MIN = 0.9


def usual(records: Sequence[int]) -> float | None:
    """The median of the same hour of other days; null when there are too few."""
    return statistics.median(records) if len(records) >= DAYS_MIN else None


def verdict(records: int | None, usual_records: float | None) -> Verdict:
    if records is None or usual_records is None or usual_records < USUAL_MIN:
        return Verdict.UNKNOWN
    silent = records < SILENT_SHARE * usual_records
    return Verdict.SILENT if silent else Verdict.PRODUCING


def rows(scene: Scene) -> list[Row]:
    """Every topic of the scene's last hour beside the same hour of the 14 days before."""
    hour_ms = scene.to_ms - HOUR_MS
    before = [hour_ms - day * DAY_MS for day in range(1, DAYS_BACK + 1)]
    compared: dict[str, list[int]] = defaultdict(list)
    hours = GoldTopicRollup.objects.filter(
        cluster_id=scene.cluster_id, period_s=HOUR_S, ts_ms__in=before, records_in__isnull=False
    )
    columns = ("topic", "records_in", "samples", "expected")
    for topic, records, samples, expected in hours.values_list(*columns).iterator():
        if samples >= SEEN_MIN * expected:
            compared[topic].append(records)
    found = []
    for row in hours_of(GoldTopicRollup, scene).filter(ts_ms=hour_ms).order_by("topic"):
        records = row.records_in if row.samples >= SEEN_MIN * row.expected else None
        normal = usual(compared[row.topic])
        found.append(
            {
                "topic": row.topic,
                "verdict": verdict(records, normal).value,
                "hour_ms": hour_ms,
                "records": records,
                "usual_records": normal,
                "share_of_usual": records / normal if records is not None and normal else None,
                "hours_compared": len(compared[row.topic]),
                "last_write_ms": row.last_write_ms,
            }
        )
    return found
