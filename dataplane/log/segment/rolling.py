"""When a segment is rolled for its size, and how the next one begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.log.segment.log_segment import LogSegment
from dataplane.wire.crc import crc32c

if TYPE_CHECKING:
    from dataplane.log.config import LogConfig
    from dataplane.log.recovery.load_progress import LoadProgress
    from dataplane.ports.filesystem import FileSystem


def is_full(segment: LogSegment, config: LogConfig, size: int) -> bool:
    """Whether `size` more bytes do not fit any more."""
    return segment.size + size > config.segment_bytes or segment.is_index_full


def jitter_ms(segment: LogSegment, config: LogConfig) -> int:
    """Up to `segment.jitter.ms`, spread over partitions so that not all roll at once."""
    span = config.segment_jitter_ms
    return crc32c(segment.path.encode()) % (span + 1) if span else 0


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
