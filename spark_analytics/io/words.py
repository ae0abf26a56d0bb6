"""Errors of Spark in one line."""

from __future__ import annotations

_TRACEBACK = "Traceback (most recent call last):"


def one_line(error: BaseException, limit: int = 300) -> str:
    """The most specific line of an error; of Spark's long ones the innermost cause, and what a
    Python worker raised.
    """
    whole = str(error).splitlines()
    lines = [line.strip() for line in whole if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    raised = _raised(whole)
    chosen = raised or (causes[-1] if causes else next(iter(lines), type(error).__name__))
    return chosen.removeprefix("Caused by: ")[:limit]


def _raised(lines: list[str]) -> str | None:
    """What stands below a worker's traceback: its lines are indented, that is not."""
    begins = [at for at, line in enumerate(lines) if line.strip() == _TRACEBACK]
    below = lines[begins[-1] + 1 :] if begins else []
    return next((line for line in below if line and not line[0].isspace()), None)
