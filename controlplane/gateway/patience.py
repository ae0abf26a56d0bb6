"""How long a read that somebody waits for may wait itself, for whomever it asks.

A view sets it for its thread; every wait within takes the least of its own bound and of what is
left. Work of the background has none, and keeps the bounds that it has; but a look at a cluster
that asks broker after broker has a `deadline`, past which nobody is asked any more.
"""

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar

LEAST_S = 0.02
"""What is left of no time at all: an answer that is there already is taken."""

_ends_s: ContextVar[float | None] = ContextVar("patience_ends_s", default=None)
_deadline_s: ContextVar[float | None] = ContextVar("deadline_s", default=None)


@contextlib.contextmanager
def patience(seconds: float | None) -> Iterator[None]:
    """Within, all waits of this thread together; None: as long as each takes."""
    token = _ends_s.set(None if seconds is None else time.monotonic() + seconds)
    try:
        yield
    finally:
        _ends_s.reset(token)


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Within, all waits of this thread together, and past it no question is sent.

    Brokers that each answer just in time hold a thread no longer than one that is silent. What was
    not asked is not known.
    """
    token = _deadline_s.set(time.monotonic() + seconds)
    try:
        with patience(seconds):
            yield
    finally:
        _deadline_s.reset(token)


def is_past() -> bool:
    """Whether the deadline is over: then nothing more is asked."""
    ends_s = _deadline_s.get()
    return ends_s is not None and time.monotonic() >= ends_s


def bounded(wait_s: float) -> float:
    """`wait_s`, or what is left of the patience when that is less."""
    ends_s = _ends_s.get()
    return wait_s if ends_s is None else min(wait_s, max(LEAST_S, ends_s - time.monotonic()))


def is_over() -> bool:
    """Whether a wait ended because of us: that says nothing of whoever was asked."""
    ends_s = _ends_s.get()
    return ends_s is not None and time.monotonic() >= ends_s
