"""One process: one target for some seconds. Started by `python -m tests.fuzz`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--target", required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--engine", choices=("guided", "mutation"), required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--report", type=Path, required=True)
    options = parser.parse_args()
    if options.engine == "guided":
        from tests.fuzz import guided

        guided.fuzz(
            options.target,
            seconds=options.seconds,
            seed=options.seed,
            corpus=options.corpus,
            report=options.report,
        )
    from tests.fuzz import mutation
    from tests.fuzz.targets import all_targets
    from tests.fuzz.watch import Watch

    watch = Watch(all_targets()[options.target])
    with watch.bounded():
        mutation.fuzz(watch, seed=options.seed, seconds=options.seconds)
    options.report.write_text(json.dumps(watch.report()))


if __name__ == "__main__":
    main()
