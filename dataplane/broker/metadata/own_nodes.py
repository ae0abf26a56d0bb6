"""Giving up an ephemeral node before the session that holds it is closed."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from dataplane.ports.coordinator import CoordinatorError

if TYPE_CHECKING:
    from dataplane.ports.coordinator import Coordinator

_log = logging.getLogger(__name__)

LEAVE_TIMEOUT_S = 3.0
"""A stop does not wait for a ZooKeeper that is away: the node ends with the session then."""


async def delete_own_node(coordinator: Coordinator, path: str) -> None:
    """Delete the node if it is this session's; whoever comes after need not wait for its end."""
    try:
        async with asyncio.timeout(LEAVE_TIMEOUT_S):
            stat = await coordinator.exists(path)
            if stat is not None and stat.ephemeral_owner == coordinator.session_id:
                await coordinator.delete(path)
    except (CoordinatorError, TimeoutError) as error:
        _log.info("%s ends with the session: %r", path, error)
