"""`make fuzz MINUTES=n`: every target for its share of the time, in two processes, and a table."""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.fuzz import guided
from tests.fuzz.targets import all_targets
from tests.fuzz.watch import name_of

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "fuzz"
PROCESSES = 2
START_S_MAX = 60.0
"""What a process may take beyond its share: to start, to take the seeds, to end."""


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    engine: str
    seconds_each: float
    seed: int
    directory: Path

    def one(self, name: str) -> dict[str, Any]:
        """The report on one target; a process that died is a finding as well."""
        report = self.directory / f"{name_of(name.encode())}.json"
        words = name.strip("()").replace(" ", "-")
        command = [
            *(sys.executable, "-m", "tests.fuzz.worker", "--target", name),
            *("--engine", self.engine, "--seed", str(self.seed)),
            *("--seconds", str(self.seconds_each), "--report", str(report)),
            *("--corpus", str(BUILD / "corpus" / words)),
        ]
        began = time.monotonic()
        limit_s = self.seconds_each + START_S_MAX
        try:
            done = subprocess.run(
                command, cwd=ROOT, capture_output=True, timeout=limit_s, check=False
            )
            how, said = f"exit status {done.returncode}", done.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired as error:
            how, said = "did not end", (error.stderr or b"").decode(errors="replace")
        took_s = time.monotonic() - began
        if report.is_file():
            return {**json.loads(report.read_text()), "took_s": took_s}
        found = {"kind": "died", "message": f"{how}: {said[-800:]}", "input_hex": "", "count": 1}
        empty = {"inputs": 0, "understood": 0, "cpu_s_max": 0.0, "allocated_bytes_max": 0}
        return {"name": name, **empty, "found": [found], "took_s": took_s}


def show(report: dict[str, Any]) -> str:
    inputs = report["inputs"]
    share = 100 * report["understood"] / inputs if inputs else 0.0
    return (
        f"{report['name']:32} {inputs:>11,} {inputs / report['took_s']:>9,.0f} {share:>6.1f} %"
        f" {report['cpu_s_max'] * 1000:>8.1f} {report['allocated_bytes_max'] / 1024:>9,.0f}"
        f" {len(report['found']):>8}"
    )


def main() -> int:
    targets = all_targets()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--engine", choices=("guided", "mutation"))
    parser.add_argument("--only", default="", help="names of targets, with commas between")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    names = [name for name in options.only.split(",") if name] or list(targets)
    if unknown := set(names) - set(targets):
        parser.error(
            f"no such target: {', '.join(sorted(unknown))}; there are: {', '.join(targets)}"
        )
    engine = options.engine or ("guided" if guided.is_available() else "mutation")
    seconds_each = options.minutes * 60 * min(PROCESSES, len(names)) / len(names)
    print(f"engine {engine}, seed {options.seed}, {seconds_each:.1f} s a target")
    print(
        f"{'target':32} {'inputs':>11} {'a second':>9} {'understood':>8} {'ms max':>6}"
        f" {'KiB max':>9} {'findings':>8}"
    )
    began = time.monotonic()
    reports = []
    with (
        tempfile.TemporaryDirectory(prefix="fuzz-") as directory,
        concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool,
    ):
        run = Run(engine, seconds_each, options.seed, Path(directory))
        for report in pool.map(run.one, names):
            reports.append(report)
            print(show(report), flush=True)
    return _conclude(reports, time.monotonic() - began)


def _conclude(reports: list[dict[str, Any]], took_s: float) -> int:
    inputs = sum(report["inputs"] for report in reports)
    findings = [(report["name"], each) for report in reports for each in report["found"]]
    print(
        f"{inputs:,} inputs in {took_s:,.0f} s, {inputs / took_s:,.0f} a second,"
        f" {len(findings)} findings"
    )
    directory = BUILD / "findings"
    for name, each in findings:
        print(f"\n{name}: {each['message']} ({each['count']} times)")
        if each["input_hex"]:
            data = bytes.fromhex(each["input_hex"])
            directory.mkdir(parents=True, exist_ok=True)
            path = directory / name_of(data)
            path.write_bytes(data)
            print(f"  input {os.path.relpath(path, ROOT)}: {each['input_hex'][:200]}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
