"""What compaction hands to the log that it has compacted."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.log.index.transaction_index import AbortedTransaction


@dataclasses.dataclass(slots=True)
class CleanedSegment:
    """A finished `.cleaned` segment, synced, and what it stands for."""

    base_offset: int
    sources: tuple[int, ...]
    """Base offsets of the segments that it replaces."""
    created_ms: int
    aborted: list[AbortedTransaction]
    bytes_before: int = 0
    bytes_after: int = 0
    dropped_records: int = 0
