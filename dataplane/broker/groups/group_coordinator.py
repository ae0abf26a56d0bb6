"""This broker as group coordinator: a shard for each partition of `__consumer_offsets` it leads.

What a handler asks comes through here and goes straight to the part of the shard that decides it.

Errors that concern the coordinator, not the group, are raised as KafkaError: INVALID_GROUP_ID,
COORDINATOR_NOT_AVAILABLE (stopping), COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import TYPE_CHECKING, cast

from dataplane.broker.groups.shard_host import GroupShardHost
from dataplane.broker.groups.topic_catalogue import MetadataTopics
from dataplane.cluster.topic_names import OFFSETS_TOPIC
from dataplane.groups.consumer.assignors import KAFKAS_CLASSES
from dataplane.groups.consumer.offset_checks import check_fetch
from dataplane.groups.requests import JoinResult, SyncResult
from dataplane.groups.settings import ConsumerTimings, GroupSettings, MigrationPolicy
from dataplane.groups.tally import GroupTally
from dataplane.model.coordinator_partition import partition_for
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.broker.coordinator_log.leadership_proof import LeadershipProof
    from dataplane.broker.coordinator_log.shard_host import Answered
    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.replicas.partition import Partition
    from dataplane.broker.replicas.replica_manager import ReplicaManager
    from dataplane.cluster.image import ClusterImage
    from dataplane.config.broker_config import BrokerConfig
    from dataplane.groups.consumer.requests import (
        ConsumerGroupDescription,
        ConsumerHeartbeat,
        ConsumerHeartbeatResult,
    )
    from dataplane.groups.consumer.topics import TopicCatalogue
    from dataplane.groups.outcome import Producer
    from dataplane.groups.requests import (
        CommitRequest,
        CommittedOffset,
        GroupDescription,
        JoinRequest,
        LeavingMember,
        LeftMember,
        ListedGroup,
        SyncRequest,
    )
    from dataplane.ports.clock import Clock
    from dataplane.ports.entropy import Entropy

_log = logging.getLogger(__name__)


def settings_from(config: BrokerConfig) -> GroupSettings:
    return GroupSettings(
        min_session_timeout_ms=config.get_int("group.min.session.timeout.ms"),
        max_session_timeout_ms=config.get_int("group.max.session.timeout.ms"),
        consumer_session_timeout_ms=config.get_int("group.consumer.session.timeout.ms"),
        consumer_heartbeat_interval_ms=config.get_int("group.consumer.heartbeat.interval.ms"),
        consumer_max_size=config.get_int("group.consumer.max.size"),
        consumer_assignors=tuple(
            KAFKAS_CLASSES.get(name, name) for name in config.get_list("group.consumer.assignors")
        ),
        consumer_regex_refresh_interval_ms=config.get_int(
            "group.consumer.regex.refresh.interval.ms"
        ),
        migration_policy=MigrationPolicy(config.get_str("group.consumer.migration.policy").lower()),
        initial_rebalance_delay_ms=config.get_int("group.initial.rebalance.delay.ms"),
        max_size=config.get_int("group.max.size"),
        offset_metadata_max_bytes=config.get_int("offset.metadata.max.bytes"),
        offsets_retention_ms=config.get_int("offsets.retention.minutes") * 60_000,
    )


class GroupCoordinator:
    """Routes requests to shards, loads and unloads them as leadership moves."""

    def __init__(
        self,
        replica_manager: ReplicaManager,
        metadata_cache: MetadataCache,
        configs: ConfigStore,
        clock: Clock,
        entropy: Entropy,
        *,
        proof: LeadershipProof,
    ) -> None:
        self._proof = proof
        self._replica_manager = replica_manager
        self._metadata_cache = metadata_cache
        self._configs = configs
        self._clock = clock
        self._entropy = entropy
        self._settings = settings_from(configs.broker_config)
        self._topics = MetadataTopics(metadata_cache)
        self.tally = GroupTally()
        self._shards: dict[int, GroupShardHost] = {}
        self._expiry: asyncio.Task[None] | None = None
        self._is_stopping = False

    async def start(self) -> None:
        """Follow leadership from now on; partitions that are led already are loaded too."""
        self._replica_manager.on_leadership(self._on_leadership)
        self._metadata_cache.on_change(self._on_metadata)
        for partition in self._replica_manager.led():
            self._on_leadership(partition.topic_partition, True, partition.leader_epoch)
        self._expiry = asyncio.create_task(self._expire_forever(), name="offset expiry")

    async def stop(self) -> None:
        self._is_stopping = True
        if self._expiry is not None:
            self._expiry.cancel()
            await asyncio.gather(self._expiry, return_exceptions=True)
        for host in self._shards.values():
            host.close()
        self._shards.clear()

    # finding the shard

    @property
    def partition_count(self) -> int:
        """Partitions of the offsets topic: as it is, or as it will be created."""
        topic = self._metadata_cache.image.topics.get(OFFSETS_TOPIC)
        if topic is not None:
            return len(topic.partitions)
        return self._configs.broker_config.get_int("offsets.topic.num.partitions")

    def partition_of(self, group_id: str) -> TopicPartition:
        return TopicPartition(OFFSETS_TOPIC, partition_for(group_id, self.partition_count))

    def _host(self, group_id: str, *, may_be_blank: bool = False) -> GroupShardHost:
        """`may_be_blank`: offsets may be kept under the empty group id, as Kafka allows."""
        if not group_id and not may_be_blank:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID)
        if self._is_stopping:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        # Without the topic in the image its partition count is a guess, and a wrong guess would
        # keep a group where nobody looks for it.
        is_known = OFFSETS_TOPIC in self._metadata_cache.image.topics
        host = self._shards.get(self.partition_of(group_id).partition) if is_known else None
        if host is None:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        if not host.is_loaded:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return host

    # counting

    def count_groups(self) -> Counter[tuple[str, str]]:
        """Groups coordinated here by protocol (`classic`, `consumer`) and state."""
        counts: Counter[tuple[str, str]] = Counter()
        for host in self._shards.values():
            if host.is_loaded:
                counts.update(host.shard.count_groups())
        return counts

    @property
    def offset_count(self) -> int:
        """Offsets that groups coordinated here have committed."""
        return sum(host.shard.offset_count for host in self._shards.values() if host.is_loaded)

    def load_times_ms(self) -> list[int]:
        """How long reading each partition took that is coordinated here."""
        return [host.load_ms for host in self._shards.values() if host.is_loaded]

    # membership

    async def join(self, request: JoinRequest) -> JoinResult:
        host = self._host(request.group_id)
        reply = await host.ask(lambda ticket: host.shard.joining.join(request, ticket))
        return cast("JoinResult", reply)

    async def sync(self, request: SyncRequest) -> SyncResult:
        host = self._host(request.group_id)
        reply = await host.ask(lambda ticket: host.shard.syncing.sync(request, ticket))
        return cast("SyncResult", reply)

    def heartbeat(
        self, group_id: str, member_id: str, group_instance_id: str | None, generation: int
    ) -> ErrorCode:
        host = self._host(group_id)
        error = host.shard.membership.heartbeat(group_id, member_id, group_instance_id, generation)
        host.arm_timer()  # it may have told the member to join again within some time
        return error

    def leave(
        self, group_id: str, members: list[LeavingMember]
    ) -> tuple[ErrorCode, list[LeftMember]]:
        host = self._host(group_id)
        outcome, error, left = host.shard.membership.leave(group_id, members)
        host.carry_out(outcome)
        return error, left

    async def consumer_heartbeat(self, request: ConsumerHeartbeat) -> ConsumerHeartbeatResult:
        host = self._host(request.group_id, may_be_blank=True)
        reply = await host.ask(lambda ticket: host.shard.consumers.heartbeat(request, ticket))
        return cast("ConsumerHeartbeatResult", reply)

    # offsets

    def commit(self, request: CommitRequest, answered: Answered) -> None:
        """`answered` gets a dict from partition to error code, perhaps at once."""
        host = self._host(request.group_id, may_be_blank=True)
        host.put(lambda ticket: host.shard.offsets.commit(request, ticket), answered)

    async def commit_in_transaction(
        self, request: CommitRequest, producer: Producer
    ) -> dict[TopicPartition, ErrorCode]:
        """Stored at once; counts when the marker of the producer's transaction says so."""
        host = self._host(request.group_id, may_be_blank=True)
        reply = await host.ask(
            lambda ticket: host.shard.offsets.transactional.commit(request, producer, ticket)
        )
        return cast("dict[TopicPartition, ErrorCode]", reply)

    def coordinated_partition(self, group_id: str) -> TopicPartition:
        """Where the group's offsets are kept. KafkaError if it is not here, or not yet."""
        self._host(group_id, may_be_blank=True)
        return self.partition_of(group_id)

    def end_transaction(self, index: int, producer_id: int, *, is_commit: bool) -> None:
        """A marker is committed in partition `index` of the offsets topic."""
        host = self._shards.get(index)
        if host is not None:
            host.marker_written(producer_id, is_commit=is_commit)

    def check_fetch(self, group_id: str, member_id: str | None, member_epoch: int) -> None:
        """KafkaError when a consumer group has no such member, or not with this epoch."""
        shard = self._host(group_id, may_be_blank=True).shard
        error = check_fetch(shard.core, group_id, member_id, member_epoch)
        if error is not ErrorCode.NONE:
            raise KafkaError(error)

    async def doubts(self, group_ids: Iterable[str]) -> dict[str, ErrorCode]:
        """Groups whose offsets may not be read here now: another broker may have newer ones."""
        asked: dict[TopicPartition, list[str]] = {}
        for group_id in group_ids:
            asked.setdefault(self.partition_of(group_id), []).append(group_id)
        led = [each for each in map(self._replica_manager.get, asked) if each is not None]
        answers = await asyncio.gather(*map(self._doubt, led))
        return {
            group_id: error
            for partition, error in zip(led, answers, strict=True)
            if error is not ErrorCode.NONE
            for group_id in asked[partition.topic_partition]
        }

    async def _doubt(self, partition: Partition) -> ErrorCode:
        error = await self._proof.ask(partition)
        host = self._shards.get(partition.topic_partition.partition)
        if error is not ErrorCode.NONE or host is None:
            return error
        is_committed = partition.high_watermark >= host.loaded_to
        return ErrorCode.NONE if is_committed else ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    def fetch_offsets(
        self,
        group_id: str,
        partitions: Iterable[TopicPartition] | None,
        *,
        require_stable: bool = False,
    ) -> dict[TopicPartition, CommittedOffset]:
        shard = self._host(group_id, may_be_blank=True).shard
        return shard.offsets.fetch(group_id, partitions, require_stable=require_stable)

    async def delete_offsets(
        self, group_id: str, partitions: list[TopicPartition]
    ) -> tuple[ErrorCode, dict[TopicPartition, ErrorCode]]:
        host = self._host(group_id)
        reply = await host.ask(
            lambda ticket: host.shard.offsets.delete(group_id, partitions, ticket)
        )
        return cast("tuple[ErrorCode, dict[TopicPartition, ErrorCode]]", reply)

    async def delete_group(self, group_id: str) -> ErrorCode:
        host = self._host(group_id, may_be_blank=True)
        reply = await host.ask(lambda ticket: host.shard.offsets.delete_group(group_id, ticket))
        return cast("ErrorCode", reply)

    # views

    def describe(self, group_id: str) -> GroupDescription:
        return self._host(group_id, may_be_blank=True).shard.describe(group_id)

    def describe_consumer_group(self, group_id: str) -> ConsumerGroupDescription:
        return self._host(group_id).shard.consumers.describe(group_id)

    @property
    def topics(self) -> TopicCatalogue:
        """The topics that consumer groups see, by name and id."""
        return self._topics

    def list_groups(self) -> tuple[ErrorCode, list[ListedGroup]]:
        """Groups coordinated here; COORDINATOR_LOAD_IN_PROGRESS when some are still being read."""
        if self._is_stopping:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE, []
        listed = [
            group
            for host in self._shards.values()
            if host.is_loaded
            for group in host.shard.list_groups()
        ]
        if all(host.is_loaded for host in self._shards.values()):
            return ErrorCode.NONE, listed
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, listed

    # what moves shards

    def _on_leadership(
        self, topic_partition: TopicPartition, is_leader: bool, _leader_epoch: int
    ) -> None:
        if topic_partition.topic != OFFSETS_TOPIC or self._is_stopping:
            return
        index = topic_partition.partition
        if not is_leader:
            host = self._shards.pop(index, None)
            if host is not None:
                host.close()
            return
        partition = self._replica_manager.get(topic_partition)
        if index in self._shards or partition is None:
            return  # still the leader, in a new epoch: what was loaded still holds
        host = GroupShardHost(
            partition,
            self._settings,
            self._clock,
            self._entropy,
            self._topics,
            timings_of=self._timings_of,
            tally=self.tally,
            write_timeout_ms=self._configs.broker_config.get_int("offsets.commit.timeout.ms"),
        )
        self._shards[index] = host
        host.start_loading()

    def _timings_of(self, group_id: str) -> ConsumerTimings:
        config = self._configs.group_config(group_id)
        return ConsumerTimings(
            config.get_int("consumer.session.timeout.ms"),
            config.get_int("consumer.heartbeat.interval.ms"),
        )

    def _on_metadata(self, before: ClusterImage, after: ClusterImage) -> None:
        """Offsets of deleted topics go at once; a topic created again has another id."""
        if before.topics is after.topics:
            return
        self._topics.on_change(before, after)
        gone = set()
        for name, topic in before.topics.items():
            now = after.topics.get(name)
            if now is not topic and (now is None or now.topic_id != topic.topic_id):
                gone.add(name)
        if not gone:
            return
        for host in self._shards.values():
            if host.is_loaded:
                host.carry_out(host.shard.offsets.remove_topics(frozenset(gone)))

    async def _expire_forever(self) -> None:
        interval_ms = self._configs.broker_config.get_int("offsets.retention.check.interval.ms")
        while True:
            await asyncio.sleep(interval_ms / 1000)
            for host in list(self._shards.values()):
                if not host.is_loaded:
                    continue
                try:
                    host.carry_out(host.shard.offsets.expire())
                except Exception:  # noqa: BLE001 - the other shards and the next round go on
                    _log.exception("the expiry of offsets failed")
