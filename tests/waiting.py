"""Waiting in tests: for a condition, or for everything that is due at once. Never for a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

PATIENCE_S = 10.0
TURNS = 100


async def until(holds: Callable[[], object], what: str = "") -> None:
    """Returns when `holds`. AssertionError when it does not within PATIENCE_S."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not holds():
                await asyncio.sleep(0.002)
    except TimeoutError:
        raise AssertionError(f"never became true: {what or holds}") from None


async def turns() -> None:
    """Let the loop run what is due now, and what follows from that without time or sockets."""
    for _ in range(TURNS):
        await asyncio.sleep(0)


def wait_until(holds: Callable[[], object], what: str = "") -> None:
    """As `until`, in a test of threads or processes."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline_s, f"never became true: {what or holds}"
        time.sleep(0.005)
