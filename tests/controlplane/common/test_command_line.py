"""Whatever any command of `manage.py` may meet is one line, and no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import InterfaceError, OperationalError, ProgrammingError

from controlplane.common.command_line import FAILED, INTERRUPTED, run
from controlplane.common.problems import Conflict

ASK = " Is it migrated? `manage.py migrate`"
REPOSITORY = Path(__file__).resolve().parents[3]


def ended(error, *more, capsys):
    def execute(arguments):
        assert arguments == ["manage.py", "audit", *more]
        raise error

    with pytest.raises(SystemExit) as found:
        run(["manage.py", "audit", *more], execute)
    return found.value.code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            OperationalError("connection failed: refused\n\tIs the server running?\n"),
            "The database cannot be used: connection failed: refused Is the server running?.",
        ),
        (Conflict("It is there\nalready."), "It is there already."),
        (InterfaceError("connection closed"), "The database cannot be used: connection closed."),
        (
            ProgrammingError('relation "tenants" does not exist\nLINE 1: SELECT'),
            f'The database does not fit: relation "tenants" does not exist LINE 1: SELECT.{ASK}',
        ),
        (
            OperationalError("no such table: tenants"),
            f"The database does not fit: no such table: tenants.{ASK}",
        ),
        (
            ImproperlyConfigured("Set the X environment variable"),
            "The settings do not fit: Set the X environment variable.",
        ),
    ],
)
def test_what_any_command_may_meet_is_one_line(error, line, capsys):
    assert ended(error, capsys=capsys) == (FAILED, f"manage.py: {line}\n")


def test_an_interrupted_command_says_so(capsys):
    assert ended(KeyboardInterrupt(), capsys=capsys) == (INTERRUPTED, "manage.py: interrupted\n")


def test_who_asks_for_the_traceback_gets_it():
    def execute(_arguments):
        raise OperationalError("away")

    with pytest.raises(OperationalError):
        run(["manage.py", "audit", "check", "--traceback"], execute)


def test_faults_of_the_program_stay_tracebacks():
    def execute(_arguments):
        raise KeyError("a fault")

    with pytest.raises(KeyError):
        run(["manage.py", "audit"], execute)


def test_a_database_that_is_away_is_one_line_of_a_real_command(tmp_path):
    found = subprocess.run(
        [sys.executable, "manage.py", "audit", "check"],
        cwd=REPOSITORY,
        env={
            **os.environ,
            "DATABASE_URL": "postgres://nobody@127.0.0.1:1/nothing",
            "PENSTOCK_DATA_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert found.returncode == FAILED, found.stderr
    *_, last = found.stderr.splitlines()
    assert last.startswith("manage.py: The database cannot be used: ")
    assert "Traceback" not in found.stderr
