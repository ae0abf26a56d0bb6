"""The log of a program that keeps writing to a truncated file stays small while it writes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dataplane.runtime.log_file import LogFile
from deploy.local.child import wait_until

BYTES_MAX = 10_000
OLD_FILES = 2
# One numbered line for each line that it is given: the test decides when it writes.
ECHO = """
import sys
for line in sys.stdin:
    print(line.strip().rjust(99), flush=True)
"""


@pytest.fixture
def log(tmp_path: Path) -> LogFile:
    return LogFile(tmp_path / "part.log", bytes_max=BYTES_MAX, old_files=OLD_FILES)


@pytest.fixture
def writer(log: LogFile) -> Iterator[subprocess.Popen[str]]:
    """A process that appends to the log as a part does."""
    with log.path.open("ab") as out:
        process = subprocess.Popen(
            (sys.executable, "-c", ECHO), stdin=subprocess.PIPE, stdout=out, text=True
        )
    yield process
    assert process.stdin
    process.stdin.close()
    process.wait(20)


def numbers_in(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


def write(process: subprocess.Popen[str], log: LogFile, numbers: range) -> None:
    assert process.stdin
    for number in numbers:
        process.stdin.write(f"{number}\n")
    process.stdin.flush()
    assert wait_until(lambda: numbers_in(log.path)[-1:] == [numbers[-1]], child=None, timeout_s=20)


def test_a_small_log_is_left_alone(log: LogFile) -> None:
    assert not log.copy()
    log.path.write_bytes(b"x" * BYTES_MAX)
    assert not log.copy()
    assert log.path.stat().st_size == BYTES_MAX


def test_a_running_writer_goes_on_in_the_emptied_file(
    log: LogFile, writer: subprocess.Popen[str]
) -> None:
    write(writer, log, range(101))
    assert log.copy()
    assert log.path.stat().st_size == 0
    write(writer, log, range(101, 103))
    # No hole of zeros where the writer stood before: it appends.
    assert numbers_in(log.path) == [101, 102]
    assert numbers_in(log.old(1)) == list(range(1, 101))


def test_old_files_are_bounded_in_number_and_size(
    log: LogFile, writer: subprocess.Popen[str], tmp_path: Path
) -> None:
    for first in range(0, 1_500, 300):
        write(writer, log, range(first, first + 300))
        assert log.copy()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "part.log",
        *(f"part.log.{number}" for number in range(1, OLD_FILES + 1)),
    ]
    assert all(path.stat().st_size <= BYTES_MAX for path in tmp_path.iterdir())
    assert numbers_in(log.old(1)) == list(range(1_400, 1_500))
    assert numbers_in(log.old(2)) == list(range(1_100, 1_200))


def test_the_tail_reaches_into_the_file_before(log: LogFile) -> None:
    log.path.write_text("".join(f"line {number}\n" for number in range(2_000)))
    log.copy()
    with log.path.open("a") as more:
        more.write("after\n")
    assert log.tail(2) == ["line 1999", "after"]
