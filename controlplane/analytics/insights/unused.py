"""Topics that nobody writes or reads, with what speaks for it. Internal topics are left out."""

from __future__ import annotations

from django.db.models import Count, Max, Min, Q, Sum

from controlplane.analytics.insights.scene import HOUR_MS, WINDOWS, Row, Scene, hours_of
from controlplane.analytics.models import GoldGroupRollup, GoldTopicRollup
from controlplane.topics.rules import is_internal
from spark_analytics.contracts.analyses import Verdict

SEEN_MIN = 0.9
"""Of the time: what went on while nobody looked is not known."""


def verdict(
    *, idle_ms: int, as_of_ms: int, since_ms: int, seen_share: float, last_ms: int | None
) -> Verdict:
    """Unused: observed for as long as `idle_ms`, nearly all of it, and nothing moved meanwhile."""
    if last_ms is not None and last_ms > as_of_ms - idle_ms:
        return Verdict.IN_USE
    if as_of_ms - since_ms < idle_ms or seen_share < SEEN_MIN:
        return Verdict.UNKNOWN
    return Verdict.UNUSED


def rows(scene: Scene, idle_s: int) -> list[Row]:
    """Every topic that was there in the newest hour, the longest unused first."""
    topics = {
        row["topic"]: row
        for row in hours_of(GoldTopicRollup, scene)
        .values("topic")
        .annotate(
            wrote_ms=Max("last_write_ms"),
            since_ms=Min("ts_ms"),
            seen=Sum("samples"),
            came=Sum("records_in"),
        )
    }
    reads = {
        row["topic"]: row
        for row in hours_of(GoldGroupRollup, scene)
        .values("topic")
        .annotate(
            last_ms=Max("ts_ms", filter=Q(records_out__gt=0)),
            groups=Count("group", distinct=True, filter=Q(lag_samples__gt=0)),
        )
    }
    held = dict(
        hours_of(GoldTopicRollup, scene)
        .filter(ts_ms=scene.to_ms - HOUR_MS)
        .values_list("topic", "bytes_last")
    )
    found = [
        _row(scene, idle_s, row, reads.get(name, {}), held[name])
        for name, row in topics.items()
        if name in held and not is_internal(name)
    ]
    return sorted(found, key=lambda row: (row["last_write_ms"] or 0, row["topic"]))


def _row(scene: Scene, idle_s: int, topic: Row, read: Row, held: int | None) -> Row:
    last_read_ms = read.get("last_ms")
    moments = [ms for ms in (topic["wrote_ms"], last_read_ms) if ms is not None]
    windows = (scene.to_ms - topic["since_ms"]) // HOUR_MS * WINDOWS
    seen_share = min(1.0, topic["seen"] / windows)
    return {
        "topic": topic["topic"],
        "verdict": verdict(
            idle_ms=idle_s * 1000,
            as_of_ms=scene.to_ms,
            since_ms=topic["since_ms"],
            seen_share=seen_share,
            last_ms=max(moments, default=None),
        ).value,
        "last_write_ms": topic["wrote_ms"],
        "last_read_ms": last_read_ms,
        "observed_since_ms": topic["since_ms"],
        "seen_share": seen_share,
        "records_in": topic["came"],
        "bytes_last": held,
        "groups": read.get("groups", 0),
    }
