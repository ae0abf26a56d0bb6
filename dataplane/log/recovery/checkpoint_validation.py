"""Checkpoints that can be read and cannot be right: what a start makes of them."""

from __future__ import annotations

import dataclasses
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.log.opening import CheckpointedState
    from dataplane.log.recovery.load_progress import LoadProgress

_log = logging.getLogger(__name__)


def validated(
    checkpointed: CheckpointedState,
    first_offset: int,
    log_end_offset: int,
    *,
    directory: str,
    progress: LoadProgress | None,
) -> CheckpointedState:
    """The offsets to go by for a log with records in [first, end), after validation.

    Log start: one beyond the end is 0, which is no bound, unless the high watermark confirms it.
    Records are deleted up to the high watermark at most: where that was known to be as high, a
    power cut took the log's end, and what is left of it had been deleted: the log starts there,
    empty, as in Kafka. Otherwise the checkpoint is damaged, and going by it, as Kafka does, would
    empty the log.

    Cleaner: one beyond the end is 0, all of the log is dirty again (as in Kafka).

    Recovery point: the end after a clean stop; 0, nothing is durable, for one beyond the end.
    """
    start, cleaned_until = checkpointed.log_start_offset, checkpointed.cleaned_until
    recovery_point, high_watermark = checkpointed.recovery_point, checkpointed.high_watermark
    wrong = []
    if start > log_end_offset > first_offset:
        is_confirmed = high_watermark is not None and high_watermark >= start
        if checkpointed.is_clean or not is_confirmed:
            wrong.append(f"log start {start}")
            start = 0
    if cleaned_until > log_end_offset:
        wrong.append(f"compacted up to {cleaned_until}")
        cleaned_until = 0
    if checkpointed.is_clean:
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
    return dataclasses.replace(
        checkpointed,
        log_start_offset=start,
        recovery_point=recovery_point,
        cleaned_until=cleaned_until,
    )
