"""The partitions of one Fetch: found once, acknowledged by replicas, read within the limits."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.broker.replicas.read_replicas import NONE_PREFERRED
from dataplane.handlers import leader_hints
from dataplane.log.local_log import REACHES_ON
from dataplane.log.opening import NEVER_CLEANED
from dataplane.log.reading.read_memory import TAKEN_BYTES_MAX
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType
from dataplane.wire.fetch_codec import FetchedPartition

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dataplane.broker.context import RequestContext
    from dataplane.broker.replicas.partition import Partition
    from dataplane.log.reading.read_memory import ReadMemory
    from dataplane.replication.fetch_sessions import Asked, PartitionKey
    from dataplane.wire.fetch_codec import FetchedFrom, FetchParts, TopicKey

_log = logging.getLogger(__name__)

READ_COMMITTED = 1
FROM_FOLLOWER_FROM = 11
_ZSTD = "zstd"


class FetchEntry:
    """One partition of a request: where to read, or why not."""

    __slots__ = ("error", "partition", "topic", "wanted")

    def __init__(self, topic: str, wanted: FetchedFrom) -> None:
        self.topic = topic
        self.wanted = wanted
        self.partition: Partition | None = None
        self.error: KafkaError | None = None


class FetchPartitions:
    """What a Fetch asks for. `is_replica`: a broker asks, which by that says what it has.

    `keys` are the topics as they were named, each with the number of its `entries`.
    """

    __slots__ = (
        "_bytes_max",
        "_context",
        "entries",
        "is_replica",
        "keys",
        "may_replicate",
        "request",
    )

    def __init__(self, context: RequestContext, request: FetchParts) -> None:
        self._context = context
        self.request = request
        self.is_replica = is_replica = request.replica_id >= 0
        self._bytes_max = min(request.max_bytes, context.broker.replica_manager.fetch_bytes_max)
        self.keys: list[tuple[TopicKey, int]] = []
        self.entries: list[FetchEntry] = []
        self.may_replicate = not is_replica or context.authorize(
            AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
        )
        if context.metering is not None:
            if is_replica and self.may_replicate:
                context.metering.exempt()
            else:
                self._bytes_max = min(self._bytes_max, context.metering.fetch_bytes_max)

    # -- which partitions

    def resolve(self, asked: Asked) -> None:
        """Find every partition once; what is refused now stays refused."""
        context = self._context
        broker = context.broker
        only_leader = self.is_replica or context.header.api_version < FROM_FOLLOWER_FROM
        find = broker.replica_manager.leader if only_leader else broker.replica_manager.hosted
        for key, partitions in asked:
            self.keys.append((key, len(partitions)))
            name: str | None = (
                key if isinstance(key, str) else broker.metadata_cache.image.names_by_id.get(key)
            )
            refusal: ErrorCode | None = None
            if name is None:
                refusal = ErrorCode.UNKNOWN_TOPIC_ID
            elif not self.may_replicate or (
                not self.is_replica
                and not context.authorize(AclOperation.READ, ResourceType.TOPIC, name)
            ):
                refusal = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            for wanted in partitions:
                entry = FetchEntry(name or "", wanted)
                self.entries.append(entry)
                try:
                    if refusal is not None:
                        raise KafkaError(refusal)
                    partition = find(TopicPartition(entry.topic, wanted.partition))
                    if not isinstance(key, str) and partition.topic_id.int not in (0, key.int):
                        # Created once more under its name: the metadata and the replica here are
                        # not of the same topic (yet).
                        raise KafkaError(ErrorCode.INCONSISTENT_TOPIC_ID)
                    partition.check_epoch(wanted.current_leader_epoch)
                    entry.partition = partition
                except KafkaError as error:
                    entry.error = error

    def refuse_zstd(self) -> None:
        """For clients that cannot read it. As in Kafka by `compression.type` of the topic alone."""
        for entry in self.entries:
            if entry.partition is not None and entry.partition.log.config.compression_type == _ZSTD:
                entry.partition = None
                entry.error = KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)

    def places(self) -> Iterator[PartitionKey]:
        """The partition of each entry."""
        keys = (key for key, count in self.keys for _ in range(count))
        return zip(keys, (entry.wanted.partition for entry in self.entries), strict=True)

    # -- replicas

    def acknowledge(self) -> None:
        """What a replica asks for says what it has."""
        for entry in self.entries:
            partition, wanted = entry.partition, entry.wanted
            if partition is None:
                continue
            if divergence(partition, wanted) is None and (
                partition.log.log_start_offset
                <= wanted.fetch_offset
                <= partition.log.log_end_offset
            ):
                partition.on_follower_fetch(
                    self.request.replica_id, wanted.fetch_offset, wanted.log_start_offset
                )

    def _is_held_back(self, partition: Partition) -> bool:
        """Throttled, the asking replica is out of sync, and the quota is used up (KIP-73).

        One that is proposed for the ISR, or is about to be, counts as in sync, which it does not in
        Kafka: writes with acks=all wait for it already.
        """
        quota = self._context.broker.replica_manager.quotas.leader
        return (
            quota.is_active
            and quota.is_throttled(*partition.topic_partition)
            and quota.is_exceeded
            and not partition.waits_for(self.request.replica_id)
        )

    def count_throttled(self, results: list[FetchedPartition]) -> None:
        """In sync or not, what is sent of throttled partitions uses the quota up."""
        quota = self._context.broker.replica_manager.quotas.leader
        if not quota.is_active:
            return
        size = 0
        for entry, result in zip(self.entries, results, strict=True):
            if result.records is not None and quota.is_throttled(
                entry.topic, entry.wanted.partition
            ):
                size += result.records.size  # type: ignore[union-attr]  # always a log slice here
        if size:
            quota.record(size)

    # -- reading

    def read(self) -> tuple[list[FetchedPartition], int, bool]:
        """Read every partition within the limits: results, bytes, whether something is special."""
        bytes_max = self._bytes_max
        total = 0
        failed = False
        results: list[FetchedPartition] = []
        for entry in self.entries:
            partition = entry.partition
            if partition is None:
                results.append(self._refusal(entry, entry.error))
                failed = True
                continue
            try:
                result = self.read_one(partition, entry.wanted, bytes_max - total, not total)
            except KafkaError as error:
                results.append(self._refusal(entry, error))
                failed = True
                continue
            except OSError:
                _log.exception("reading %s", partition.topic_partition)
                results.append(
                    FetchedPartition(entry.wanted.partition, ErrorCode.KAFKA_STORAGE_ERROR)
                )
                failed = True
                continue
            if result.records is not None:
                total += result.records.size  # type: ignore[union-attr]  # always a log slice here
            elif result.diverging_epoch is not None or result.preferred_read_replica >= 0:
                failed = True
            results.append(result)
        return results, total, failed

    def read_one(
        self, partition: Partition, wanted: FetchedFrom, left: int, is_first: bool
    ) -> FetchedPartition:
        """One partition, in at most `left` bytes; its first batch whatever that is, if `is_first`.

        Every fetch of every consumer comes through here.
        """
        log = partition.log
        is_replica = self.is_replica
        if partition.core is None and (
            is_replica or self._context.header.api_version < FROM_FOLLOWER_FROM
        ):
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        partition.check_epoch(wanted.current_leader_epoch)
        is_committed_only = self.request.isolation_level == READ_COMMITTED
        aborted: Sequence[tuple[int, int]] | None = () if is_committed_only else None
        high_watermark, stable = log.high_watermark, log.last_stable_offset
        preferred, diverging, records = NONE_PREFERRED, None, None
        if self._context.broker.replica_manager.read_replicas.is_active:
            preferred = self._preferred_replica(partition, wanted)
        if preferred == NONE_PREFERRED and wanted.last_fetched_epoch >= 0:
            diverging = divergence(partition, wanted)
        if preferred == NONE_PREFERRED and diverging is None:
            if is_replica:
                bound = log.log_end_offset
            else:
                bound = high_watermark if aborted is None else stable
            offset = wanted.fetch_offset
            if not log.log_start_offset <= offset <= log.log_end_offset:
                raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
            if (
                offset < bound
                and (left > 0 or is_first)
                and not (is_replica and self._is_held_back(partition))
            ):
                limit = max(0, min(left, wanted.max_bytes))
                memory: ReadMemory | None = self._context.broker.replica_manager.read_memory
                if self._bytes_max - left + limit > TAKEN_BYTES_MAX:
                    memory = None  # else what was read for the partitions before would be lost
                records = log.read(offset, limit, bound, min_one_batch=is_first, memory=memory)
                if records.size == 0:
                    records = None
                elif log.cleaned_until != NEVER_CLEANED and not is_replica:
                    records = log.past_empty(records, limit, bound, min_one_batch=is_first)
                    records = records if records.size else None
                if aborted is not None and records is not None and not is_replica:
                    aborted = log.aborted_in(records, bound)
        return FetchedPartition(
            wanted.partition,
            0,
            high_watermark,
            stable,
            log.log_start_offset,
            aborted,
            preferred,
            records,
            diverging,
        )

    def _preferred_replica(self, partition: Partition, wanted: FetchedFrom) -> int:
        """Where a consumer should read instead of here, the leader (KIP-392)."""
        context, rack = self._context, self.request.rack_id
        choice = context.broker.replica_manager.read_replicas
        if not rack or self.is_replica or partition.core is None:
            return NONE_PREFERRED
        return choice.preferred(
            partition,
            rack=rack,
            listener_name=context.connection.listener_name,
            fetch_offset=wanted.fetch_offset,
        )

    def _refusal(self, entry: FetchEntry, error: KafkaError | None) -> FetchedPartition:
        code = error.code if error is not None else ErrorCode.UNKNOWN_SERVER_ERROR
        self._context.broker.metrics.refused_fetches.value += 1
        leader = None
        if code in leader_hints.HINTED:
            leader = leader_hints.current_leader(self._context, entry.topic, entry.wanted.partition)
        return FetchedPartition(entry.wanted.partition, code, current_leader=leader)

    def is_enough_there(self, results: list[FetchedPartition]) -> bool:
        """Whether there are `min_bytes` of which limits or a segment's end let less through.

        As in Kafka: a partition counts with what is there, up to its own limit, and whoever reads
        in an older segment than the bound's does not wait at all.
        """
        try:
            return self._lacks(results) <= 0
        except OSError:
            _log.exception("looking for more to read")
            return True  # what was read goes out, and the next request meets the error

    def _lacks(self, results: list[FetchedPartition]) -> int:
        missing = min(self.request.min_bytes, self._bytes_max)
        is_committed_only = self.request.isolation_level == READ_COMMITTED
        for entry, result in zip(self.entries, results, strict=True):
            partition, records, wanted = entry.partition, result.records, entry.wanted
            if partition is None or result.error_code:
                continue
            log = partition.log
            if self.is_replica:
                bound = log.log_end_offset
            else:
                bound = result.last_stable_offset if is_committed_only else result.high_watermark
            if records is not None:
                readable = log.readable_bytes(records, bound)  # type: ignore[arg-type]  # a log slice
                missing -= readable if readable == REACHES_ON else min(readable, wanted.max_bytes)
            elif wanted.fetch_offset < bound and not (
                self.is_replica and self._is_held_back(partition)
            ):
                return 0  # the others took all that may be sent
        return missing


def divergence(partition: Partition, wanted: FetchedFrom) -> tuple[int, int] | None:
    """Where the asker's log and ours part (KIP-595), None when they agree so far."""
    if wanted.last_fetched_epoch < 0:
        return None
    epoch, end_offset = partition.log.end_offset_for_epoch(wanted.last_fetched_epoch)
    if epoch < 0 or end_offset < 0:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if epoch < wanted.last_fetched_epoch or end_offset < wanted.fetch_offset:
        return epoch, end_offset
    return None
