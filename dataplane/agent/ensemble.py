"""Which ZooKeeper tree a host belongs to, so that a wrong connect string never stands for its own.

In a tree that is not the host's nothing is desired of it: its agent would take every broker for
deleted. An agent keeps the identity of its tree (`zookeeper_access.identity`) in its data
directory, and refuses any other one.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING

from dataplane.agent.incarnation import write_whole
from dataplane.ports.coordinator import NoNodeError, NotAuthorizedError
from zookeeper_access.identity import NODE, identity_of, is_identity

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dataplane.ports.coordinator import Coordinator, NodeStat, Watch

log = logging.getLogger(__name__)

FILE = ".ensemble.json"
FORMAT = 1


class EnsembleError(Exception):
    """One line: this ZooKeeper is not the one of the host, or what the host kept is unreadable."""


class HomeTree:
    """The tree of one host: known from its first session on, and compared at every one."""

    def __init__(
        self, data_dir: Path, coordinator: Coordinator, *, connect: str = "", adopts: bool = False
    ) -> None:
        """`adopts`: the tree of before is gone for good, and this one takes its place."""
        self._file = data_dir / FILE
        self._coordinator = coordinator
        self._connect = connect
        self._adopts = adopts
        self._kept = ""
        self._is_read = False

    @property
    def identity(self) -> str:
        """As it is kept; empty while no tree has said any."""
        return self._kept

    async def prove(self) -> None:
        """Compare the tree of this session with the host's own; keep it where none is kept.

        Raises:
            EnsembleError: it is another one, or cannot be told.
            CoordinatorError, OSError.
        """
        if not self._is_read:
            self._kept = await asyncio.to_thread(_kept_in, self._file)
            self._is_read = True
        try:
            data, stat = await self._coordinator.get(NODE)
            found = identity_of(data, stat.czxid)
        except (NoNodeError, NotAuthorizedError):
            found = ""
        if self._kept and found != self._kept and not self._adopts:
            raise EnsembleError(self._refusal(found))
        if self._kept and found != self._kept:
            log.warning("the host goes over from ensemble %s to %s", self._kept, found or "none")
        await self._keep(found)

    def watch(self, known: Callable[[], None]) -> Watch:
        """Call `known` when a tree that had no identity gets one."""

        def changed(data: bytes | None, stat: NodeStat | None) -> None:
            if data is None or stat is None:
                return
            found = identity_of(data, stat.czxid)
            if found and not self._kept:
                known()
            elif found != self._kept:
                # The session's tree is still the one that was proven; the next one is refused.
                log.error("%s was written anew: %s", NODE, self._refusal(found))

        return self._coordinator.watch_data(NODE, changed)

    async def _keep(self, found: str) -> None:
        if found == self._kept:
            return
        row = {"v": FORMAT, "ensemble": found}
        await asyncio.to_thread(write_whole, self._file, json.dumps(row).encode())
        self._kept = found

    def _refusal(self, found: str) -> str:
        return (
            f"ZooKeeper at {self._connect or 'this address'} is not this host's: it is"
            f" {f'ensemble {found}' if found else 'one without an identity'}, and the host belongs"
            f" to {self._kept}; correct --zookeeper, or give --adopt-ensemble once if that one is"
            " lost for good"
        )


def _kept_in(file: Path) -> str:
    """Blocking. Raises EnsembleError: there is a file and it says nothing; OSError."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return ""
    try:
        found = json.loads(data)["ensemble"]
    except (ValueError, KeyError, TypeError, RecursionError):
        found = None
    if not isinstance(found, str) or (found and not is_identity(found)):
        raise EnsembleError(f"{file} holds no identity of an ensemble: restore the file")
    return found
