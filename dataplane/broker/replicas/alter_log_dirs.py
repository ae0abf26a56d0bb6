"""AlterReplicaLogDirs: lets future replicas catch up a piece at a time, between other work."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.log.manager.log_manager import LogManager
    from dataplane.model.ids import TopicPartition

_log = logging.getLogger(__name__)

PAUSE_S = 0.005
IDLE_PAUSE_S = 0.05
_PIECE_S_MAX = 1.0


class ReplicaAlterLogDirsManager:
    """Runs only while there are future replicas.

    Bound: `replica.alter.log.dirs.io.max.bytes.per.second`.
    """

    def __init__(self, logs: LogManager, configs: ConfigStore) -> None:
        self._configs = configs
        self._future_replicas = logs.future_replicas
        self._task: asyncio.Task[None] | None = None

    def begin(self, topic_partition: TopicPartition, path: str) -> None:
        """Make a future replica in `path`. KafkaError when it cannot be."""
        self._future_replicas.begin(topic_partition, path)
        self._wake()

    def resume(self) -> None:
        """Go on with what the last stop interrupted."""
        self._future_replicas.resume()
        self._wake()

    def _wake(self) -> None:
        if self._future_replicas.is_busy and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._run(), name="alter log dirs")

    async def _run(self) -> None:
        while self._future_replicas.is_busy:
            try:
                copied = self._future_replicas.step()
            except Exception:  # noqa: BLE001 - one replica's trouble must not stop the others
                _log.exception("altering log dirs")
                copied = 0
            config = self._configs.broker_config
            rate = config.get_int("replica.alter.log.dirs.io.max.bytes.per.second")
            pause_s = max(PAUSE_S, copied / max(1, rate)) if copied else IDLE_PAUSE_S
            await asyncio.sleep(min(pause_s, _PIECE_S_MAX))

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
