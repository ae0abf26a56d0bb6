"""One group shard on its partition of `__consumer_offsets`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.broker.coordinator_log.shard_host import ShardHost
from dataplane.groups.outcome import Outcome
from dataplane.groups.records import CoordinatorRecord
from dataplane.groups.shard import GroupShard

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.broker.replicas.partition import Partition
    from dataplane.groups.consumer.topics import TopicCatalogue
    from dataplane.groups.outcome import Write
    from dataplane.groups.settings import ConsumerTimings, GroupSettings
    from dataplane.groups.tally import GroupTally
    from dataplane.ports.clock import Clock
    from dataplane.ports.entropy import Entropy


class GroupShardHost(ShardHost[GroupShard, Outcome]):
    """Exists while this broker leads the partition; `is_loaded` once its log has been read."""

    KIND = "group records"

    def __init__(
        self,
        partition: Partition,
        settings: GroupSettings,
        clock: Clock,
        entropy: Entropy,
        topics: TopicCatalogue,
        *,
        timings_of: Callable[[str], ConsumerTimings],
        tally: GroupTally,
        write_timeout_ms: int,
    ) -> None:
        super().__init__(
            partition,
            GroupShard(settings, clock, entropy, topics, timings_of=timings_of, tally=tally),
            clock,
            write_timeout_ms=write_timeout_ms,
        )
        self._late_markers: list[tuple[int, bool]] = []

    def replay(self, key: bytes, value: bytes | None) -> None:
        """Apply a committed record; ValueError for an unknown version."""
        self.shard.replay(CoordinatorRecord(key, value))

    def replay_in_transaction(self, producer_id: int, key: bytes, value: bytes | None) -> None:
        self.shard.replay_in_transaction(producer_id, CoordinatorRecord(key, value))

    def transaction_ended(self, producer_id: int, *, is_commit: bool) -> None:
        """A marker was met while the log is read."""
        self.shard.core.durable.end_transaction(producer_id, is_commit=is_commit)

    def marker_written(self, producer_id: int, *, is_commit: bool) -> None:
        """A marker was appended and is committed; perhaps behind what is still being read."""
        if self.is_loaded:
            self.shard.offsets.end_transaction(producer_id, is_commit=is_commit)
        else:
            self._late_markers.append((producer_id, is_commit))

    async def _settled(self) -> None:
        for producer_id, is_commit in self._late_markers:
            self.transaction_ended(producer_id, is_commit=is_commit)
        self._late_markers.clear()

    def _replay_write(self, write: Write) -> None:
        for record in write.records:
            if write.producer is None:
                self.shard.replay(record)
            else:
                self.shard.replay_in_transaction(write.producer[0], record)

    def _on_late(self, write: Write) -> None:
        """Committed after it was reported as timed out: it is what the log says all the same."""
        self.carry_out(self.shard.stored_late(write.records))
