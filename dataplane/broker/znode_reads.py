"""Reads many ZooKeeper nodes at a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from dataplane.ports.coordinator import NoNodeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataplane.ports.coordinator import Coordinator, NodeStat

READS_AT_ONCE = 1_000

K = TypeVar("K")


async def read_all(
    coordinator: Coordinator, paths: Sequence[tuple[K, str]]
) -> dict[K, tuple[bytes, NodeStat]]:
    """Data and stat by key; nodes that do not exist are left out."""
    found: dict[K, tuple[bytes, NodeStat]] = {}
    for start in range(0, len(paths), READS_AT_ONCE):
        part = paths[start : start + READS_AT_ONCE]
        answers = await asyncio.gather(
            *(coordinator.get(path) for _, path in part), return_exceptions=True
        )
        for (key, _), answer in zip(part, answers, strict=True):
            if isinstance(answer, NoNodeError):
                continue
            if isinstance(answer, BaseException):
                raise answer
            found[key] = answer
    return found
