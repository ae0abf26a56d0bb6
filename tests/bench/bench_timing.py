"""`make bench-timing`: what many pending timers cost, our timing wheel beside `asyncio.call_later`.

Each case runs in a process of its own, on a clock that the benchmark moves. Delays lie between 1 ms
and 30 s at random, as request timeouts do. Prints a table; saves JSON under build/bench.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Protocol

from dataplane.timing.wheel import TimingWheel

REPOSITORY = Path(__file__).resolve().parents[2]
COUNTS = (10_000, 100_000, 1_000_000)
DELAY_MS_MAX = 30_000
STEP_MS = 10
TURNS = 100_000
REPEATS = 3
COLUMNS = ("add_us", "turn_us", "cancel_us", "expire_us", "bytes_each")
TITLES = ("add us", "add+cancel us", "cancel us", "expire us", "bytes each")


class Handle(Protocol):
    def cancel(self) -> None: ...


class Subject(Protocol):
    """A way to keep timers, on a clock that stands still until it is moved."""

    def add(self, delay_ms: int) -> Handle: ...

    def move_to(self, now_ms: int) -> None: ...


class Fired:
    """What every timer calls."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


class Wheel:
    def __init__(self, fired: Fired) -> None:
        self._wheel = TimingWheel(0)
        self._fired = fired

    def add(self, delay_ms: int) -> Handle:
        return self._wheel.call_later(delay_ms, self._fired)

    def move_to(self, now_ms: int) -> None:
        self._wheel.advance(now_ms)


class Asyncio:
    def __init__(self, fired: Fired) -> None:
        self._loop = asyncio.new_event_loop()
        self._fired = fired
        self._now_s = 0.0
        self._loop.time = lambda: self._now_s  # type: ignore[method-assign]  # the clock is ours

    def add(self, delay_ms: int) -> Handle:
        return self._loop.call_later(delay_ms / 1000, self._fired)

    def move_to(self, now_ms: int) -> None:
        self._now_s = now_ms / 1000
        self._loop.call_soon(self._loop.stop)
        self._loop.run_forever()


SUBJECTS = {"asyncio.call_later": Asyncio, "timing wheel": Wheel}


def measure(subject_name: str, count: int) -> dict[str, float]:
    """Microseconds an operation with `count` timers pending, and resident bytes a timer."""
    rng = random.Random(count)
    delays = [rng.randint(1, DELAY_MS_MAX) for _ in range(count)]
    fired = Fired()
    subject: Subject = SUBJECTS[subject_name](fired)
    gc.collect()
    gc.freeze()
    before_bytes = resident_bytes()
    began_s = time.process_time()
    handles = [subject.add(delay) for delay in delays]
    added_s = time.process_time()
    each_bytes = (resident_bytes() - before_bytes) / count
    for delay in delays[:TURNS]:  # a request that is answered before its timeout
        subject.add(delay).cancel()
    subject.move_to(0)
    turned_s = time.process_time()
    for handle in handles[::2]:
        handle.cancel()
    subject.move_to(0)
    cancelled_s = time.process_time()
    for now_ms in range(0, DELAY_MS_MAX + STEP_MS, STEP_MS):
        subject.move_to(now_ms)
    ended_s = time.process_time()
    left = count - len(handles[::2])
    if fired.count != left:
        raise SystemExit(f"{fired.count} of {left} timers fired")
    return {
        "add_us": (added_s - began_s) / count * 1e6,
        "turn_us": (turned_s - added_s) / min(count, TURNS) * 1e6,
        "cancel_us": (cancelled_s - turned_s) / len(handles[::2]) * 1e6,
        "expire_us": (ended_s - cancelled_s) / left * 1e6,
        "bytes_each": each_bytes,
    }


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def in_a_process(subject_name: str, count: int) -> dict[str, float]:
    """The best of some runs: whatever else the machine does only adds to them."""
    runs = []
    for _ in range(REPEATS):
        command = [sys.executable, "-m", "tests.bench.bench_timing", subject_name, str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
        runs.append(json.loads(done.stdout))
    return {column: min(run[column] for run in runs) for column in COLUMNS}


def main() -> int:
    if len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
        return 0
    figures = []
    print(f"{'pending':>9}  {'':<20}" + "".join(f"{title:>15}" for title in TITLES))
    for count in COUNTS:
        for name in SUBJECTS:
            row = in_a_process(name, count)
            figures.append({"pending": count, "subject": name, **row})
            print(f"{count:>9,}  {name:<20}" + "".join(f"{row[c]:>15.2f}" for c in COLUMNS))
    target = REPOSITORY / "build" / "bench" / "timing.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(figures, indent=1))
    print(f"saved {target.relative_to(REPOSITORY)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
