"""`python -m spark_analytics jars --dir DIR` and `python -m spark_analytics run --config FILE`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from spark_analytics.contracts.errors import ContractError
from spark_analytics.contracts.runs import RunConfig

if TYPE_CHECKING:
    from collections.abc import Sequence

NICENESS = 5


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status: 0 done, 1 failed (one line on stderr says why), 2 wrong usage."""
    parser = argparse.ArgumentParser(prog="spark_analytics", description="Penstock's analytics.")
    commands = parser.add_subparsers(dest="command", required=True)
    jars = commands.add_parser(
        "jars", help="fetch Spark's Kafka connector and Iceberg once, checked"
    )
    jars.add_argument("--dir", type=Path, required=True, help="where the jars go")
    run = commands.add_parser("run", help="one run: telemetry to gold files")
    run.add_argument("--config", type=Path, required=True, help="JSON file of the run")
    arguments = parser.parse_args(argv)
    if arguments.command == "jars":
        return _jars(arguments.dir)
    return _run(arguments.config)


def _jars(directory: Path) -> int:
    # Only this command and `run` pay for what they import.
    from spark_analytics.io.jars import JarsError, fetch

    try:
        fetched = fetch(directory.absolute())
    except (JarsError, OSError) as error:
        print(f"spark_analytics jars: {error}", file=sys.stderr)
        return 1
    print(f"{directory}: {'fetched and checked' if fetched else 'already there, checked'}")
    return 0


def _run(config_path: Path) -> int:
    try:
        config = RunConfig.from_json(config_path.read_text())
    except (OSError, ContractError) as error:
        print(f"spark_analytics run: {error}", file=sys.stderr)
        return 1
    from spark_analytics.jobs.run import run

    # Brokers on this box answer clients; a report may wait a little.
    os.nice(NICENESS)
    result = run(config)
    if not result.ok:
        print(f"spark_analytics run: {result.error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
