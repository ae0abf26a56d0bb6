"""What opening logs costs: `python tests/bench/bench_log_start.py [directory]`, run by hand.

Recovery of a killed broker by one, two and four threads, a start from the recovery point, a clean
start with thousands of idle partitions, and what these hold of memory and descriptors.
"""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from dataplane.log.config import LogConfig
from dataplane.log.manager.log_manager import LogManager, LogManagerSettings
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.background import InlineBackground
from dataplane.ports.fakes.entropy import FakeEntropy
from dataplane.runtime.os_clock import OsClock
from dataplane.runtime.os_filesystem import OsFileSystem
from dataplane.runtime.thread_background import ThreadBackground
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.bench.dataplane.proc import resident_kib

MIB = 1 << 20
ROUNDS = 3
CONFIG = LogConfig(segment_bytes=256 * MIB)


def manager(root: str, *, threads: int = 1) -> tuple[LogManager, Callable[[], None]]:
    loop = asyncio.new_event_loop()
    background = ThreadBackground(loop)
    made = LogManager(
        OsFileSystem(),
        OsClock(),
        FakeEntropy(),
        background,
        log_dirs=[root],
        broker_id=1,
        config_for=lambda _topic: CONFIG,
        settings=LogManagerSettings(recovery_threads=threads),
    )

    def close() -> None:
        background.close()
        loop.close()

    return made, close


def batch_of(size: int) -> memoryview:
    value = os.urandom(size - 61 - 12)
    return memoryview(build_batch([NewRecord(None, value, (), 1_700_000_000_000)]))


def fill(root: str, partitions: int, mib_each: int, batch_bytes: int) -> None:
    """Logs as a killed broker leaves them: nothing is synced, no checkpoint is there."""
    made = LogManager(
        OsFileSystem(),
        OsClock(),
        FakeEntropy(),
        InlineBackground(hold=True),
        log_dirs=[root],
        broker_id=1,
        config_for=lambda _topic: CONFIG,
    )
    made.load()
    data = batch_of(batch_bytes)
    for number in range(partitions):
        log = made.get_or_create(TopicPartition("filled", number), uuid.uuid4(), CONFIG)
        for _ in range(mib_each * MIB // batch_bytes):
            log.append_as_leader(data, 0, now_ms=1)
        log.release()
    Path(f"{root}/.lock").unlink()


def load_s(root: str, threads: int) -> tuple[float, float, int]:
    """Wall time, CPU time and bytes scanned of one start."""
    made, close = manager(root, threads=threads)
    began_s, cpu_s = time.perf_counter(), time.process_time()
    made.load()
    took = time.perf_counter() - began_s, time.process_time() - cpu_s, made.progress.scanned_bytes
    for log in made.all().values():
        log.release()
    close()
    Path(f"{root}/.lock").unlink()
    return took


def measure_recovery(root: str, batch_bytes: int) -> None:
    """8 partitions of 192 MiB, threads in turn, so that noise meets all of them."""
    fill(root, 8, 192, batch_bytes)
    walls: dict[int, list[float]] = {1: [], 2: [], 4: []}
    cpus: dict[int, list[float]] = {1: [], 2: [], 4: []}
    for _ in range(ROUNDS):
        for threads, so_far in walls.items():
            wall_s, cpu_s, scanned = load_s(root, threads)
            so_far.append(wall_s)
            cpus[threads].append(cpu_s)
    for threads, wall_s in walls.items():
        median_s = statistics.median(wall_s)
        print(
            f"recovery, batches of {batch_bytes:>7} B, {threads} threads: {median_s:6.2f} s "
            f"({min(wall_s):.2f}-{max(wall_s):.2f}; CPU {statistics.median(cpus[threads]):.2f} s) "
            f"{scanned / median_s / MIB:6.0f} MiB/s"
        )


def measure_recovery_point(root: str) -> None:
    """4 partitions of 640 MiB with everything but the active segment behind the recovery point."""
    fill(root, 4, 640, 65_536)
    made, close = manager(root)
    made.load()
    for log in made.all().values():
        log.flush()
    bases = {tp: log.segment_base_offsets[-1] for tp, log in made.all().items()}
    lines = [f"{tp.topic} {tp.partition} {base}" for tp, base in sorted(bases.items())]
    text = "\n".join(["0", str(len(lines)), *lines, ""])
    total = sum(log.size_bytes for log in made.all().values())
    for log in made.all().values():
        log.release()
    close()
    Path(f"{root}/.lock").unlink()
    Path(f"{root}/recovery-point-offset-checkpoint").write_text(text)
    for threads in (1, 2):
        wall_s, _cpu_s, scanned = load_s(root, threads)
        print(
            f"killed, {total / 1e9:.1f} GB in 4 partitions, {threads} threads: {wall_s:6.2f} s, "
            f"{scanned / MIB:.0f} MiB of them beyond the recovery point and scanned"
        )


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def measure_idle(root: str, partitions: int) -> None:
    made, close = manager(root)
    made.load()
    for number in range(partitions):
        tp = TopicPartition(f"idle-{number // 10}", number % 10)
        made.get_or_create(tp, uuid.uuid4(), CONFIG).assign_epoch_start(0, 0)
    made.shutdown()
    close()
    del made
    gc.collect()
    gc.disable()
    before_kib, before = resident_kib(os.getpid()), descriptors()
    made, close = manager(root)
    began_s, cpu_s = time.perf_counter(), time.process_time()
    made.load()
    wall_s, cpu_s = time.perf_counter() - began_s, time.process_time() - cpu_s
    gc.enable()
    kib = (resident_kib(os.getpid()) - before_kib) / partitions
    opened = descriptors() - before
    began_s = time.perf_counter()
    made.shutdown()
    stop_s = time.perf_counter() - began_s
    close()
    print(
        f"clean start, {partitions} idle partitions: {wall_s:.2f} s (CPU {cpu_s:.2f} s), "
        f"{kib:.1f} KiB and {opened / partitions:.2f} descriptors each; stop {stop_s:.2f} s"
    )


def main() -> None:
    where = sys.argv[1] if len(sys.argv) > 1 else None
    for measure in (
        lambda root: measure_idle(root, 2000),
        lambda root: measure_idle(root, 5000),
        lambda root: measure_recovery(root, 65_536),
        lambda root: measure_recovery(root, 4096),
        measure_recovery_point,
    ):
        root = tempfile.mkdtemp(dir=where, prefix="penstock-bench-")
        try:
            measure(root)
        finally:
            shutil.rmtree(root)


if __name__ == "__main__":
    main()
