"""Keyed records, rounds of compaction without a driver, and a disk that stops at a chosen moment."""

from __future__ import annotations

import dataclasses
import struct

from dataplane.log.cleaner.plan import assess, plan_round
from dataplane.log.cleaner.round import Round
from dataplane.log.config import LogConfig
from dataplane.log.partition_log import PartitionLog
from dataplane.ports.fakes.filesystem import MemoryFileSystem
from dataplane.wire.compression import Compression
from dataplane.wire.record_batch import (
    BatchHeader,
    NewRecord,
    Record,
    build_batch,
    iter_batches,
    iter_records,
    validate_crc,
)
from tests.dataplane.log.support import NOW_MS, World

COMPACT = LogConfig(compacts=True, deletes=False, segment_bytes=2000, index_interval_bytes=200)
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def put(log: PartitionLog, *pairs: tuple[str, str | None], at_ms: int = NOW_MS, **options):
    """Append one batch with these keys and values."""
    records = [
        NewRecord(
            key.encode(), None if value is None else value.encode(), (("h", b"1"),), at_ms + n
        )
        for n, (key, value) in enumerate(pairs)
    ]
    origin = "transaction" if options.get("is_transactional") else "client"
    return log.append_as_leader(build_batch(records, **options), 0, now_ms=at_ms, origin=origin)


def end_transaction(log: PartitionLog, producer_id: int, *, commits: bool, epoch: int = 0):
    marker = NewRecord(struct.pack(">hh", 0, int(commits)), struct.pack(">hi", 0, 1), (), NOW_MS)
    data = build_batch(
        [marker],
        producer_id=producer_id,
        producer_epoch=epoch,
        is_transactional=True,
        is_control=True,
    )
    return log.append_as_leader(data, 0, now_ms=NOW_MS, origin="coordinator")


def commit_all(log: PartitionLog) -> None:
    log.update_high_watermark(log.log_end_offset)


def make_round(
    world: World, log: PartitionLog, *, now_ms: int = NOW_MS, memory_bytes: int = 1 << 20
):
    return Round(
        world.fs,
        plan_round(assess(log, now_ms), now_ms),
        memory_bytes=memory_bytes,
        load_factor=0.9,
        io_buffer_bytes=8192,
    )


def clean(world: World, log: PartitionLog, *, now_ms: int = NOW_MS, **options) -> Round:
    """One whole round; the active segment is rolled before, so that everything is seen."""
    commit_all(log)
    log.roll()
    run = make_round(world, log, now_ms=now_ms, **options)
    for _ in run.map_keys():
        pass
    for group in run.groups:
        for _ in run.rewrite(group):
            pass
        assert log.replace_segments(run.result, truncations=run.plan.truncations)
    log.cleaned_until = run.cleaned_until
    return run


def batches(log: PartitionLog) -> list[tuple[BatchHeader, list[Record]]]:
    """Everything in the log, read in small fetches, every CRC checked."""
    found = []
    at = log.log_start_offset
    while True:
        data = log.read(at, 700, log.log_end_offset).read()
        if not data:
            return found
        for position, header in iter_batches(data):
            assert validate_crc(data, position, header)
            assert header.next_offset > at
            at = header.next_offset
            found.append((header, list(iter_records(data, position))))


def records(log: PartitionLog) -> list[Record]:
    return [r for header, inside in batches(log) for r in inside if not header.is_control]


def contents(log: PartitionLog) -> list[tuple[int, str, str | None]]:
    return [
        (r.offset, r.key.decode(), None if r.value is None else r.value.decode())
        for r in records(log)
    ]


class StopError(BaseException):
    """The process dies here; nothing catches it."""


@dataclasses.dataclass
class CrashingFileSystem(MemoryFileSystem):
    """Dies before the n-th change of a name."""

    def __init__(self) -> None:
        super().__init__()
        self.changes_left = 1 << 30

    def _change(self) -> None:
        if self.changes_left == 0:
            raise StopError
        self.changes_left -= 1

    def rename(self, old: str, new: str) -> None:
        self._change()
        super().rename(old, new)

    def remove(self, path: str) -> None:
        self._change()
        super().remove(path)

    def open(self, path: str, *, create: bool = False):
        if create and not self.exists(path):
            self._change()
        return super().open(path, create=create)


CODECS = list(Compression)
