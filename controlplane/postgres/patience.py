"""How long this process waits for an answer of the database, and a thread for a while less.

Commands (`manage.py`) wait for ever: a migration or a backup takes what it takes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_of_process_s: float | None = None
_of_thread_s: ContextVar[float | None] = ContextVar("patience_s", default=None)


def wait_at_most(seconds: float | None) -> None:
    """From now on no statement of this process waits longer for its answer; None: for ever."""
    global _of_process_s  # noqa: PLW0603 - one per process
    _of_process_s = seconds


@contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """In this block the present thread waits no longer than that, nor than the process does."""
    token = _of_thread_s.set(seconds)
    try:
        yield
    finally:
        _of_thread_s.reset(token)


def limit_s() -> float | None:
    """Seconds for the statement that begins now; None: no limit."""
    limits = [each for each in (_of_process_s, _of_thread_s.get()) if each is not None]
    return min(limits, default=None)
