"""Tie a child's life to the thread that starts it (Linux, prctl PR_SET_PDEATHSIG)."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def die_with_parent(signal_number: int = signal.SIGTERM) -> Callable[[], None] | None:
    """A `preexec_fn` that has the kernel send `signal_number` to the child when we die.

    None where the system cannot do it. The kernel watches the *thread* that forks: start such
    children from a thread that lives as long as the process, best the main one.
    """
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None, use_errno=True)  # loaded before the fork: nothing to lock after it
    parent = os.getpid()

    def arm() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
        if os.getppid() != parent:  # it died between the fork and the call above
            os.kill(os.getpid(), signal_number)

    return arm
