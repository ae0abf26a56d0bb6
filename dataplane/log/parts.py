"""The parts of one log, each with a state of its own."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from dataplane.log.appending.staging import Staging
    from dataplane.log.epochs import LeaderEpochs
    from dataplane.log.flushing import Flusher
    from dataplane.log.local_log import LocalLog
    from dataplane.log.producers.producer_state_manager import ProducerStateManager
    from dataplane.log.segment.rolling import Roller
    from dataplane.log.storage_errors import StorageErrors
    from dataplane.model.errors import KafkaError


class LogOffsets(Protocol):
    """Where a log begins and ends. An append moves its end."""

    log_start_offset: int
    log_end_offset: int
    cleaned_until: int


@dataclasses.dataclass(frozen=True, slots=True)
class LogParts:
    """What is behind one `PartitionLog`, for those who change more than one part."""

    local: LocalLog
    epochs: LeaderEpochs
    producers: ProducerStateManager
    flusher: Flusher
    roller: Roller
    storage: StorageErrors
    staging: Staging

    def check_idle(self) -> None:
        """KafkaError: KAFKA_STORAGE_ERROR if the log has ended. RuntimeError while batches wait."""
        self.storage.check()
        if self.staging.batches:
            raise RuntimeError(f"{self.local.directory}: batches are staged")

    def assign_epoch(self, epoch: int, offset: int) -> None:
        """An epoch begins with the next batch. KafkaError: KAFKA_STORAGE_ERROR."""
        try:
            self.epochs.assign(epoch, offset)
        except OSError as error:
            raise self.storage.note(error) from error

    def undo_append(self, size: int, end_offset: int, error: OSError) -> KafkaError:
        """A write failed: take the active segment back to where it was, or give the log up."""
        try:
            self.local.active.undo_append(size, end_offset)
        except OSError as second:
            return self.storage.note(second)
        return self.storage.note(error)
