"""Removes what a dead broker left in ZooKeeper, so that failover starts now (DESIGN decision 14).

The parent *knows* that its child is gone: waiting for the session timeout would only cost the
cluster's writers 18 seconds. A broker writes its pid and ZooKeeper session id to a file before it
registers; only nodes of that very session are removed, so a broker that was started meanwhile, here
or elsewhere, is never touched. Whoever starts the next child must have awaited this first.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from dataplane.cluster import znodes
from dataplane.cluster.session_file import SESSION_FILE, session_of, software_of
from dataplane.ports.coordinator import BadVersionError, NoNodeError

if TYPE_CHECKING:
    from dataplane.ports.coordinator import Coordinator

log = logging.getLogger(__name__)


def read_session(log_dir: str | Path, pid: int) -> int | None:
    """The ZooKeeper session of process `pid`; None when the file speaks of another process."""
    try:
        return session_of((Path(log_dir) / SESSION_FILE).read_bytes(), pid)
    except OSError:
        return None


def read_software(log_dir: str | Path, pid: int) -> tuple[str, str]:
    """What process `pid` says of itself: (release, inter-broker protocol); "" for what it does not.

    Blocking.
    """
    try:
        return software_of((Path(log_dir) / SESSION_FILE).read_bytes(), pid)
    except OSError:
        return "", ""


async def fence(
    coordinator: Coordinator,
    broker_id: int,
    session_id: int,
    *,
    root: str = "",
) -> list[str]:
    """Delete `/brokers/ids/N` and `/controller` under `root` if `session_id` owns them.

    A session id is as unique as a creation id, and covers both nodes and a registration that was
    renewed in the same session. Returns the paths removed. Doing it twice, or too late, does
    nothing.
    """
    removed = []
    for path in (f"{root}{znodes.broker_path(broker_id)}", f"{root}{znodes.CONTROLLER}"):
        stat = await coordinator.exists(path)
        if stat is None or stat.ephemeral_owner != session_id or session_id == 0:
            continue
        try:
            await coordinator.delete(path, stat.version)
        except (NoNodeError, BadVersionError):
            continue  # the session ended by itself, and perhaps somebody else stands there now
        removed.append(path)
    if removed:
        log.info("fenced broker %d: removed %s", broker_id, ", ".join(removed))
    return removed
