"""If a topic were kept for R: what it would hold, and whose unread records would have gone.

A record older than R may go, so a group that was further behind than R, in time, would have lost
some: a bound to the safe side, for a segment goes only when its newest record is out. What is held
is what came in within R. Compacted topics are not of this kind; they are not told apart here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, F, Max, Min, Q

from controlplane.analytics.insights.scene import HOUR_MS, Row, Scene, hours_of, replicas_of
from controlplane.analytics.models import GoldGroupRollup, GoldTopicRollup
from spark_analytics.contracts.analyses import Verdict

_HOUR, _DAY = 3600, 86_400
LADDER_S = (_HOUR, 6 * _HOUR, 12 * _HOUR, *(days * _DAY for days in (1, 2, 3, 7, 14, 30)))
SEEN_MIN = 0.9
"""Of an hour's windows; an hour that was seen less says too little of what came in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """One hour of a topic; `bytes_in` null where unknown, or seen too little."""

    ts_ms: int
    bytes_in: int | None


def bytes_held(hours: Mapping[int, Hour], end_ms: int, retention_s: int) -> int | None:
    """What came in within the last R before `end_ms`; of the hour that R begins in, its share.

    Null when one of the hours is not known.
    """
    begin_ms = end_ms - retention_s * 1000
    total = 0.0
    at_ms = begin_ms // HOUR_MS * HOUR_MS
    while at_ms < end_ms:
        hour = hours.get(at_ms)
        if hour is None or hour.bytes_in is None:
            return None
        inside_ms = min(at_ms + HOUR_MS, end_ms) - max(at_ms, begin_ms)
        total += hour.bytes_in * (inside_ms / HOUR_MS)
        at_ms += HOUR_MS
    return round(total)


def verdict(losing_hours: int, unknown_hours: int) -> Verdict:
    if losing_hours:
        return Verdict.WOULD_LOSE
    return Verdict.UNKNOWN if unknown_hours else Verdict.SAFE


def ladder(retention_s: int | None) -> tuple[int, ...]:
    """The usual ones and the one asked for."""
    return tuple(sorted({*LADDER_S, *([] if retention_s is None else [retention_s])}))


def group_rows(scene: Scene, topic: str, rungs: Sequence[int]) -> list[Row]:
    """Of each R and group whether it would have lost records in an hour of the scene, and when."""
    rows = hours_of(GoldGroupRollup, scene).filter(topic=topic)
    found = []
    for rung in rungs:
        behind = Q(lag_seconds_at_least_max__gt=rung)
        # Lag was there, of unknown age, and nothing shows that it is more than R.
        unknown = Q(lag_seconds_at_least_max__isnull=True) | (
            ~behind & Q(time_lag_samples__lt=F("lag_samples"))
        )
        judged = rows.values("group").annotate(
            losing=Count("pk", filter=behind),
            unclear=Count("pk", filter=unknown),
            first_ms=Min("ts_ms", filter=behind),
            last_ms=Max("ts_ms", filter=behind),
        )
        found += [
            {
                "retention_s": rung,
                "group": row["group"],
                "verdict": verdict(row["losing"], row["unclear"]).value,
                "first_ms": row["first_ms"],
                "last_ms": row["last_ms"],
                "losing_hours": row["losing"],
                "unknown_hours": row["unclear"],
            }
            for row in judged.order_by("group")
        ]
    return found


def rows(scene: Scene, topic: str, rungs: Sequence[int], groups: Sequence[Row]) -> list[Row]:
    """Of each R what would be held, and how much disk that frees (below 0: takes)."""
    hours = {
        row.ts_ms: Hour(
            ts_ms=row.ts_ms,
            bytes_in=row.bytes_in if row.samples >= SEEN_MIN * row.expected else None,
        )
        for row in hours_of(GoldTopicRollup, scene).filter(topic=topic)
    }
    last = hours_of(GoldTopicRollup, scene).filter(topic=topic).order_by("-ts_ms").first()
    now = None if last is None else last.bytes_last
    replicas = replicas_of(scene.cluster_id).get(topic)
    found = []
    for rung in rungs:
        held = bytes_held(hours, scene.to_ms, rung)
        freed = None if held is None or now is None else now - held
        words = [row["verdict"] for row in groups if row["retention_s"] == rung]
        found.append(
            {
                "retention_s": rung,
                "bytes_held": held,
                "bytes_freed": freed,
                "disk_freed_bytes": None if freed is None or replicas is None else freed * replicas,
                "groups_losing": words.count(Verdict.WOULD_LOSE),
                "groups_unknown": words.count(Verdict.UNKNOWN),
            }
        )
    return found
