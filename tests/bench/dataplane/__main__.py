"""`python -m tests.bench.dataplane [--only figure,…] [--rounds N]`: measure, print, save."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from typing import TYPE_CHECKING

from tests.bench.dataplane.bench import Bench, Options
from tests.bench.dataplane.figures import FIGURES
from tests.bench.dataplane.load import ROOT, BenchError
from tests.bench.dataplane.table import render, to_json

if TYPE_CHECKING:
    from tests.bench.dataplane.results import Row

TARGET = ROOT / "build" / "bench"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-dataplane", description=__doc__)
    parser.add_argument(
        "--only", default=",".join(FIGURES), help=f"figures, of: {', '.join(FIGURES)}"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of load a sample")
    parser.add_argument(
        "--warm-up", type=float, default=4.0, help="seconds of load before a figure"
    )
    parser.add_argument(
        "--restart-gb", type=float, default=2.0, help="log that the SIGKILLed broker has (full: 10)"
    )
    options = parser.parse_args(arguments)
    options.only = [name for name in options.only.split(",") if name]
    unknown = [name for name in options.only if name not in FIGURES]
    if unknown or not options.only or options.rounds < 1:
        parser.error(f"unknown figures: {', '.join(unknown)}" if unknown else "nothing to measure")
    return options


def main() -> int:
    options = parse()
    bench = Bench(Options(options.rounds, options.seconds, options.warm_up, options.restart_gb))
    failed = ""
    took_s: dict[str, int] = {}
    begun, load_before = time.monotonic(), os.getloadavg()
    try:
        for name in options.only:
            sys.stderr.write(f"{name}\n")
            begun_figure = time.monotonic()
            FIGURES[name](bench)
            took_s[name] = round(time.monotonic() - begun_figure)
    except BenchError as error:
        failed = f"{name}: {error}"
    finally:
        bench.close()
    circumstances = {
        "machine": f"{os.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}",
        "load average": {"before": load_before, "after": os.getloadavg()},
        "seconds": round(time.monotonic() - begun),
        "seconds of each figure": took_s,
        "options": vars(options),
    }
    _report(bench.rows, circumstances)
    if failed:
        sys.stderr.write(f"\nFAILED {failed}\n")
    return 1 if failed else 0


def _report(rows: list[Row], circumstances: dict[str, object]) -> None:
    print(render(rows))
    print()
    for key, value in circumstances.items():
        print(f"{key}: {value}")
    TARGET.mkdir(parents=True, exist_ok=True)
    file = TARGET / time.strftime("dataplane-%Y%m%d-%H%M%S.json")
    file.write_text(json.dumps(to_json(rows, circumstances), indent=1))
    print(f"saved {file.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main())
