"""What an append and a read cost: `python tests/bench/bench_log.py [directory]`, run by hand."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from dataplane.log.config import LogConfig
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
        OsFileSystem(),
        OsClock(),
        InlineBackground(hold=True),
        topic_partition=TopicPartition(name, 0),
        directory=directory,
        config=LogConfig(**settings),
    )


def batch_of(size: int, *, producer_id: int = -1) -> bytearray:
    value = b"x" * (size - 61 - 12)
    record = NewRecord(None, value, (), 1_700_000_000_000)
    sequence = 0 if producer_id >= 0 else -1
    return build_batch(
        [record], producer_id=producer_id, producer_epoch=min(0, sequence), base_sequence=sequence
    )


def per_call_us(count: int, work) -> float:  # noqa: ANN001  # any callable
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count):
            work()
        best = min(best, (time.perf_counter() - start) / count)
    return best * 1e6


def once_us(work) -> float:  # noqa: ANN001  # any callable
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e6


def main() -> None:
    root = tempfile.mkdtemp(dir=sys.argv[1] if len(sys.argv) > 1 else None)
    try:
        for size, count in ((200, 20_000), (16_384, 4_000), (65_536, 1_000), (1_048_000, 60)):
            log = open_log(root, f"append{size}")
            batch = memoryview(batch_of(size))
            cost = per_call_us(count, lambda: log.append_as_leader(batch, 0, now_ms=1))
            print(f"append as leader   {size:>8} B: {cost:8.2f} us  {size / cost:8.0f} MB/s")
            follower = open_log(root, f"follow{size}")
            chunk = log.read(0, 1 << 20, log.log_end_offset).read()
            step = follower.append_as_follower
            cost = once_us(lambda: step(memoryview(chunk)))
            print(f"append as follower {len(chunk):>8} B: {cost:8.2f} us  (one fetch)")
            end = log.log_end_offset
            tail = per_call_us(20_000, lambda: log.read(end - 1, 1 << 20, end))
            print(f"locate at the tail {size:>8} B: {tail:8.2f} us")
            at = [0]

            def next_chunk() -> None:
                piece = log.read(at[0], 65_536, end)
                buffer = bytearray(max(piece.size, 1))
                piece.read_into(buffer)
                at[0] = (at[0] + max(1, piece.size // len(batch))) % (end - 400)

            cost = per_call_us(2_000, next_chunk) if end > 1000 else 0.0
            print(f"read 64 KiB behind {size:>8} B: {cost:8.2f} us")
            log.release()
            follower.release()
        log = open_log(root, "idempotent")
        batches = []
        for number in range(100_000):
            record = NewRecord(None, b"x" * 120, (), 1_700_000_000_000)
            batches.append(
                build_batch([record], producer_id=7, producer_epoch=0, base_sequence=number)
            )
        feed = iter(batches)
        cost = per_call_us(20_000, lambda: log.append_as_leader(next(feed), 0, now_ms=1))
        print(f"append idempotent       200 B: {cost:8.2f} us")
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
