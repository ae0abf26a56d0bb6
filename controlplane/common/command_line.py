"""The command line of `manage.py`: one plain line and an exit code in place of a traceback.

Commands say by `CommandError` what is wrong with what they were given. What any of them may meet
(the database is away, it is not migrated, the settings do not fit, Ctrl-C) is said here.
`--traceback` shows where it happened, as Django has it.
"""

import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import DatabaseError, InterfaceError, ProgrammingError

from controlplane.common.problems import Problem

FAILED, INTERRUPTED = 1, 130


def run(
    arguments: Sequence[str],
    execute: Callable[[list[str]], None] = execute_from_command_line,
) -> None:
    """Carry out a command of `manage.py`.

    Raises:
        SystemExit: after one line on stderr.
    """
    given = list(arguments)
    try:
        execute(given)
    except KeyboardInterrupt:
        _end("interrupted", INTERRUPTED)
    except (DatabaseError, InterfaceError, ImproperlyConfigured, Problem) as error:
        if "--traceback" in given:
            raise
        _end(said(error), FAILED)


def said(error: Exception) -> str:
    """What is wrong, on one line."""
    if isinstance(error, Problem):
        return " ".join(error.detail.split())
    text = " ".join(str(error).split()).rstrip(".")
    if isinstance(error, ImproperlyConfigured):
        return f"The settings do not fit: {text}."
    is_bare = isinstance(error, ProgrammingError) or text.startswith("no such ")
    if is_bare:
        return f"The database does not fit: {text}. Is it migrated? `manage.py migrate`"
    return f"The database cannot be used: {text}."


def _end(text: str, code: int) -> NoReturn:
    print(f"manage.py: {text}", file=sys.stderr)  # noqa: T201 - a command line speaks by it
    sys.exit(code)
