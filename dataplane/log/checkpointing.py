"""Writing checkpoint files: off the event loop, and only when something has moved."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.log.directory import LogDirectory
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.background import Background

    Offsets = dict[TopicPartition, int]


class Checkpoints:
    """Remembers what each file holds; one write of a file at a time."""

    def __init__(
        self, background: Background, on_error: Callable[[LogDirectory, OSError], object]
    ) -> None:
        self._background = background
        self._on_error = on_error
        self._written: dict[tuple[str, str], Offsets] = {}
        self._writing: set[tuple[str, str]] = set()

    def write(self, directory: LogDirectory, name: str, offsets: Offsets) -> None:
        """Replace the file now, on this thread."""
        try:
            directory.write_checkpoint(name, offsets)
        except OSError as error:
            self._on_error(directory, error)
        else:
            self._written[directory.path, name] = offsets

    def write_soon(self, directory: LogDirectory, name: str, offsets: Offsets) -> None:
        """Replace the file in the background, unless it holds these offsets already."""
        key = (directory.path, name)
        # A file that was never needed is not made for the sake of being empty.
        if offsets == self._written.get(key, {}) or key in self._writing:
            return
        self._writing.add(key)
        self._written[key] = offsets
        self._background.submit(
            functools.partial(directory.write_checkpoint, name, offsets),
            functools.partial(self._done, directory, key),
        )

    def _done(
        self, directory: LogDirectory, key: tuple[str, str], error: BaseException | None
    ) -> None:
        self._writing.discard(key)
        if error is not None:
            self._written.pop(key, None)
        if isinstance(error, OSError):
            self._on_error(directory, error)
