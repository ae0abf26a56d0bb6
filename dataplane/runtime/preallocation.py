"""Blocks set aside behind a file's end, by Linux's `fallocate` with FALLOC_FL_KEEP_SIZE.

Python offers `posix_fallocate` alone, which makes the file longer.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

KEEP_SIZE = 1


def preallocate(descriptor: int, start: int, count: int) -> bool:
    """Set `count` bytes from `start` on aside, the size stays. False where that is not to be had:
    another system, a file system that cannot, or a full one.
    """
    call = _fallocate()
    return call is not None and call(descriptor, KEEP_SIZE, start, count) == 0


@functools.cache
def _fallocate() -> Callable[[int, int, int, int], int] | None:
    import ctypes

    try:
        found = ctypes.CDLL(None).fallocate
    except (OSError, AttributeError):
        return None
    found.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    found.restype = ctypes.c_int
    call: Callable[[int, int, int, int], int] = found
    return call
