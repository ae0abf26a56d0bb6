"""What an append and a read cost: `python tests/bench/bench_log.py [directory]`, run by hand."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from dataplane.log.config import LogConfig
from dataplane.log.opening import LogEnvironment
from dataplane.log.partition_log import PartitionLog
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.background import InlineBackground
from dataplane.runtime.os_clock import OsClock
from dataplane.runtime.os_filesystem import OsFileSystem
from dataplane.wire.record_batch import NewRecord, build_batch


def open_log(root: str, name: str, **settings: int) -> PartitionLog:
    directory = f"{root}/{name}-0"
    Path(directory).mkdir()
    return PartitionLog(
        LogEnvironment(OsFileSystem(), OsClock(), InlineBackground(hold=True)),
        TopicPartition(name, 0),
        directory,
        LogConfig(**settings),
    )


def batch_of(size: int, *, producer_id: int = -1) -> bytearray:
    value = b"x" * (size - 61 - 12)
    record = NewRecord(None, value, (), 1_700_000_000_000)
    sequence = 0 if producer_id >= 0 else -1
    return build_batch(
        [record], producer_id=producer_id, producer_epoch=min(0, sequence), base_sequence=sequence
    )


def per_call_us(count: int, work) -> float:  # any callable
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            work()
        best = min(best, (time.perf_counter() - start) / count)
    return best * 1e6


def once_us(work) -> float:  # any callable
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e6


def measure(root: str, size: int, count: int) -> None:
    """One batch size: leader append, follower append, reads at the tail and behind."""
    log, follower = open_log(root, f"append{size}"), open_log(root, f"follow{size}")
    data = memoryview(batch_of(size))
    cost = per_call_us(count, lambda: log.append_as_leader(data, 0, now_ms=1))
    print(f"append as leader   {size:>8} B: {cost:9.2f} us {size / cost:7.0f} MB/s")
    chunk = log.read(0, 1 << 20, log.log_end_offset).read()
    cost = once_us(lambda: follower.append_as_follower(chunk))
    print(f"append as follower {size:>8} B: {cost:9.2f} us {len(chunk) / cost:7.0f} MB/s (1 MiB)")
    end = log.log_end_offset
    cost = per_call_us(20_000, lambda: log.read(end - 1, 1 << 20, end))
    print(f"locate at the tail {size:>8} B: {cost:9.2f} us")
    print(
        f"read 1 MiB behind  {size:>8} B: {once_us(lambda: read_through(log, size)):9.2f} us a MiB"
    )
    log.release()
    follower.release()


def read_through(log: PartitionLog, size: int) -> None:
    """The first MiB in fetches of 64 KiB, or a batch each if that is larger."""
    buffer = bytearray(max(65_536, size))
    at = 0
    while at * size < 1 << 20:
        piece = log.read(at, 65_536, log.log_end_offset)
        piece.read_into(buffer)
        at += round(piece.size / size)


def measure_idempotent(root: str) -> None:
    record = NewRecord(None, b"x" * 120, (), 1_700_000_000_000)
    batches = iter(
        [
            build_batch([record], producer_id=7, producer_epoch=0, base_sequence=number)
            for number in range(100_000)
        ]
    )
    log = open_log(root, "idempotent")
    cost = per_call_us(20_000, lambda: log.append_as_leader(next(batches), 0, now_ms=1))
    print(f"append idempotent       200 B: {cost:9.2f} us")
    log.release()


def main() -> None:
    root = tempfile.mkdtemp(dir=sys.argv[1] if len(sys.argv) > 1 else None)
    try:
        for size, count in ((200, 20_000), (16_384, 4_000), (65_536, 1_000), (1_048_000, 60)):
            measure(root, size, count)
        measure_idempotent(root)
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
