"""When a run is due and which range it computes. Pure: times come in, decisions go out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spark_analytics.contracts import Rules

OVERLAP_S = 120
"""Recomputed each time: samples that arrived late, and the window that was still open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    started_ms: int


def run_is_due(
    *,
    now_ms: int,
    first_sample_ms: int | None,
    last_run: LastRun | None,
    interval_s: float,
    first_after_s: float,
) -> bool:
    """The first run soon after the first sample, then one per interval."""
    if first_sample_ms is None:
        return False
    if last_run is None:
        return now_ms >= first_sample_ms + first_after_s * 1000
    return now_ms >= last_run.started_ms + interval_s * 1000


def run_range(
    *,
    now_ms: int,
    cluster_ids: Iterable[str],
    done_until_ms: Mapping[str, int],
    range_max_s: int,
    rules: Rules,
) -> tuple[int, int]:
    """[from, to) in whole windows: from where the cluster that is furthest behind was computed.

    A cluster that was never computed, or not for long, starts `range_max_s` back. The window that
    is still open is included; the next run computes it again.
    """
    window_ms = rules.window_s * 1000
    to_ms = (now_ms // window_ms + 1) * window_ms
    oldest_ms = to_ms - range_max_s * 1000
    starts = [
        done_until_ms[cluster_id] - OVERLAP_S * 1000 if cluster_id in done_until_ms else oldest_ms
        for cluster_id in cluster_ids
    ]
    from_ms = max(oldest_ms, min(starts, default=oldest_ms))
    return min(from_ms, to_ms - window_ms) // window_ms * window_ms, to_ms
