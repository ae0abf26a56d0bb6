"""One of the broker's `log.dirs`: its lock, identity, clean-stop marker and checkpoints."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, NamedTuple

from dataplane.config import PropertiesError, format_properties, parse_properties
from dataplane.log import paths
from dataplane.log.checkpoint import CheckpointDamagedError, read_offsets, write_offsets
from dataplane.log.uuids import format_uuid
from dataplane.ports.filesystem import read_whole, replace_whole

if TYPE_CHECKING:
    import uuid
    from collections.abc import Mapping

    from dataplane.model.ids import TopicPartition
    from dataplane.ports.filesystem import FileSystem, Lock


_log = logging.getLogger(__name__)


class DirectoryInUseError(Exception):
    """Another process holds the lock of a log directory."""


class InconsistentIdentityError(Exception):
    """A log directory belongs to another broker or another cluster."""


class CleanStop(NamedTuple):
    """Whether the last stop was clean, and the broker epoch that it wrote down."""

    was_clean: bool
    broker_epoch: int


class LogDirectory:
    """Files at the top of one log directory."""

    def __init__(self, fs: FileSystem, path: str) -> None:
        self._fs = fs
        self._lock: Lock | None = None
        self.path = path.rstrip("/")
        self.failure: OSError | None = None
        self.damaged_files = 0

    def open(self) -> None:
        """Create the directory if absent and lock it. `DirectoryInUseError`."""
        self._fs.make_dirs(self.path)
        try:
            self._lock = self._fs.lock(self._file(paths.LOCK))
        except BlockingIOError as error:
            raise DirectoryInUseError(f"{self.path} is in use by another process") from error

    def close(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def take_clean_stop(self) -> CleanStop:
        """Read the marker of a clean stop and remove it: from now on a stop is unclean."""
        path = self._file(paths.CLEAN_SHUTDOWN)
        try:
            raw = read_whole(self._fs, path)
        except FileNotFoundError:
            return CleanStop(was_clean=False, broker_epoch=-1)
        self._fs.remove(path)
        self._fs.sync_dir(self.path)
        try:
            epoch = json.loads(raw).get("brokerEpoch", -1)
        except (ValueError, AttributeError):
            epoch = -1
        return CleanStop(was_clean=True, broker_epoch=epoch if isinstance(epoch, int) else -1)

    def write_clean_stop(self, broker_epoch: int) -> None:
        content = json.dumps({"version": 0, "brokerEpoch": broker_epoch})
        replace_whole(self._fs, self._file(paths.CLEAN_SHUTDOWN), content.encode())

    def stamp_identity(self, broker_id: int, cluster_id: str, directory_id: uuid.UUID) -> None:
        """Write `meta.properties` if absent; `InconsistentIdentityError` if it says otherwise."""
        known = self.read_identity()
        for key, value in (("broker.id", str(broker_id)), ("cluster.id", cluster_id)):
            if known.get(key, value) != value:
                raise InconsistentIdentityError(
                    f"{self.path}/{paths.META_PROPERTIES} has {key}={known[key]}, "
                    f"this broker has {value}"
                )
        wanted = {
            "version": "0",
            "broker.id": str(broker_id),
            "cluster.id": cluster_id,
            "directory.id": known.get("directory.id", format_uuid(directory_id)),
        }
        if known != wanted:
            content = format_properties(dict(sorted(wanted.items())))
            replace_whole(self._fs, self._file(paths.META_PROPERTIES), content.encode())

    def read_identity(self) -> dict[str, str]:
        """The keys of `meta.properties`; empty if there is none. InconsistentIdentityError."""
        try:
            text = read_whole(self._fs, self._file(paths.META_PROPERTIES)).decode()
            return parse_properties(text)
        except FileNotFoundError:
            return {}
        except (UnicodeDecodeError, PropertiesError) as error:
            raise InconsistentIdentityError(
                f"{self.path}/{paths.META_PROPERTIES} cannot be read: {error}"
            ) from error

    def recovery_points(self) -> dict[TopicPartition, int]:
        return self._read(paths.RECOVERY_POINT_CHECKPOINT)

    def log_start_offsets(self) -> dict[TopicPartition, int]:
        return self._read(paths.LOG_START_CHECKPOINT)

    def cleaner_offsets(self) -> dict[TopicPartition, int]:
        return self._read(paths.CLEANER_CHECKPOINT)

    def high_watermarks(self) -> dict[TopicPartition, int]:
        return self._read(paths.HIGH_WATERMARK_CHECKPOINT)

    def _read(self, name: str) -> dict[TopicPartition, int]:
        """A damaged file counts as empty: every offset is then found again."""
        try:
            return read_offsets(self._fs, self._file(name))
        except CheckpointDamagedError as error:
            self.damaged_files += 1
            _log.warning("%s", error)
            return {}

    def write_checkpoint(self, name: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Replace the checkpoint file `name`. `OSError`. May run off the event loop."""
        write_offsets(self._fs, self._file(name), offsets)

    def _file(self, name: str) -> str:
        return f"{self.path}/{name}"
