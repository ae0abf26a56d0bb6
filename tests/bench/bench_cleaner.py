"""What compaction costs: `python tests/bench/bench_cleaner.py [directory] [MiB]`, run by hand.

A log of uncompressed 1 KiB records in batches of 16, half of them superseded; time is the CPU time
of the thread, the throughput counts each byte of the log once though it is read twice.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from dataplane.log.cleaner.plan import assess, plan_round
from dataplane.log.cleaner.round import Round
from dataplane.log.config import LogConfig
from dataplane.log.opening import LogEnvironment
from dataplane.log.partition_log import PartitionLog
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.background import InlineBackground
from dataplane.runtime.os_clock import OsClock
from dataplane.runtime.os_filesystem import OsFileSystem
from dataplane.wire.record_batch import NewRecord, build_batch

RECORD_BYTES = 1024
MIB = 1 << 20


def filled(root: str, mib: int, *, keys: int, sorted_keys: bool) -> PartitionLog:
    directory = f"{root}/compacted-{keys}-0"
    Path(directory).mkdir()
    config = LogConfig(compacts=True, deletes=False, segment_bytes=64 * MIB)
    log = PartitionLog(
        LogEnvironment(OsFileSystem(), OsClock(), InlineBackground()),
        TopicPartition("compacted", 0),
        directory,
        config,
    )
    log.update_config(LogConfig(segment_bytes=64 * MIB))  # filling needs no look into records
    random.seed(4)
    value = b"v" * (RECORD_BYTES - 34)
    count = mib * MIB // RECORD_BYTES
    for start in range(0, count, 16):
        ids = [
            n % keys if sorted_keys else random.randrange(keys) for n in range(start, start + 16)
        ]
        records = [NewRecord(b"key-%016d" % key, value, (), 1_700_000_000_000) for key in ids]
        log.append_as_leader(build_batch(records), 0, now_ms=1_700_000_000_000)
    log.roll()
    log.update_high_watermark(log.log_end_offset)
    log.update_config(config)
    return log


def measure(name: str, log: PartitionLog) -> None:
    now_ms = 1_700_000_000_000
    size = sum(segment.size for segment in log.closed_segments())
    records = log.log_end_offset
    wall, cpu = time.perf_counter(), time.thread_time()
    run = Round(
        OsFileSystem(),
        plan_round(assess(log, now_ms), now_ms),
        memory_bytes=128 * MIB,
        load_factor=0.9,
        io_buffer_bytes=512 * 1024,
    )
    longest = 0.0
    begun = time.perf_counter()
    for steps in (run.map_keys(),):
        for _ in steps:
            longest, begun = max(longest, time.perf_counter() - begun), time.perf_counter()
    mapped = time.thread_time()
    kept = 0
    for group in run.groups:
        begun = time.perf_counter()
        for _ in run.rewrite(group):
            longest, begun = max(longest, time.perf_counter() - begun), time.perf_counter()
        kept += run.result.bytes_after
        log.replace_segments(run.result, truncations=run.plan.truncations)
    done = time.thread_time()
    print(
        f"{name:<28} {size / MIB:6.0f} MiB {records:>8} records -> {kept / MIB:5.0f} MiB: "
        f"{size / (done - cpu) / 1e6:6.0f} MB/s CPU "
        f"(map {size / (mapped - cpu) / 1e6:5.0f}, rewrite {size / (done - mapped) / 1e6:5.0f}), "
        f"{size / (time.perf_counter() - wall) / 1e6:5.0f} MB/s wall, "
        f"map {run.offsets.memory_bytes / MIB:.0f} MiB, longest step {longest * 1e3:.1f} ms"
    )


def peak_kib() -> int:
    """Of this program alone: the kernel's ru_maxrss also knows of whoever started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def main() -> None:
    root = tempfile.mkdtemp(dir=sys.argv[1] if len(sys.argv) > 1 else None)
    mib = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    before = peak_kib()
    try:
        count = mib * MIB // RECORD_BYTES
        for name, keys, is_sorted in (
            ("each key twice, in order", count // 2, True),
            ("each key twice, at random", count // 2, False),
            ("few keys", 1000, False),
            ("every key once", count, True),
        ):
            log = filled(root, mib, keys=keys, sorted_keys=is_sorted)
            measure(name, log)
            shutil.rmtree(log.directory)
            log.release()
        after = peak_kib()
        print(f"peak memory {after / 1024:.0f} MiB, {(after - before) / 1024:.0f} MiB of it here")
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
