"""Moving a replica to another log directory of the same broker (KIP-113).

A copy in `topic-N.<uuid>-future` catches up with the replica, is made durable, and takes its place
in one step between two appends; the old files go like those of a deleted log. A start throws an
unfinished copy away and begins it anew: what it holds may have been cut from the replica since.
"""

from __future__ import annotations

import dataclasses
import logging
from typing import TYPE_CHECKING

from dataplane.log import paths
from dataplane.log.partition_metadata import write_topic_id
from dataplane.model.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.log.manager.log_directory import LogDirectory
    from dataplane.log.manager.log_manager import LogManager
    from dataplane.log.partition_log import PartitionLog
    from dataplane.model.ids import TopicPartition
    from dataplane.ports.entropy import Entropy
    from dataplane.ports.filesystem import FileSystem

_log = logging.getLogger(__name__)

STEP_BYTES = 1024 * 1024
_NEARLY_BYTES = 4 * STEP_BYTES


@dataclasses.dataclass(slots=True)
class Move:
    """One replica on its way."""

    source: PartitionLog
    future: PartitionLog
    target: LogDirectory
    cuts: int
    """Truncations of the source that the copy knows of."""
    durable_from: int | None = None
    """The copy may take over once it is synced up to here."""


class ReplicaMover:
    """All moves of one broker. `step` copies a little; the shell calls it while `is_busy`."""

    def __init__(self, manager: LogManager, fs: FileSystem, entropy: Entropy) -> None:
        self._manager = manager
        self._fs = fs
        self._entropy = entropy
        self._moves: dict[TopicPartition, Move] = {}
        self._on_moved: list[Callable[[TopicPartition, PartitionLog], None]] = []
        self.preferred: dict[TopicPartition, str] = {}
        """Where replicas shall be made that are not here yet."""
        self.unfinished: list[tuple[TopicPartition, LogDirectory]] = []
        """Moves that the last stop interrupted: `resume` begins them anew."""

    @property
    def is_busy(self) -> bool:
        return bool(self._moves)

    def moves(self) -> dict[TopicPartition, Move]:
        return dict(self._moves)

    def on_moved(self, callback: Callable[[TopicPartition, PartitionLog], None]) -> None:
        """Call back when a replica has another log object, with the same content."""
        self._on_moved.append(callback)

    def move(self, tp: TopicPartition, path: str) -> None:
        """Begin to move the replica of `tp` to the log directory `path`.

        To where it is already, this ends a move. KafkaError: LOG_DIR_NOT_FOUND,
        KAFKA_STORAGE_ERROR, REPLICA_NOT_AVAILABLE; in the last case a replica that is made later
        will be made there.
        """
        target = self._manager.live_directory(path)
        source = self._manager.get(tp)
        if source is None:
            self.preferred[tp] = target.path
            raise KafkaError(ErrorCode.REPLICA_NOT_AVAILABLE, f"No replica of {tp} here.")
        under_way = self._moves.get(tp)
        if under_way is not None:
            if under_way.target is target:
                return
            self.cancel(tp)
        if self._manager.home_of(tp) is target:
            return
        self._begin(tp, source, target)

    def resume(self) -> None:
        """Begin the moves again that the last stop interrupted."""
        unfinished, self.unfinished = self.unfinished, []
        for tp, target in unfinished:
            try:
                self.move(tp, target.path)
            except KafkaError as error:
                _log.warning("%s is not moved to %s any more: %s", tp, target.path, error)

    def _begin(self, tp: TopicPartition, source: PartitionLog, target: LogDirectory) -> None:
        name = paths.future_directory_name(tp, self._entropy.uuid4())
        path = f"{target.path}/{name}"
        try:
            self._fs.make_dirs(path)
            future = self._manager.make_log(
                tp,
                path,
                target,
                source.config,
                log_start_offset=source.log_start_offset,
                clean=True,
            )
            topic_id = self._manager.topic_id(tp)
            if topic_id is not None:
                write_topic_id(self._fs, path, topic_id)
        except OSError as error:
            self._manager.fail_directory(target, error)
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        self._moves[tp] = Move(source, future, target, source.cuts)
        _log.info("%s: moving to %s", tp, target.path)

    def step(self, max_bytes: int = STEP_BYTES) -> int:
        """Copy up to `max_bytes` for one replica, swap it if it is done. Returns bytes copied."""
        if not self._moves:
            return 0
        tp = next(iter(self._moves))
        move = self._moves.pop(tp)
        self._moves[tp] = move  # the others' turn comes first next time
        try:
            return self._advance(tp, move, max_bytes)
        except KafkaError as error:
            _log.warning("%s: moving to %s failed: %s", tp, move.target.path, error)
            self.cancel(tp)
        except OSError as error:
            self._manager.fail_directory(move.target, error)
        return 0

    def _advance(self, tp: TopicPartition, move: Move, max_bytes: int) -> int:
        source, future = move.source, move.future
        if source.cuts != move.cuts or future.log_end_offset < source.log_start_offset:
            future.truncate_fully_and_start_at(source.log_start_offset)
            move.cuts, move.durable_from = source.cuts, None
        at = future.log_end_offset
        data = source.read(at, max_bytes, source.log_end_offset).read()
        if data:
            future.append_as_follower(data)
        left = source.size_bytes - future.size_bytes
        is_level = future.log_end_offset == source.log_end_offset
        if move.durable_from is None and (is_level or 0 <= left < _NEARLY_BYTES):
            move.durable_from = future.log_end_offset
            future.flush_in_background()
        durable_from = move.durable_from
        if is_level and durable_from is not None and future.recovery_point >= durable_from:
            self._swap(tp, move)
        return len(data)

    def _swap(self, tp: TopicPartition, move: Move) -> None:
        source, future = move.source, move.future
        future.adopt_bounds(source)
        del self._moves[tp]
        self._manager.put_in_place(tp, future, move.target)
        _log.info("%s: moved to %s", tp, move.target.path)
        for callback in self._on_moved:
            callback(tp, future)

    def cancel(self, tp: TopicPartition) -> None:
        """The replica stays where it is, or is going altogether; its copy goes."""
        self.preferred.pop(tp, None)
        move = self._moves.pop(tp, None)
        if move is not None:
            move.future.release()
            self._manager.delete_directory_async(move.target, move.future.directory, tp)

    def lose(self, directory: LogDirectory) -> None:
        """A directory has failed: what moves there, or from there, does not move any more."""
        for tp, move in list(self._moves.items()):
            if move.target is directory:
                self._moves.pop(tp).future.release()
            elif move.source.directory.rpartition("/")[0] == directory.path:
                self.cancel(tp)

    def release(self) -> None:
        """The broker stops: copies are begun anew at the next start."""
        for move in self._moves.values():
            move.future.release()
        self._moves.clear()


def how_far(log: PartitionLog) -> tuple[int, int]:
    """How far a copy of a log went."""
    return (-1 if log.latest_epoch is None else log.latest_epoch, log.log_end_offset)
