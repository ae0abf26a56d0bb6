"""Fetch (1), versions 4-17: read batches from a leader, or from a follower for consumers (v11+).

Behaviour: consumers need Read on the topic and see up to the high watermark, or the last stable
offset under read_committed; replicas need ClusterAction, see up to the log end, and their fetch
offset acknowledges everything before it. Whole batches are sent, at least one even if it is larger
than every limit (KIP-74). With less than `min_bytes` the request is parked until an append, the
watermark, a change of leader, or its deadline; not where only a limit or a segment's end keeps more
from being sent. In a compacted log a consumer's answer begins with a record, if one is there to be
read, whatever batches without records lie before it; replicas get every batch.
A follower that is not in sync gets nothing of throttled partitions while the leader's replication
quota is used up (KIP-73); they do not count towards `min_bytes`.
In a fetch session (KIP-227) a request adds to what the session asks for, and an answer leaves out
partitions of which there is nothing new. A follower's partitions that are caught up become idle:
they are not even looked at until something happens to them.
A consumer that names its rack (v11+) is sent to an in-sync follower there, if this leader is set up
so and lies on another rack (KIP-392).
Version notes: 7 has sessions, 9 fences by leader epoch, 12 answers a diverging epoch (KIP-595) and
hints at the leader, 13 names topics by id, 15 moves the replica id into a tag, 16 adds leaders'
endpoints.
Skipped: 0-3 (formats before the record batch), aborted transactions.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from dataplane.broker.delayed.deferred import Deferred
from dataplane.broker.replicas.read_replicas import NONE_PREFERRED
from dataplane.handlers import fetch_route, leader_hints
from dataplane.log.local_log import REACHES_ON
from dataplane.log.opening import NEVER_CLEANED
from dataplane.log.reading.read_memory import TAKEN_BYTES_MAX
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType
from dataplane.timing.purgatory import DelayedOperation, WatchList
from dataplane.wire.fetch_codec import FetchedPartition, encode_fetch_response, parse_fetch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataplane.broker.context import RequestContext
    from dataplane.broker.replicas.partition import Partition
    from dataplane.log.reading.read_memory import ReadMemory
    from dataplane.replication.fetch_sessions import Asked, FetchContext, PartitionKey
    from dataplane.wire.fetch_codec import FetchedFrom, FetchParts, TopicKey

_log = logging.getLogger(__name__)

READ_COMMITTED = 1
FROM_FOLLOWER_FROM = 11
ENDPOINTS_FROM = 16


def handle_frame(context: RequestContext, frame: memoryview, position: int) -> Any:
    version = context.header.api_version
    request = parse_fetch(version, frame, position)
    try:
        session = context.broker.replica_manager.fetch_sessions.open(request, version)
    except KafkaError as error:
        return _refuse_all(context, error)
    fetch = _Fetch(context, request, session)
    fetch_route.note(context, frame, request, fetch.only_partition)
    return fetch.start()


def _refuse_all(context: RequestContext, error: KafkaError) -> list[Any]:
    """The whole request is refused: the fetcher has to begin a new session."""
    header = context.header
    return encode_fetch_response(
        header.api_version, header.correlation_id, (), error_code=error.code
    )


class _Entry:
    """One partition of a request: where to read, or why not."""

    __slots__ = ("error", "partition", "topic", "wanted")

    def __init__(self, topic: str, wanted: FetchedFrom) -> None:
        self.topic = topic
        self.wanted = wanted
        self.partition: Partition | None = None
        self.error: KafkaError | None = None


class _Fetch(DelayedOperation):
    """A Fetch in work.

    Completes when (A) there is an error to answer, or (B) `min_bytes` can be sent, or (C) nothing
    may be waited for, or (D) the deadline has passed.
    """

    __slots__ = (
        "_bytes_max",
        "_context",
        "_entries",
        "_is_replica",
        "_keys",
        "_may_replicate",
        "_news",
        "_request",
        "_session",
        "deferred",
    )

    deferred: Deferred[list[Any]]  # made when there is something to wait for

    def __init__(self, context: RequestContext, request: FetchParts, session: FetchContext) -> None:
        super().__init__()
        self._context = context
        self._request = request
        self._is_replica = is_replica = request.replica_id >= 0
        self._session = session
        self._bytes_max = min(request.max_bytes, context.broker.replica_manager.fetch_bytes_max)
        self._keys: list[tuple[TopicKey, int]] = []
        self._entries: list[_Entry] = []
        self._may_replicate = not is_replica or context.authorize(
            AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
        )
        asked = session.asked
        if not self._may_replicate and session.session is not None:
            asked = session.session.asked()  # what is idle is refused as well
        self._resolve(asked)

    # -- which partitions

    def _resolve(self, asked: Asked) -> None:
        """Find every partition once; what is refused now stays refused."""
        context = self._context
        broker = context.broker
        only_leader = self._is_replica or context.header.api_version < FROM_FOLLOWER_FROM
        find = broker.replica_manager.leader if only_leader else broker.replica_manager.hosted
        for key, partitions in asked:
            self._keys.append((key, len(partitions)))
            name: str | None = (
                key if isinstance(key, str) else broker.metadata_cache.image.names_by_id.get(key)
            )
            refusal: ErrorCode | None = None
            if name is None:
                refusal = ErrorCode.UNKNOWN_TOPIC_ID
            elif not self._may_replicate or (
                not self._is_replica
                and not context.authorize(AclOperation.READ, ResourceType.TOPIC, name)
            ):
                refusal = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            for wanted in partitions:
                entry = _Entry(name or "", wanted)
                self._entries.append(entry)
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

    @property
    def only_partition(self) -> Partition | None:
        """The partition of a request for just one that is served here."""
        return self._entries[0].partition if len(self._entries) == 1 else None

    # -- reading

    def start(self) -> Any:
        """The answer if it is due at once, else its deferred."""
        request = self._request
        if self._is_replica:
            self._acknowledge()
            if self._session.session is not None:
                self._session.session.clock.ms = self._context.broker.clock.monotonic_ms()
        reply = self._answer_if_due()
        if reply is not None:
            return reply
        self.deferred = Deferred()
        self.deferred.on_abandoned = self._abandon
        partitions = [entry.partition for entry in self._entries if entry.partition is not None]
        lists = [each.appended if self._is_replica else each.committed for each in partitions]
        if self._is_replica and self._session.session is not None:
            self._news = WatchList()
            lists.append(self._news)
            self._session.session.on_news = self._on_news
        self._context.broker.replica_manager.fetch_purgatory.add(self, request.max_wait_ms, lists)
        return self.deferred

    def _acknowledge(self) -> None:
        """What a replica asks for says what it has."""
        for entry in self._entries:
            partition, wanted = entry.partition, entry.wanted
            if partition is None:
                continue
            if _divergence(partition, wanted) is None and (
                partition.log.log_start_offset
                <= wanted.fetch_offset
                <= partition.log.log_end_offset
            ):
                partition.on_follower_fetch(
                    self._request.replica_id, wanted.fetch_offset, wanted.log_start_offset
                )

    def _on_news(self) -> None:
        """A partition that was idle has something for us."""
        if self._news:
            self._context.broker.replica_manager.wakeups.wake(self._news)

    def _take_up_woken(self) -> None:
        """What was idle when the request came, and is not any more, is answered with the others."""
        session = self._session.session
        if session is None or not session.is_privileged:
            return
        known = set(self._places())
        woken = [key for key in session.due if key not in known]
        if woken:
            self._resolve(session.asked(woken))

    def _places(self) -> Iterator[PartitionKey]:
        """The partition of each entry."""
        keys = (key for key, count in self._keys for _ in range(count))
        return zip(keys, (entry.wanted.partition for entry in self._entries), strict=True)

    def try_complete(self) -> None:
        self._take_up_woken()
        reply = self._answer_if_due()
        if reply is not None and self.end():
            self.deferred.complete(reply)

    def expire(self) -> None:
        self._take_up_woken()
        results, size, failed = self._read()
        self.deferred.complete(self._encode(results, size, failed=failed))

    def _abandon(self) -> None:
        self.end()

    def _answer_if_due(self) -> list[Any] | None:
        request = self._request
        results, size, failed = self._read()
        if (
            failed
            or size >= request.min_bytes
            or request.max_wait_ms <= 0
            or self._session.is_empty
            or (size and self._is_enough_there(results))
        ):
            return self._encode(results, size, failed=failed)
        return None

    def _is_enough_there(self, results: list[FetchedPartition]) -> bool:
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
        missing = min(self._request.min_bytes, self._bytes_max)
        is_committed_only = self._request.isolation_level == READ_COMMITTED
        for entry, result in zip(self._entries, results, strict=True):
            partition, records, wanted = entry.partition, result.records, entry.wanted
            if partition is None or result.error_code:
                continue
            log = partition.log
            if self._is_replica:
                bound = log.log_end_offset
            else:
                bound = result.last_stable_offset if is_committed_only else result.high_watermark
            if records is not None:
                readable = log.readable_bytes(records, bound)  # type: ignore[arg-type]  # a log slice
                missing -= readable if readable == REACHES_ON else min(readable, wanted.max_bytes)
            elif wanted.fetch_offset < bound and not (
                self._is_replica and self._is_held_back(partition)
            ):
                return 0  # the others took all that may be sent
        return missing

    def _read(self) -> tuple[list[FetchedPartition], int, bool]:
        """Read every partition within the limits: results, bytes, whether something is special."""
        bytes_max = self._bytes_max
        total = 0
        failed = False
        results: list[FetchedPartition] = []
        for entry in self._entries:
            partition = entry.partition
            if partition is None:
                results.append(self._refusal(entry, entry.error))
                failed = True
                continue
            try:
                result = self._read_one(partition, entry.wanted, bytes_max - total, not total)
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

    def _read_one(
        self, partition: Partition, wanted: FetchedFrom, left: int, is_first: bool
    ) -> FetchedPartition:
        """One partition, in at most `left` bytes; its first batch whatever that is, if `is_first`.

        Every fetch of every consumer comes through here.
        """
        log = partition.log
        is_replica = self._is_replica
        if partition.core is None and (
            is_replica or self._context.header.api_version < FROM_FOLLOWER_FROM
        ):
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        partition.check_epoch(wanted.current_leader_epoch)
        aborted = () if self._request.isolation_level == READ_COMMITTED else None
        high_watermark, stable = log.high_watermark, log.last_stable_offset
        preferred, diverging, records = NONE_PREFERRED, None, None
        if self._context.broker.replica_manager.read_replicas.is_active:
            preferred = self._preferred_replica(partition, wanted)
        if preferred == NONE_PREFERRED and wanted.last_fetched_epoch >= 0:
            diverging = _divergence(partition, wanted)
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
        context, rack = self._context, self._request.rack_id
        choice = context.broker.replica_manager.read_replicas
        if not rack or self._is_replica or partition.core is None:
            return NONE_PREFERRED
        return choice.preferred(
            partition,
            rack=rack,
            listener_name=context.connection.listener_name,
            fetch_offset=wanted.fetch_offset,
        )

    def _is_held_back(self, partition: Partition) -> bool:
        """Throttled, the asking replica is out of sync, and the quota is used up (KIP-73)."""
        quota = self._context.broker.replica_manager.quotas.leader
        return (
            quota.is_active
            and quota.is_throttled(*partition.topic_partition)
            and self._request.replica_id not in partition.isr
            and quota.is_exceeded
        )

    # -- answering

    def _refusal(self, entry: _Entry, error: KafkaError | None) -> FetchedPartition:
        code = error.code if error is not None else ErrorCode.UNKNOWN_SERVER_ERROR
        self._context.broker.metrics.refused_fetches.value += 1
        leader = None
        if code in leader_hints.HINTED:
            leader = leader_hints.current_leader(self._context, entry.topic, entry.wanted.partition)
        return FetchedPartition(entry.wanted.partition, code, current_leader=leader)

    def _encode(self, results: list[FetchedPartition], size: int, *, failed: bool) -> list[Any]:
        header = self._context.header
        topics = []
        at = 0
        for key, count in self._keys:
            topics.append((key, results[at : at + count]))
            at += count
        try:
            session_id, sent = self._session.settle(topics)
        except KafkaError as error:
            return _refuse_all(self._context, error)
        hints = (
            leader_hints.endpoints(self._context, (result.current_leader for result in results))
            if failed and header.api_version >= ENDPOINTS_FROM
            else ()
        )
        parts: list[Any] = encode_fetch_response(
            header.api_version,
            header.correlation_id,
            sent,
            session_id=session_id,
            node_endpoints=hints,
        )
        metrics = self._context.broker.metrics
        (metrics.replication_bytes_out if self._is_replica else metrics.bytes_out).value += size
        if self._is_replica:
            self._count_throttled(results)
            self._let_idle(results)
        return parts

    def _let_idle(self, results: list[FetchedPartition]) -> None:
        """What is caught up and was sent everything is not looked at again until it wakes."""
        session = self._session.session
        if session is None:
            return
        for place, entry, result in zip(self._places(), self._entries, results, strict=True):
            if (
                entry.partition is not None
                and place in session.partitions
                and result.records is None
                and result.error_code == 0
                and result.diverging_epoch is None
            ):
                entry.partition.let_idle(
                    self._request.replica_id, entry.wanted.fetch_offset, session, place
                )

    def _count_throttled(self, results: list[FetchedPartition]) -> None:
        """In sync or not, what is sent of throttled partitions uses the quota up."""
        quota = self._context.broker.replica_manager.quotas.leader
        if not quota.is_active:
            return
        size = 0
        for entry, result in zip(self._entries, results, strict=True):
            if result.records is not None and quota.is_throttled(
                entry.topic, entry.wanted.partition
            ):
                size += result.records.size  # type: ignore[union-attr]  # always a log slice here
        if size:
            quota.record(size)


def _divergence(partition: Partition, wanted: FetchedFrom) -> tuple[int, int] | None:
    """Where the asker's log and ours part (KIP-595), None when they agree so far."""
    if wanted.last_fetched_epoch < 0:
        return None
    epoch, end_offset = partition.log.end_offset_for_epoch(wanted.last_fetched_epoch)
    if epoch < 0 or end_offset < 0:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if epoch < wanted.last_fetched_epoch or end_offset < wanted.fetch_offset:
        return epoch, end_offset
    return None
