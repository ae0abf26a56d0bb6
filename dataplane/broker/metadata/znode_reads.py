"""Reads many ZooKeeper nodes at a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from dataplane.ports.coordinator import Get

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataplane.ports.coordinator import Coordinator, NodeStat

READS_PER_REQUEST = 250

K = TypeVar("K")


async def read_all(
    coordinator: Coordinator, paths: Sequence[tuple[K, str]]
) -> dict[K, tuple[bytes, NodeStat]]:
    """Data and stat by key; nodes that do not exist are left out."""
    parts = [
        paths[start : start + READS_PER_REQUEST]
        for start in range(0, len(paths), READS_PER_REQUEST)
    ]
    answers = await asyncio.gather(
        *(coordinator.multi([Get(path) for _, path in part]) for part in parts)
    )
    return {
        key: found
        for part, answer in zip(parts, answers, strict=True)
        for (key, _), found in zip(part, answer, strict=True)
        if isinstance(found, tuple)
    }
