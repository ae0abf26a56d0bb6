"""One shard of transactional ids on its partition of `__transaction_state`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dataplane.broker.coordinator_log.shard_host import ShardHost
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.transactions.outcome import Outcome
from dataplane.transactions.records import TransactionRecord
from dataplane.transactions.shard import TransactionShard

if TYPE_CHECKING:
    from dataplane.broker.replicas.partition import Partition
    from dataplane.broker.transactions.marker_queue import MarkerJob
    from dataplane.broker.transactions.marker_sender import MarkerSender
    from dataplane.ports.clock import Clock
    from dataplane.transactions.markers import Markers
    from dataplane.transactions.outcome import Write
    from dataplane.transactions.settings import TransactionSettings


class TransactionShardHost(ShardHost[TransactionShard, Outcome]):
    """Exists while this broker leads the partition; `is_loaded` once its log has been read."""

    KIND = "transaction records"

    def __init__(
        self,
        partition: Partition,
        settings: TransactionSettings,
        clock: Clock,
        sender: MarkerSender,
        *,
        write_timeout_ms: int,
    ) -> None:
        super().__init__(
            partition,
            TransactionShard(settings, clock),
            clock,
            write_timeout_ms=write_timeout_ms,
        )
        self._sender = sender
        self._sending: dict[int, MarkerJob] = {}

    def replay(self, key: bytes, value: bytes | None) -> None:
        """Apply a committed record; ValueError for an unknown version."""
        self.shard.replay(TransactionRecord(key, value))

    async def _settled(self) -> None:
        """Markers are sent for decisions that are committed, not for those that may be lost again
        with this leader: an abort could follow the commit then.
        """
        committed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def on_committed(is_committed: bool) -> None:
            if not committed.done():
                committed.set_result(is_committed)

        end_offset = self._partition.log.log_end_offset
        if self._partition.when_committed(end_offset, on_committed):
            return
        if not await committed:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def close(self) -> None:
        """Leadership is gone, or the broker stops: the next coordinator goes on."""
        for job in self._sending.values():
            self._sender.drop(job)
        self._sending.clear()
        super().close()

    def carry_out(self, outcome: Outcome) -> None:
        for markers in outcome.markers:
            self._sending[id(markers)] = self._sender.send(
                markers, self._coordinator_epoch, self._on_markers_written
            )
        super().carry_out(outcome)

    def _coordinator_epoch(self) -> int:
        """Higher on every later coordinator, so that its markers win (KIP-98)."""
        return self._partition.leader_epoch

    def _on_markers_written(self, markers: Markers) -> None:
        self._sending.pop(id(markers), None)
        self.carry_out(self.shard.markers_written(markers))

    def _on_late(self, write: Write) -> None:
        """A decision whose fate was unknown is committed: it is carried on."""
        self.carry_out(write.on_done(ErrorCode.NONE))
