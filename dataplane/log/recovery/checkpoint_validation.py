"""Checkpoints that can be read and cannot be right: what a start makes of them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dataplane.log.recovery.load_progress import LoadProgress

_log = logging.getLogger(__name__)


class LogOffsets(NamedTuple):
    """What the checkpoint files say of one log."""

    log_start_offset: int
    recovery_point: int
    cleaned_until: int
    high_watermark: int | None


def validated(
    checkpointed: LogOffsets,
    first_offset: int,
    log_end_offset: int,
    *,
    clean: bool,
    directory: str,
    progress: LoadProgress | None,
) -> LogOffsets:
    """The offsets to go by for a log with records in [first, end), after validation.

    Log start: one beyond the end is 0, which is no bound, unless the high watermark confirms it.
    Records are deleted up to the high watermark at most: where that was known to be as high, a
    power cut took the log's end, and what is left of it had been deleted: the log starts there,
    empty, as in Kafka. Otherwise the checkpoint is damaged, and going by it, as Kafka does, would
    empty the log.

    Cleaner: one beyond the end is 0, all of the log is dirty again (as in Kafka).

    Recovery point: the end after a clean stop; 0, nothing is durable, for one beyond the end.
    """
    start, recovery_point, cleaned_until, high_watermark = checkpointed
    wrong = []
    if start > log_end_offset > first_offset:
        is_confirmed = not clean and high_watermark is not None and high_watermark >= start
        if not is_confirmed:
            wrong.append(f"log start {start}")
            start = 0
    if cleaned_until > log_end_offset:
        wrong.append(f"compacted up to {cleaned_until}")
        cleaned_until = 0
    if clean:
        recovery_point = log_end_offset
    elif recovery_point > log_end_offset:
        recovery_point = 0
    if wrong:
        _log.warning(
            "%s ends at %d and its checkpoints are not used: %s",
            directory,
            log_end_offset,
            ", ".join(wrong),
        )
        if progress is not None:
            progress.damaged_files += len(wrong)
    return LogOffsets(start, recovery_point, cleaned_until, high_watermark)
