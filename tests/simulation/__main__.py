"""`python -m tests.simulation --seeds N --seed S`: many seeds over all cores, or one with its trace.

A failing seed prints one line that runs it again, and leaves a readable trace.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from pathlib import Path

from tests.simulation.seeds import run_seed, run_traced

HASH_SEED = "0"
TRACE_DIR = Path("build/simulation")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--trace", action="store_true", help="write the trace of --seed alone")
    options = parser.parse_args(arguments)
    if os.environ.get("PYTHONHASHSEED") != HASH_SEED:
        # The order of sets is part of what a seed decides.
        os.environ["PYTHONHASHSEED"] = HASH_SEED
        os.execv(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]])
    if options.trace:
        result = run_seed(options.seed, detail=True)
        print(f"{write_trace(result)}: {result.violations or 'no violation'}")
        return 1 if result.violations else 0
    return run_many(options.seed, options.seeds, options.processes)


def write_trace(result) -> Path:
    TRACE_DIR.mkdir(parents=True, exist_ok=True)
    path = TRACE_DIR / f"seed-{result.seed}.txt"
    path.write_text("\n".join(result.trace) + "\n")
    return path


def run_many(first: int, count: int, processes: int) -> int:
    began_s = time.monotonic()
    faults: dict[str, tuple[int, int]] = {}
    counts: dict[str, int] = {}
    failed: list[int] = []
    virtual_s = 0.0
    done = 0
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=200) as pool:
        for result in pool.imap_unordered(run_traced, range(first, first + count)):
            done += 1
            virtual_s += result.virtual_s
            for kind, times in result.faults.items():
                seeds, total = faults.get(kind, (0, 0))
                faults[kind] = (seeds + 1, total + times)
            for what, times in result.counts.items():
                counts[what] = counts.get(what, 0) + times
            if result.violations:
                failed.append(result.seed)
                path = write_trace(result)
                print(f"FAILED {result.violations[0][:300]}")
                print(f"  again: make simulate SEEDS=1 SEED={result.seed}   trace: {path}")
            if done % 50 == 0 or result.violations:
                rate = done / (time.monotonic() - began_s)
                print(
                    f"{done}/{count} seeds, {rate:.1f} a second, {len(failed)} failed", flush=True
                )
    real_s = time.monotonic() - began_s
    print(f"\n{count} seeds from {first}: {virtual_s:.0f} s of virtual time in {real_s:.0f} s")
    print(f"{'fault':22}{'seeds':>8}{'times':>8}")
    for kind, (seeds, total) in sorted(faults.items()):
        print(f"{kind:22}{seeds:8}{total:8}")
    print(", ".join(f"{what} {times}" for what, times in sorted(counts.items())))
    print(f"violations in {len(failed)} seeds: {sorted(failed)}" if failed else "no violation")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
