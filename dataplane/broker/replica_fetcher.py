"""One leading broker's fetcher: a chain of Fetch requests for every partition followed there.

The next request leaves in the very call that handled the last answer, so a busy partition is
replicated without waiting for the loop. When a partition is added while a request is parked at the
leader, a new request goes out on another connection; the parked answer is used if it still fits.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from dataplane.broker.following import Following, NoProgressError
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.wire.codec import decode
from dataplane.wire.errors import WireError
from dataplane.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ReplicaState,
)

if TYPE_CHECKING:
    import uuid

    from dataplane.broker.partition import Partition
    from dataplane.broker.peer_connection import PeerConnection
    from dataplane.broker.services import BrokerServices
    from dataplane.wire.messages.fetch import PartitionData

_log = logging.getLogger(__name__)

VERSION = 17
CHANNELS = ("fetch-0", "fetch-1", "fetch-2", "fetch-3")
RETRY_MIN_S = 0.02


class ReplicaFetcher:
    """Fetches from `leader_id` for as long as anything is followed there."""

    def __init__(self, services: BrokerServices, leader_id: int) -> None:
        self._services = services
        self._leader_id = leader_id
        self._following: dict[TopicPartition, Following] = {}
        config = services.config
        self._wait_ms = config.get_int("replica.fetch.wait.max.ms")
        self._partition_bytes = config.get_int("replica.fetch.max.bytes")
        self._response_bytes = config.get_int("replica.fetch.response.max.bytes")
        self._min_bytes = config.get_int("replica.fetch.min.bytes")
        self._backoff_s = config.get_int("replica.fetch.backoff.ms") / 1000
        self._changed = asyncio.Event()
        self._stopped = False
        self._generation = 0  # of the newest request; older answers do not chain
        self._parked: set[str] = set()
        self._retry_s = RETRY_MIN_S
        self._task = asyncio.get_running_loop().create_task(
            self._run(), name=f"replica fetcher of broker {leader_id}"
        )

    # -- the partition manager's calls

    @property
    def is_empty(self) -> bool:
        return not self._following

    def add(self, partition: Partition) -> None:
        self._following[partition.topic_partition] = Following(partition)
        self._changed.set()

    def remove(self, topic_partition: TopicPartition) -> None:
        self._following.pop(topic_partition, None)

    def hurry(self) -> None:
        """Something about the leader has changed: ask again without waiting out a backoff."""
        if self._retry_s > RETRY_MIN_S:
            self._retry_s = RETRY_MIN_S
            self._changed.set()

    def stop(self) -> None:
        self._stopped = True
        self._following.clear()
        self._task.cancel()

    async def wait_stopped(self) -> None:
        await asyncio.gather(self._task, return_exceptions=True)

    # -- the chain of requests

    async def _run(self) -> None:
        """Start a chain whenever the set of partitions changes or the last chain has ended."""
        while not self._stopped:
            await self._changed.wait()
            # Commands of the controller name many partitions: take them up together.
            await asyncio.sleep(0)
            self._changed.clear()
            try:
                await self._resolve_ranges()
                await self._start_chain()
            except (ConnectionError, TimeoutError, WireError) as error:
                _log.info("fetching from broker %d: %s", self._leader_id, error)
                self._again_later()
            except Exception:  # noqa: BLE001 - else the partitions followed here stand still for good
                _log.exception("fetching from broker %d", self._leader_id)
                self._again_later()

    async def _start_chain(self) -> None:
        channel = next((name for name in CHANNELS if name not in self._parked), None)
        if channel is None or not self._following:
            self._again_later()
            return
        peers = self._services.peers
        connection = await peers.connection(peers.endpoint(self._leader_id), channel=channel)
        self._generation += 1
        self._send(connection, channel, self._generation)

    def _again_later(self) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(self._retry_s, self._changed.set)
        self._retry_s = min(self._retry_s * 2, self._backoff_s)

    def _send(self, connection: PeerConnection, channel: str, generation: int) -> None:
        asked = self._request()
        if asked is None:
            self._again_later()
            return
        request, offsets = asked
        self._parked.add(channel)

        def arrived(frame: memoryview | None, position: int) -> None:
            self._parked.discard(channel)
            if self._stopped:
                return
            if frame is None:
                if generation == self._generation:
                    self._again_later()
                return
            self._take(frame, position, offsets)
            if generation != self._generation:
                return
            if any(f.needs_leader_bounds for f in self._following.values()):
                self._changed.set()
            else:
                self._send(connection, channel, generation)

        connection.send(request, VERSION, arrived)

    def _request(self) -> tuple[FetchRequest, dict[TopicPartition, tuple[Following, int]]] | None:
        """The next request, and from which offset each partition is asked."""
        now_s = asyncio.get_running_loop().time()
        topics: dict[uuid.UUID, FetchTopic] = {}
        offsets: dict[TopicPartition, tuple[Following, int]] = {}
        wait_ms = self._wait_ms
        for topic_partition, following in self._following.items():
            if following.delayed_until_s > now_s:
                left_ms = int((following.delayed_until_s - now_s) * 1000) + 1
                wait_ms = min(wait_ms, left_ms)
                continue
            if self._is_held_back(topic_partition, following):
                continue
            partition = following.partition
            topic = topics.get(partition.topic_id)
            if topic is None:
                topic = topics[partition.topic_id] = FetchTopic(topic_id=partition.topic_id)
            offset = following.fetch_offset
            offsets[topic_partition] = (following, offset)
            topic.partitions.append(
                FetchPartition(
                    partition=topic_partition.partition,
                    current_leader_epoch=following.leader_epoch,
                    fetch_offset=offset,
                    last_fetched_epoch=following.last_fetched_epoch,
                    log_start_offset=partition.log.log_start_offset,
                    partition_max_bytes=self._partition_bytes,
                )
            )
        if not offsets:
            return None
        request = FetchRequest(
            replica_state=ReplicaState(
                replica_id=self._services.broker_id, replica_epoch=self._services.broker_epoch
            ),
            max_wait_ms=wait_ms,
            min_bytes=self._min_bytes,
            max_bytes=self._response_bytes,
            session_id=0,
            session_epoch=-1,
            topics=list(topics.values()),
        )
        return request, offsets

    def _is_held_back(self, topic_partition: TopicPartition, following: Following) -> bool:
        """Left out of the request: throttled, still behind, and the quota is used up (KIP-73)."""
        quota = self._services.partitions.quotas.follower
        return (
            quota.is_active
            and not following.is_in_sync
            and quota.is_throttled(topic_partition.topic, topic_partition.partition)
            and quota.is_exceeded
        )

    def _take(
        self,
        frame: memoryview,
        position: int,
        offsets: dict[TopicPartition, tuple[Following, int]],
    ) -> None:
        """Handle one answer; records are appended straight from the connection's buffer."""
        response, _end = decode(FetchResponse, VERSION, frame, position)
        if response.error_code != ErrorCode.NONE:
            _log.warning(
                "broker %d refuses our fetch: %s",
                self._leader_id,
                ErrorCode.of(response.error_code).name,
            )
            self._delay_all(offsets)
            return
        names = self._services.metadata.image.names_by_id
        by_id = {f.partition.topic_id: tp.topic for tp, (f, _offset) in offsets.items()}
        quota = self._services.partitions.quotas.follower
        size = 0
        for topic in response.responses:
            name = by_id.get(topic.topic_id) or names.get(topic.topic_id)
            for answer in topic.partitions:
                topic_partition = TopicPartition(name or "", answer.partition_index)
                asked = offsets.get(topic_partition)
                if asked is None or self._following.get(topic_partition) is not asked[0]:
                    continue
                following, offset = asked
                taken = self._take_one(following, offset, answer)
                size += taken
                if quota.is_active and quota.is_throttled(*topic_partition):
                    quota.record(taken)
        self._retry_s = RETRY_MIN_S
        self._services.metrics.replication_bytes_in.value += size

    def _take_one(self, following: Following, offset: int, answer: PartitionData) -> int:
        """One partition's part of the answer; bytes appended. What fails is asked again later."""
        try:
            return following.on_answer(offset, answer)
        except KafkaError as error:
            self._delay(following, error.code.name)
        except NoProgressError as error:
            self._delay_in_vain(following, error)
        except Exception as error:  # noqa: BLE001 - one partition must not end the others' chain
            if self._delay(following, str(error)):
                _log.exception("following %s failed", following)
        return 0

    def _delay(self, following: Following, reason: str) -> bool:
        """Back off; says so once, when it has gone on for long. Whether it said so."""
        self._services.metrics.replication_refusals.inc()
        is_long = following.delay(asyncio.get_running_loop().time(), self._backoff_s)
        if is_long:
            _log.warning(
                "%s does not get on behind broker %d: %s; asking every %.1f s from now on",
                following,
                self._leader_id,
                reason,
                self._backoff_s,
            )
        return is_long

    def _delay_in_vain(self, following: Following, error: NoProgressError) -> None:
        self._services.metrics.replication_vain_cuts.inc()
        if following.delay_in_vain(asyncio.get_running_loop().time(), self._backoff_s):
            _log.warning(
                "%s turns in a circle behind broker %d: %s; backing off up to %.1f s",
                following,
                self._leader_id,
                error,
                self._backoff_s,
            )

    def _delay_all(self, offsets: dict[TopicPartition, tuple[Following, int]]) -> None:
        for following, _offset in offsets.values():
            self._delay(following, "the whole fetch is refused")

    # -- out of range

    async def _resolve_ranges(self) -> None:
        """Ask the leader for its log's bounds where ours lies outside them."""
        from dataplane.wire.messages.list_offsets import (
            ListOffsetsPartition,
            ListOffsetsRequest,
            ListOffsetsTopic,
        )

        for topic_partition, following in list(self._following.items()):
            if not following.needs_leader_bounds:
                continue
            bounds = []
            for timestamp in (-2, -1):
                response = await self._services.peers.request(
                    self._leader_id,
                    ListOffsetsRequest(
                        replica_id=self._services.broker_id,
                        topics=[
                            ListOffsetsTopic(
                                name=topic_partition.topic,
                                partitions=[
                                    ListOffsetsPartition(
                                        partition_index=topic_partition.partition,
                                        current_leader_epoch=following.leader_epoch,
                                        timestamp=timestamp,
                                    )
                                ],
                            )
                        ],
                    ),
                    7,
                    timeout_ms=10_000,
                )
                answer = response.topics[0].partitions[0]
                if answer.error_code != ErrorCode.NONE:
                    break
                bounds.append(answer.offset)
            if len(bounds) == 2 and self._following.get(topic_partition) is following:
                try:
                    following.on_leader_bounds(bounds[0], bounds[1])
                except NoProgressError as error:
                    self._delay_in_vain(following, error)
            else:
                following.needs_leader_bounds = False
                self._delay(following, "the leader does not tell its bounds")
