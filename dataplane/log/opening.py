"""What a log is opened with, beside its name, its directory and its topic's settings."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.ports.background import Background
    from dataplane.ports.clock import Clock
    from dataplane.ports.filesystem import FileSystem

NEVER_CLEANED = -1


@dataclasses.dataclass(frozen=True, slots=True)
class LogEnvironment:
    """What all logs of a broker share."""

    fs: FileSystem
    clock: Clock
    background: Background


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointedState:
    """What the checkpoint files hold of one log, and how the broker stopped after writing them."""

    log_start_offset: int = 0
    recovery_point: int = 0
    cleaned_until: int = NEVER_CLEANED
    high_watermark: int | None = None
    is_clean: bool = False
    """The last stop was clean: nothing needs to be scanned."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LogListeners:
    """Who is called when a log's disk refuses, and when its recovery point goes back."""

    on_storage_error: Callable[[str, OSError], None] | None = None
    on_recovery_point_lowered: Callable[[], None] | None = None


NEW_LOG = CheckpointedState()
NOBODY = LogListeners()
