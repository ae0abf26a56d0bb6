"""Topics of which one partition takes far more than its share, hour after hour."""

from __future__ import annotations

from django.db.models import Avg, Count, Max, Q, Sum

from controlplane.analytics.insights.scene import Row, Scene, hours_of
from controlplane.analytics.models import GoldTopicRollup
from spark_analytics.contracts.analyses import Verdict

SHARES_MIN = 2.0
"""Times the fair share that the busiest takes on average."""
HOURS_MIN = 3
RECORDS_MIN = 1_000
"""In the range; fewer are uneven by chance."""


def verdict(*, share: float | None, partitions: int, hours: int, records: int | None) -> Verdict:
    if share is None or hours < HOURS_MIN or (records or 0) < RECORDS_MIN:
        return Verdict.UNKNOWN
    return Verdict.HOT if share >= SHARES_MIN / partitions else Verdict.EVEN


def rows(scene: Scene) -> list[Row]:
    """Topics of several partitions, the most uneven first. `hours`: in which something came."""
    summed = (
        hours_of(GoldTopicRollup, scene)
        .values("topic")
        .annotate(
            partitions_max=Max("partitions"),
            share=Avg("busiest_share"),
            gini_avg=Avg("gini"),
            hours=Count("pk", filter=Q(busiest_share__isnull=False)),
            records=Sum("records_in"),
            last_ms=Max("ts_ms", filter=Q(busiest_share__isnull=False)),
        )
        .filter(partitions_max__gt=1)
    )
    busiest = {
        (topic, ts_ms): partition
        for topic, ts_ms, partition in hours_of(GoldTopicRollup, scene)
        .filter(ts_ms__in={row["last_ms"] for row in summed if row["last_ms"] is not None})
        .values_list("topic", "ts_ms", "busiest_partition")
    }
    found = [
        {
            "topic": row["topic"],
            "verdict": verdict(
                share=row["share"],
                partitions=row["partitions_max"],
                hours=row["hours"],
                records=row["records"],
            ).value,
            "partitions": row["partitions_max"],
            "busiest_partition": busiest.get((row["topic"], row["last_ms"])),
            "busiest_share": row["share"],
            "fair_share": 1 / row["partitions_max"],
            "gini": row["gini_avg"],
            "records_in": row["records"],
            "hours": row["hours"],
        }
        for row in summed
    ]
    return sorted(found, key=lambda row: (-(row["gini"] or 0), row["topic"]))
