"""This broker's picture of the cluster, replaced whole at every UpdateMetadata."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.cluster.image import ClusterImage

_log = logging.getLogger(__name__)


class MetadataCache:
    """The present `ClusterImage` and who wants to hear of a new one.

    `encoded` keeps whole encoded answers for the image they were made from; it is emptied with
    every new image.
    """

    __slots__ = ("_listeners", "encoded", "image")

    def __init__(self, image: ClusterImage) -> None:
        self.image = image
        self.encoded: dict[object, Any] = {}
        self._listeners: list[Callable[[ClusterImage, ClusterImage], None]] = []

    def on_change(self, listener: Callable[[ClusterImage, ClusterImage], None]) -> None:
        """`listener(before, after)` runs on the loop after every new image."""
        self._listeners.append(listener)

    def replace(self, image: ClusterImage) -> None:
        before, self.image = self.image, image
        self.encoded.clear()
        for listener in self._listeners:
            try:
                listener(before, image)
            except Exception:  # noqa: BLE001 - one listener's bug must not stop the others
                _log.exception("a listener of cluster metadata failed")
