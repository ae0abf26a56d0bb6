"""Which leader epoch began at which offset (KIP-101), kept in `leader-epoch-checkpoint`."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

from dataplane.log import paths
from dataplane.log.checkpoint import CheckpointDamagedError, read_entries, write_entries

if TYPE_CHECKING:
    from dataplane.ports.filesystem import FileSystem

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1
_epoch_of = itemgetter(0)
_start_of = itemgetter(1)


class LeaderEpochs:
    """Entries (epoch, start offset), both growing.

    Written without fsync: what a power cut takes is found again in the batches, which carry
    their epoch. While a log is opened nothing is written that the next opening finds anyway.
    """

    __slots__ = ("_entries", "_fs", "_in_file", "_path", "damaged", "latest")

    def __init__(self, fs: FileSystem, path: str) -> None:
        self._fs = fs
        self._path = path
        self._entries: list[tuple[int, int]] = []
        self._in_file: list[tuple[int, int]] | None = []  # None: nobody knows
        self.damaged = False
        self.latest: int | None = None

    def relocate(self, directory: str) -> None:
        self._path = f"{directory}/{paths.LEADER_EPOCH_CHECKPOINT}"

    def load(self) -> None:
        """Read the file; an unreadable one leaves the cache empty and `damaged` set."""
        try:
            raw = read_entries(self._fs, self._path, fields=2)
            entries = [(int(epoch), int(start)) for epoch, start in raw]
        except (CheckpointDamagedError, ValueError):
            self.damaged = True
            entries = []
        for epoch, start in entries:
            self._put(epoch, start)
        self._in_file = None if self.damaged or entries != self._entries else entries
        self._set_latest()

    @property
    def entries(self) -> tuple[tuple[int, int], ...]:
        return tuple(self._entries)

    def assign(self, epoch: int, start_offset: int) -> None:
        """`epoch` begins at `start_offset`; what contradicts it is dropped.

        OSError when it cannot be written down; then nothing has changed.
        """
        before = list(self._entries)
        if self._put(epoch, start_offset):
            self._set_latest()
            try:
                self.write()
            except OSError:
                self._entries = before
                self._set_latest()
                raise

    def assign_unwritten(self, epoch: int, start_offset: int) -> None:
        """As `assign`, for a scan over many batches; ends with `settle`."""
        if epoch != self.latest and self._put(epoch, start_offset):
            self._set_latest()

    def epoch_at(self, offset: int) -> int:
        """The epoch of the record at `offset`, -1 if unknown."""
        slot = bisect_right(self._entries, offset, key=_start_of)
        return self._entries[slot - 1][0] if slot else UNDEFINED_EPOCH

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """(largest known epoch ≤ `epoch`, where it ends); (-1, -1) if that cannot be said."""
        entries = self._entries
        if epoch == UNDEFINED_EPOCH or not entries:
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        if epoch == entries[-1][0]:
            return epoch, log_end_offset
        slot = bisect_right(entries, epoch, key=_epoch_of)
        if slot == len(entries):
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        floor = entries[slot - 1][0] if slot else epoch
        return floor, entries[slot][1]

    def truncate_from_end(self, end_offset: int) -> None:
        """The log now ends at `end_offset`: epochs that began there or later never were."""
        kept = [entry for entry in self._entries if entry[1] < end_offset]
        self._replace(kept)

    def forget_from_end(self, end_offset: int) -> None:
        """As `truncate_from_end` while a log is opened: the file stays as it is until `settle`.

        A leader that was elected and never wrote leaves such an entry in every idle partition.
        """
        self._entries = [entry for entry in self._entries if entry[1] < end_offset]
        self._set_latest()

    def settle(self, end_offset: int) -> None:
        """Write the file if it says anything wrong about what lies below `end_offset`.

        Has to come before the recovery point moves: below it nothing is looked at again.
        """
        written = self._in_file
        if written is not None and written != self._entries:
            written = [entry for entry in written if entry[1] < end_offset]
        if written != self._entries:
            self.write()

    def truncate_from_start(self, start_offset: int) -> None:
        """The log now begins at `start_offset`: the epoch that covers it begins there too."""
        slot = bisect_right(self._entries, start_offset, key=_start_of)
        if slot:
            covering = self._entries[slot - 1][0]
            self._replace([(covering, start_offset), *self._entries[slot:]])

    def clear(self) -> None:
        self._replace([])

    def write(self) -> None:
        lines = (f"{epoch} {start}" for epoch, start in self._entries)
        self._in_file = None
        write_entries(self._fs, self._path, lines, sync=False)
        self._in_file = list(self._entries)

    def _put(self, epoch: int, start_offset: int) -> bool:
        if epoch < 0 or start_offset < 0:
            return False
        entries = self._entries
        if entries and entries[-1][0] == epoch and entries[-1][1] <= start_offset:
            return False
        while entries and (entries[-1][0] >= epoch or entries[-1][1] >= start_offset):
            entries.pop()
        entries.append((epoch, start_offset))
        return True

    def _set_latest(self) -> None:
        self.latest = self._entries[-1][0] if self._entries else None

    def _replace(self, entries: list[tuple[int, int]]) -> None:
        if entries != self._entries:
            self._entries = entries
            self._set_latest()
            self.write()
