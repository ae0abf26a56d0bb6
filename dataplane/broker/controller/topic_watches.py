"""Watches the node of every topic: tools that add partitions write nothing else.

A watch costs a read. They are set a few at a time and off the controller's queue, so that neither a
take-over nor a large CreateTopics waits for them.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from dataplane.cluster import znodes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from dataplane.ports.coordinator import Coordinator, NodeStat, Watch

_log = logging.getLogger(__name__)

AT_ONCE: Final = 20
PAUSE_S: Final = 0.05


class TopicWatches:
    """`on_partitions(topic, indexes)` is called with the partitions that a topic's node names."""

    def __init__(
        self, coordinator: Coordinator, on_partitions: Callable[[str, Collection[int]], None]
    ) -> None:
        self._coordinator = coordinator
        self._on_partitions = on_partitions
        self._watches: dict[str, Watch] = {}
        self._wanted: dict[str, None] = {}
        self._task: asyncio.Task[None] | None = None

    def follow(self, names: Iterable[str]) -> None:
        """Watch these topics and no others."""
        wanted = dict.fromkeys(sorted(names))
        for name in self._watches.keys() - wanted.keys():
            self._watches.pop(name).cancel()
        self._wanted = {name: None for name in wanted if name not in self._watches}
        if self._wanted and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(
                self._set(), name="controller-topic-watches"
            )

    def cancel(self) -> None:
        self._wanted = {}
        if self._task is not None:
            self._task.cancel()
            self._task = None
        watches, self._watches = self._watches, {}
        for watch in watches.values():
            watch.cancel()

    async def _set(self) -> None:
        while self._wanted:
            for name in list(self._wanted)[:AT_ONCE]:
                del self._wanted[name]
                self._watches[name] = self._watch(name)
            await asyncio.sleep(PAUSE_S)

    def _watch(self, name: str) -> Watch:
        def look(data: bytes | None, _stat: NodeStat | None) -> None:
            if data is None:
                return
            try:
                indexes = znodes.decode_topic(data).replicas.keys()
            except (ValueError, KeyError, TypeError) as error:
                _log.warning("the node of topic %s cannot be understood: %s", name, error)
            else:
                self._on_partitions(name, indexes)

        return self._coordinator.watch_data(znodes.topic_path(name), look)
