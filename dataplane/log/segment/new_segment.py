"""How a log's next segment begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log.segment.log_segment import LogSegment

if TYPE_CHECKING:
    from dataplane.log.config import LogConfig
    from dataplane.log.recovery.load_progress import LoadProgress
    from dataplane.ports.filesystem import FileSystem


def begin_segment(
    fs: FileSystem,
    directory: str,
    offset: int,
    config: LogConfig,
    *,
    now_ms: int,
    progress: LoadProgress | None,
) -> LogSegment:
    """An empty segment, whatever a crash between two steps has left under its name. `OSError`."""
    segment = LogSegment(
        fs,
        directory,
        offset,
        created_ms=now_ms,
        index_interval_bytes=config.index_interval_bytes,
        progress=progress,
    )
    if segment.size:
        segment.file.truncate(0)
        segment.size = 0
        segment.restart()
    segment.offset_index.truncate_entries(0)
    segment.time_index.clear()
    segment.limit_indexes(config.segment_index_bytes)
    return segment
