"""Programs of the tests that no test imports still find all they name."""

from __future__ import annotations

import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).parents[1]
ROOT = TESTS.parent
PROGRAMS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (TESTS / "bench").rglob("*.py")
    if not path.name.startswith("test_")
)
# In a process of their own: some choose the brokers or the limits of the process they run in.
LOAD = """
import importlib, sys, traceback
failed = False
for module in sys.argv[1:]:
    try:
        importlib.import_module(module)
    except Exception:
        failed = True
        print(module)
        traceback.print_exc(file=sys.stdout)
sys.exit(failed)
"""


def load(*modules: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-c", LOAD, *modules]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_program_loads() -> None:
    assert PROGRAMS
    done = load(*PROGRAMS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_that_does_not_is_named() -> None:
    done = load("tests.bench.nowhere")
    assert done.returncode == 1
    assert done.stdout.startswith("tests.bench.nowhere\n")
