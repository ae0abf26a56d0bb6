"""Keeps log directories that were declared lost from serving again.

Every broker says in ZooKeeper which log directories it has (`/brokers/directories/N`, by their
`directory.id`). Who declares a host lost writes those ids under `/brokers/fenced_directories`. A
broker that has one of them neither registers nor, when it hears of it later, goes on: its replicas
may be behind what was acknowledged without it, and its broker id may be another host's by now.
Both places are ours alone; Kafka has neither.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.metadata.registration import RegistrationError
from dataplane.cluster import znodes
from dataplane.ports.coordinator import NodeExistsError, NoNodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataplane.ports.coordinator import Coordinator, Watch

log = logging.getLogger(__name__)


class DirectoryFence:
    """Of one broker. `on_fenced` is called once, with a line that says why, when it has to end."""

    def __init__(
        self,
        coordinator: Coordinator,
        *,
        broker_id: int,
        directory_ids: Iterable[str],
        on_fenced: Callable[[str], None],
    ) -> None:
        self._coordinator = coordinator
        self._broker_id = broker_id
        self._own = frozenset(directory_ids)
        self._on_fenced = on_fenced
        self._watch: Watch | None = None
        self._has_ended = False

    async def start(self) -> None:
        """Say which directories these are, and follow what is fenced. Raises RegistrationError."""
        await self.check()
        await self._announce()
        self._watch = self._coordinator.watch_children(znodes.FENCED_DIRECTORIES, self._on_change)

    async def check(self) -> None:
        """Before the broker registers, each time. Raises RegistrationError: it may not."""
        try:
            fenced = await self._coordinator.children(znodes.FENCED_DIRECTORIES)
        except NoNodeError:
            return
        why = self._why(fenced)
        if why:
            if self._watch is not None:  # at a start the exception ends it
                self._end(why)
            raise RegistrationError(why)

    def stop(self) -> None:
        if self._watch is not None:
            self._watch.cancel()

    def _on_change(self, fenced: list[str]) -> None:
        why = self._why(fenced)
        if why:
            self._end(why)

    def _end(self, why: str) -> None:
        if not self._has_ended:
            self._has_ended = True
            log.error("%s", why)
            self._on_fenced(why)

    def _why(self, fenced: Iterable[str]) -> str:
        lost = sorted(self._own.intersection(fenced))
        if not lost:
            return ""
        return (
            f"log directory {lost[0]} of broker {self._broker_id} was declared lost:"
            " its replicas must not be served again"
        )

    async def _announce(self) -> None:
        path = f"{znodes.DIRECTORIES}/{self._broker_id}"
        data = znodes.encode_directories(self._own)
        try:
            await self._coordinator.set(path, data)
        except NoNodeError:
            try:
                await self._coordinator.create(path, data, make_parents=True)
            except NodeExistsError:
                await self._coordinator.set(path, data)
