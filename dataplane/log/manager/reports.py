"""Settings of the log manager, and its reports about the directories."""

from __future__ import annotations

import dataclasses
import logging
from typing import TYPE_CHECKING, NamedTuple

from dataplane.log.cleaner.driver import CleanerSettings
from dataplane.model.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataplane.log.partition_log import PartitionLog
    from dataplane.log.recovery.recovery import Recovered
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.filesystem import FileSystem

_log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LogManagerSettings:
    """Broker-wide periods, in milliseconds; defaults are Kafka's."""

    retention_check_interval_ms: int = 300_000
    high_watermark_checkpoint_interval_ms: int = 5_000
    offset_checkpoint_interval_ms: int = 60_000
    producer_expiration_ms: int = 86_400_000
    file_delete_delay_ms: int = 60_000
    housekeeping_interval_ms: int = 1_000
    recovery_threads: int = 1
    """`num.recovery.threads.per.data.dir`: how many logs of one directory are opened at a time."""
    cleaner: CleanerSettings = dataclasses.field(default_factory=CleanerSettings)


class LogReport(NamedTuple):
    """One log as DescribeLogDirs wants it."""

    size_bytes: int
    log_end_offset: int
    is_future: bool


class DirectoryReport(NamedTuple):
    """One log directory as DescribeLogDirs wants it."""

    path: str
    error: ErrorCode
    total_bytes: int
    usable_bytes: int
    logs: dict[TopicPartition, LogReport]
    futures: dict[TopicPartition, LogReport]
    """Future replicas in this directory."""


def describe(
    fs: FileSystem,
    path: str,
    failure: OSError | None,
    logs: Mapping[TopicPartition, PartitionLog],
    futures: Mapping[TopicPartition, PartitionLog],
) -> DirectoryReport:
    """One directory with the logs that lie in it, and those on their way there. `OSError`."""
    if failure is not None:
        return DirectoryReport(path, ErrorCode.KAFKA_STORAGE_ERROR, -1, -1, {}, {})
    found = [
        {
            tp: LogReport(log.size_bytes, log.log_end_offset, is_future=is_future)
            for tp, log in some.items()
        }
        for some, is_future in ((logs, False), (futures, True))
    ]
    return DirectoryReport(path, ErrorCode.NONE, *fs.usage(path), *found)


def report_loading(
    path: str, opened: Sequence[Recovered], *, took_ms: int, was_clean: bool
) -> None:
    """One line for the broker's log, two after an unclean stop."""
    if not opened:
        return
    _log.info("%s: %d logs opened in %d ms", path, len(opened), took_ms)
    if not was_clean:
        _log.warning(
            "%s was not closed cleanly: %d bytes checked, %d truncated",
            path,
            sum(each.scanned_bytes for each in opened),
            sum(each.truncated_bytes for each in opened),
        )
