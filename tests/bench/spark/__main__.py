"""`make bench-spark`: CPU and wall seconds of analytics runs, Spark's start-up included.

Synthetic telemetry, made by the benchmark. What came before the range is in silver already, as it
is for each run but the first. Each figure is a process of its own, as each run is.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.spark.figures import FIGURES
from tests.bench.spark.table import HEAD


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.spark", description=__doc__)
    parser.add_argument("--only", default=",".join(FIGURES), help="figures, with commas between")
    parser.add_argument("--lake", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--prepare", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    unknown = set(given.only.split(",")) - FIGURES.keys()
    if unknown:
        parser.error(f"there is no figure {', '.join(sorted(unknown))}")
    if given.lake:
        figure = FIGURES[given.only]
        if given.prepare:
            figure.prepare(given.lake)
        else:
            figure.measure(given.lake, figure.title, figure.goal)
        return
    print(HEAD)
    for name in given.only.split(","):
        with tempfile.TemporaryDirectory(prefix="bench-spark-") as folder:
            command = [sys.executable, "-m", "tests.bench.spark", "--only", name, "--lake", folder]
            # What Spark warns of goes to a file: the table is what is read.
            with (Path(folder) / "stderr").open("w") as said:
                for step in ([*command, "--prepare"], command):
                    code = subprocess.run(step, stderr=said, check=False).returncode
                    if code:
                        sys.exit(f"{name}: {(Path(folder) / 'stderr').read_text()[-2000:]}")


if __name__ == "__main__":
    main()
