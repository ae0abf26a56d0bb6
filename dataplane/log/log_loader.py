"""Opening one log: its segments are recovered, its checkpoints validated, its parts made."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dataplane.log import paths
from dataplane.log.appending.staging import Staging
from dataplane.log.epochs import LeaderEpochs
from dataplane.log.flushing import Flusher
from dataplane.log.local_log import LocalLog
from dataplane.log.opening import NEVER_CLEANED
from dataplane.log.parts import LogParts
from dataplane.log.producers.producer_state_manager import ProducerStateManager
from dataplane.log.recovery.checkpoint_validation import validated
from dataplane.log.recovery.recovery import Recovery
from dataplane.log.segment.rolling import Roller
from dataplane.log.storage_errors import StorageErrors

if TYPE_CHECKING:
    from dataplane.log.config import LogConfig
    from dataplane.log.opening import CheckpointedState, LogEnvironment, LogListeners
    from dataplane.log.recovery.load_progress import LoadProgress
    from dataplane.log.recovery.recovery import Recovered


class LoadedLog(NamedTuple):
    """The parts, what recovery found, and the checkpoints as far as they are valid."""

    parts: LogParts
    recovered: Recovered
    checkpointed: CheckpointedState


def load_log(
    environment: LogEnvironment,
    directory: str,
    config: LogConfig,
    *,
    checkpointed: CheckpointedState,
    listeners: LogListeners,
    progress: LoadProgress | None,
    producer_expiration_ms: int,
) -> LoadedLog:
    """Open what lies in `directory`, or begin a log there. `OSError`.

    Producers are not known yet: they are restored within the log's valid bounds.
    """
    epochs = LeaderEpochs(environment.fs, f"{directory}/{paths.LEADER_EPOCH_CHECKPOINT}")
    epochs.load()
    recovered = Recovery(
        environment.fs,
        directory,
        epochs,
        now_ms=environment.clock.realtime_ms(),
        index_interval_bytes=config.index_interval_bytes,
        # A log that was compacted once has gaps, whatever its policy is now.
        allows_gaps=config.compacts or checkpointed.cleaned_until != NEVER_CLEANED,
        progress=progress,
    ).load(
        recovery_point=checkpointed.recovery_point,
        log_start_offset=checkpointed.log_start_offset,
        clean=checkpointed.is_clean,
    )
    storage = StorageErrors(directory, listeners.on_storage_error)
    local = LocalLog(environment, directory, config, recovered, progress)
    first, end = local.segments[0].base_offset, recovered.log_end_offset
    valid = validated(checkpointed, first, end, directory=directory, progress=progress)
    flusher = Flusher(
        environment,
        local,
        epochs,
        storage,
        recovery_point=valid.recovery_point,
        on_lowered=listeners.on_recovery_point_lowered,
    )
    producers = ProducerStateManager(
        environment, directory, local.segments, expiration_ms=producer_expiration_ms
    )
    roller = Roller(local, epochs, producers.state, flusher, storage)
    parts = LogParts(
        local=local,
        epochs=epochs,
        producers=producers,
        flusher=flusher,
        roller=roller,
        storage=storage,
        staging=Staging(),
    )
    return LoadedLog(parts, recovered, valid)
