"""Index lookups by `pread` and by `mmap`: `python tests/bench/bench_index.py [directory]`.

What decided how `.index` files are read: the latency of a lookup in one large index, the same when
every lookup meets another partition, and the resident memory that the indexes of 5,000 idle
partitions cost.
"""

from __future__ import annotations

import itertools
import mmap
import os
import random
import shutil
import struct
import sys
import tempfile
import time
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from dataplane.log.index.offset_index import ENTRY, OffsetIndex
from dataplane.runtime.os_filesystem import OsFileSystem
from tests.bench.dataplane.proc import resident_kib

PARTITIONS = 5000
LARGE_ENTRIES = 262_144  # what 1 GiB of log has at one entry every 4 KiB
SMALL_ENTRIES = 256
PREALLOCATED_BYTES = 10 * 1024 * 1024
LOOKUPS = 20_000
_unpack: Callable[[mmap.mmap, int], tuple[int, int]] = struct.Struct(">ii").unpack_from


class MappedIndex:
    """As Kafka has it: preallocated, mapped whole, binary search in the mapping."""

    def __init__(self, path: str, entries: int) -> None:
        descriptor = os.open(path, os.O_RDWR)
        try:
            os.ftruncate(descriptor, PREALLOCATED_BYTES)
            self.map = mmap.mmap(descriptor, PREALLOCATED_BYTES)
        finally:
            os.close(descriptor)
        self.entries = entries

    def floor(self, relative: int) -> tuple[int, int]:
        taken = self.map
        slot = bisect_right(range(self.entries), relative, key=lambda n: _unpack(taken, n * 8)[0])
        return _unpack(taken, (slot - 1) * 8) if slot else (0, 0)


def write(path: str, entries: int) -> None:
    Path(path).write_bytes(b"".join(ENTRY.pack(n * 10, n * 4096) for n in range(1, entries + 1)))


def lookup_us(look: Callable[[int], object], wanted: list[int]) -> float:
    best = float("inf")
    for _ in range(3):
        began_s = time.perf_counter()
        for each in wanted:
            look(each)
        best = min(best, (time.perf_counter() - began_s) / len(wanted))
    return best * 1e6


def in_turn(looks: list[Callable[[int], object]]) -> Callable[[int], object]:
    """One after the other, so that none finds its pages in the processor's caches."""
    turn = itertools.cycle(looks)

    def look(wanted: int) -> object:
        return next(turn)(wanted)

    return look


def measure_one(root: str) -> None:
    path = f"{root}/one.index"
    write(path, LARGE_ENTRIES)
    wanted = [random.Random(1).randrange(LARGE_ENTRIES * 10) for _ in range(LOOKUPS)]
    read = OffsetIndex(OsFileSystem(), path, 0)
    by_read = lookup_us(read.floor, wanted)
    mapped = MappedIndex(path, LARGE_ENTRIES)
    by_map = lookup_us(mapped.floor, wanted)
    print(f"one index of {LARGE_ENTRIES} entries: pread {by_read:.1f} us, mmap {by_map:.1f} us")


def measure_many(root: str) -> None:
    paths = [f"{root}/{number}.index" for number in range(PARTITIONS)]
    for path in paths:
        write(path, SMALL_ENTRIES)
    rng = random.Random(2)
    wanted = [rng.randrange(SMALL_ENTRIES * 10) for _ in range(LOOKUPS)]
    start_kib = resident_kib(os.getpid())
    reads = [OffsetIndex(OsFileSystem(), path, 0, SMALL_ENTRIES * 8) for path in paths]
    idle_read_kib = resident_kib(os.getpid()) - start_kib
    by_read = lookup_us(in_turn([index.floor for index in reads]), wanted)
    for index in reads:
        index.release()
    start_kib = resident_kib(os.getpid())
    maps = [MappedIndex(path, SMALL_ENTRIES) for path in paths]
    idle_map_kib = resident_kib(os.getpid()) - start_kib
    by_map = lookup_us(in_turn([index.floor for index in maps]), wanted)
    used_map_kib = resident_kib(os.getpid()) - start_kib
    print(
        f"{PARTITIONS} indexes of {SMALL_ENTRIES} entries, each lookup in the next: "
        f"pread {by_read:.1f} us, mmap {by_map:.1f} us"
    )
    print(
        f"resident a partition and index: pread {idle_read_kib / PARTITIONS:.2f} KiB; "
        f"mmap {idle_map_kib / PARTITIONS:.2f} KiB idle, {used_map_kib / PARTITIONS:.2f} KiB once "
        f"looked into, {PREALLOCATED_BYTES >> 20} MiB of addresses"
    )


def main() -> None:
    root = tempfile.mkdtemp(
        dir=sys.argv[1] if len(sys.argv) > 1 else None, prefix="penstock-bench-"
    )
    try:
        measure_one(root)
        measure_many(root)
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
