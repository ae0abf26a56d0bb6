"""A process's own log stays small while it runs, and no line of it is lost."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dataplane.agent.processes import Process, spawn
from dataplane.runtime.log_file import LOG_BYTES_MAX, LOG_FILE, AppendedLog, LogFile, beside_own_log

BYTES_MAX = 10_000
# One line of 100 bytes for each that it is given, some by a bare write to either stream.
WRITER = f"""
import logging, os, sys
from dataplane.runtime.log_file import from_environment
logging.basicConfig(handlers=[from_environment(bytes_max={BYTES_MAX})], format="%(message)s")
for number in range(int(sys.argv[1])):
    text = str(number).rjust(99)
    if number % 7 == 3:
        os.write(1 + number % 2, (text + "\\n").encode())
    else:
        logging.warning(text)
"""


def numbers_in(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


async def written(log_file: Path, lines: int) -> None:
    process: Process = spawn(
        (sys.executable, "-c", WRITER, str(lines)), log_file=log_file, generation=0
    )
    assert await process.wait() == 0


async def test_a_small_log_is_left_alone(tmp_path: Path) -> None:
    log_file = tmp_path / "broker.log"
    await written(log_file, 90)
    assert numbers_in(log_file) == list(range(90))
    assert not LogFile(log_file).old().exists()


@pytest.mark.parametrize("lines", [101, 150, 1_003])
async def test_a_running_process_keeps_its_log_small_and_loses_no_line(
    tmp_path: Path, lines: int
) -> None:
    log_file = tmp_path / "broker.log"
    await written(log_file, lines)
    before, now = numbers_in(LogFile(log_file).old()), numbers_in(log_file)
    assert before + now == list(range(lines))[-len(before + now) :]
    assert len(before) > 100
    for path in (log_file, LogFile(log_file).old()):
        assert path.stat().st_size <= BYTES_MAX + 200
    assert sorted(tmp_path.iterdir()) == sorted([log_file, LogFile(log_file).old()])


async def test_the_tail_reaches_back_into_what_was_set_aside(tmp_path: Path) -> None:
    log_file = tmp_path / "broker.log"
    await written(log_file, 103)
    assert len(numbers_in(log_file)) < 20
    assert [int(line) for line in LogFile(log_file).tail()] == list(range(83, 103))
    assert LogFile(tmp_path / "none.log").tail() == []


async def test_a_full_log_is_set_aside_before_a_process_starts(tmp_path: Path) -> None:
    log_file = tmp_path / "broker.log"
    with log_file.open("wb") as full:
        full.truncate(LOG_BYTES_MAX + 1)
    await written(log_file, 1)
    assert numbers_in(log_file) == [0]
    assert LogFile(log_file).old().stat().st_size == LOG_BYTES_MAX + 1


def test_a_process_whose_output_is_no_such_file_moves_nothing(tmp_path: Path) -> None:
    """The variable may be inherited by a process that somebody starts by hand."""
    log_file = tmp_path / "broker.log"
    log_file.write_text("of another process\n")
    with (tmp_path / "own.log").open("ab") as own:
        subprocess.run(
            (sys.executable, "-c", WRITER, "300"),
            env={**os.environ, LOG_FILE: str(log_file)},
            stdout=own,
            stderr=own,
            check=True,
        )
    assert numbers_in(tmp_path / "own.log") == list(range(300))
    assert log_file.read_text() == "of another process\n"
    assert not LogFile(log_file).old().exists()


async def test_a_directory_that_refuses_costs_no_line(tmp_path: Path) -> None:
    """The place of the old file is taken by a directory that is not empty."""
    log_file = tmp_path / "broker.log"
    (LogFile(log_file).old() / "held").mkdir(parents=True)
    await written(log_file, 300)
    lines = [line.strip() for line in log_file.read_text().splitlines()]
    assert [int(line) for line in lines if line.isdecimal()] == list(range(300))
    errors = sum("Logging error" in line for line in lines)
    assert 1 <= errors <= 5, "logged once for each further length of a file"


async def test_a_broker_does_so_from_its_first_line_on(tmp_path: Path) -> None:
    log_file = tmp_path / "broker.log"
    with log_file.open("wb") as nearly_full:
        nearly_full.truncate(LOG_BYTES_MAX)
    script = """
import logging
from dataplane.compose.main import main
assert main(None, ["broker.id=1"], check=True) == 0
logging.warning("the first")
logging.warning("the second")
"""
    process = spawn((sys.executable, "-c", script), log_file=log_file, generation=0)
    assert await process.wait() == 0
    assert LogFile(LogFile(log_file).old()).tail(1)[0].endswith("the first")
    assert [line.split(": ")[-1] for line in log_file.read_text().splitlines()] == ["the second"]


def test_a_log_of_its_own_is_put_aside_when_full_and_no_line_is_lost(tmp_path: Path) -> None:
    log_file = LogFile(tmp_path / "broker.audit.log", bytes_max=BYTES_MAX, old_files=4)
    handler = AppendedLog(log_file)
    logger = logging.getLogger("tests.appended_log")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.addHandler(handler)
    try:
        for number in range(350):
            logger.info("%99d", number)
    finally:
        logger.removeHandler(handler)
        handler.close()
    files = [log_file.old(number) for number in (4, 3, 2, 1)] + [log_file.path]
    assert [number for file in files for number in numbers_in(file)] == list(range(350))
    assert all(file.stat().st_size <= BYTES_MAX + 100 for file in files if file.exists())


def test_the_audit_log_is_beside_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOG_FILE, "/var/log/broker-1.log")
    assert beside_own_log("audit") == Path("/var/log/broker-1.audit.log")
    monkeypatch.delenv(LOG_FILE)
    assert beside_own_log("audit") is None
