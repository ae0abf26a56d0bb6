"""This broker's picture of the cluster, replaced whole at every UpdateMetadata."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.cluster.image import ClusterImage

_log = logging.getLogger(__name__)


class MetadataCache:
    """The present `ClusterImage` and who wants to hear of a new one.

    `encoded` keeps topics as they were encoded, by name and then by how they were asked for. Most
    updates change a few topics: what stays the same, with the same brokers alive, stays encoded.
    """

    __slots__ = ("_listeners", "encoded", "image")

    def __init__(self, image: ClusterImage) -> None:
        self.image = image
        self.encoded: dict[str, dict[object, bytes]] = {}
        self._listeners: list[Callable[[ClusterImage, ClusterImage], None]] = []

    @property
    def is_known(self) -> bool:
        """Whether a controller has said anything: until then nothing is known to be missing."""
        return bool(self.image.brokers)

    def on_change(self, listener: Callable[[ClusterImage, ClusterImage], None]) -> None:
        """`listener(before, after)` runs on the loop after every new image."""
        self._listeners.append(listener)

    def replace(self, image: ClusterImage) -> None:
        before, self.image = self.image, image
        self._forget_encoded(before)
        for listener in self._listeners:
            try:
                listener(before, image)
            except Exception:  # noqa: BLE001 - one listener's bug must not stop the others
                _log.exception("a listener of cluster metadata failed")

    def _forget_encoded(self, before: ClusterImage) -> None:
        """Whether a leader can be reached stands in every topic, and depends on the brokers."""
        if self.image.brokers != before.brokers:
            self.encoded.clear()
            return
        now, then = self.image.topics, before.topics
        for name in [name for name in self.encoded if now.get(name) is not then.get(name)]:
            del self.encoded[name]
