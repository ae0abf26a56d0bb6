"""`make test-hosts`: hosts of their own on one machine, under faults, every record accounted for."""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import sys

from tests.hosts.sandbox import run_apart, why_not

BUILD = pathlib.Path(__file__).parents[2] / "build"
PREFIX = "hosts-"


def remove_leftovers() -> None:
    """Folders of runs that were killed: their names hold the pid."""
    for folder in BUILD.glob(f"{PREFIX}*"):
        pid = folder.name.removeprefix(PREFIX)
        if pid.isdigit() and not pathlib.Path(f"/proc/{pid}").exists():
            shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hosts", description=__doc__)
    parser.add_argument("only", nargs="*", help="parts of scenarios' names; none: all")
    parser.add_argument("--keep", action="store_true", help="leave logs and data behind")
    options = parser.parse_args()
    if reason := why_not():
        sys.stderr.write(
            f"make test-hosts needs network namespaces, and may not make them: {reason}\n"
        )
        return 1
    remove_leftovers()
    directory = BUILD / f"{PREFIX}{os.getpid()}"
    directory.mkdir(parents=True)
    try:
        return run_apart(
            ["tests.hosts.run", str(directory), str(BUILD / "hosts.md"), *options.only]
        )
    finally:
        if options.keep:
            print(f"logs and data are in {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
