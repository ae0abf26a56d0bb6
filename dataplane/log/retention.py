"""Which segments a log may drop, oldest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.log.config import LogConfig
    from dataplane.log.segment.log_segments import LogSegments


def deletable_prefix(
    segments: LogSegments,
    config: LogConfig,
    *,
    now_ms: int,
    log_start_offset: int,
    log_end_offset: int,
    high_watermark: int,
) -> int:
    """How many of the oldest segments are breached by log start, by time or by size.

    Never beyond the high watermark. An empty active segment is not worth deleting. Without
    "delete" in `cleanup.policy` only what lies before the log start goes.
    """
    excess = segments.size_bytes - config.retention_bytes
    count = 0
    for slot, segment in enumerate(segments):
        end = segments.end_of(slot, log_end_offset)
        is_active = slot + 1 == len(segments)
        if end > high_watermark or (is_active and not segment.size):
            break
        newest_ms = segment.max_timestamp_ms
        if newest_ms < 0:
            newest_ms = segment.created_ms
        is_before_start = end <= log_start_offset and not is_active
        is_too_old = (
            config.deletes and config.retention_ms >= 0 and now_ms - newest_ms > config.retention_ms
        )
        is_too_much = config.deletes and config.retention_bytes >= 0 and excess >= segment.size
        if not (is_before_start or is_too_old or is_too_much):
            break
        excess -= segment.size
        count += 1
    return count
