"""A log on a file system in memory, and batches to put in it."""

from __future__ import annotations

import dataclasses

from dataplane.log.config import LogConfig
from dataplane.log.opening import CheckpointedState, LogEnvironment, LogListeners
from dataplane.log.partition_log import PartitionLog
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.background import InlineBackground
from dataplane.ports.fakes.clock import FakeClock
from dataplane.ports.fakes.filesystem import MemoryFileSystem
from dataplane.wire.record_batch import NewRecord, build_batch, iter_batches, iter_records

NOW_MS = 1_700_000_000_000
DIRECTORY = "/data/topic-0"


@dataclasses.dataclass
class World:
    """One partition's surroundings; `open` may be called again after `crash` or `close`."""

    config: LogConfig = dataclasses.field(default_factory=LogConfig)
    fs: MemoryFileSystem = dataclasses.field(default_factory=MemoryFileSystem)
    clock: FakeClock = dataclasses.field(default_factory=FakeClock)
    background: InlineBackground = dataclasses.field(default_factory=InlineBackground)
    producer_expiration_ms: int = 86_400_000

    def open(self, *, on_storage_error=None, progress=None, **keywords) -> PartitionLog:
        """`keywords` are fields of CheckpointedState."""
        self.fs.make_dirs(DIRECTORY)
        return PartitionLog(
            LogEnvironment(self.fs, self.clock, self.background),
            TopicPartition("topic", 0),
            DIRECTORY,
            self.config,
            checkpointed=CheckpointedState(**keywords),
            listeners=LogListeners(on_storage_error=on_storage_error),
            progress=progress,
            producer_expiration_ms=self.producer_expiration_ms,
        )


def batch(count: int = 1, *, at_ms: int = NOW_MS, value: bytes = b"value", **keywords) -> bytearray:
    records = [NewRecord(b"key", value, (), at_ms + n) for n in range(count)]
    return build_batch(records, **keywords)


def append(log: PartitionLog, count: int = 1, *, epoch: int = 0, **keywords):
    """Append as a client does, one that may use its transactional id if it is in a transaction."""
    origin = "transaction" if keywords.get("is_transactional") else "client"
    return log.append_as_leader(batch(count, **keywords), epoch, now_ms=NOW_MS, origin=origin)


def offsets_in(data: bytes) -> list[int]:
    return [
        record.offset
        for position, _ in iter_batches(data)
        for record in iter_records(data, position)
    ]


def read_all(log: PartitionLog, start: int | None = None, *, max_bytes: int = 1 << 20) -> list[int]:
    """Offsets of all records from `start`, read as a consumer would."""
    at = log.log_start_offset if start is None else start
    found: list[int] = []
    while True:
        data = log.read(at, max_bytes, log.log_end_offset).read()
        if not data:
            return found
        offsets = [offset for offset in offsets_in(data) if offset >= at]
        assert offsets, "a read that gives nothing new would loop for ever"
        found += offsets
        at = offsets[-1] + 1
