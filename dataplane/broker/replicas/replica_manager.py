"""Every replica on this broker, and what the controller's commands do to them."""

from __future__ import annotations

import errno
import logging
from typing import TYPE_CHECKING

from dataplane.broker.delayed.purgatory import DelayedOperationPurgatory
from dataplane.broker.delayed.waiting import Wakeups
from dataplane.broker.replicas.partition import Partition
from dataplane.broker.replicas.removed_replicas import RemovedReplicas
from dataplane.broker.replicas.staged_appends import StagedAppends
from dataplane.log.config import LogConfig
from dataplane.log.reading.read_memory import ReadMemory
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from dataplane.broker.broker_lifecycle import BrokerLifecycle
    from dataplane.broker.metadata.config_store import ConfigStore
    from dataplane.broker.metadata.metadata_cache import MetadataCache
    from dataplane.broker.replicas.alter_log_dirs import ReplicaAlterLogDirsManager
    from dataplane.broker.replicas.alter_partition_manager import AlterPartitionManager
    from dataplane.broker.replicas.read_replicas import ReadReplicas
    from dataplane.broker.replicas.replica_fetchers import ReplicaFetchers
    from dataplane.broker.replicas.replication_quotas import ReplicationQuotas
    from dataplane.log.manager.log_manager import LogManager
    from dataplane.log.partition_log import PartitionLog
    from dataplane.model.partition import PartitionState
    from dataplane.ports.clock import Clock
    from dataplane.replication.fetch_sessions import FetchManager

    LeadershipListener = Callable[[TopicPartition, bool, int], None]

_log = logging.getLogger(__name__)


class ReplicaManager:
    """Owns the partitions, their roles, the fetchers of the followers, the ISR proposals."""

    def __init__(
        self,
        logs: LogManager,
        *,
        lifecycle: BrokerLifecycle,
        clock: Clock,
        configs: ConfigStore,
        metadata_cache: MetadataCache,
        alter_partition_manager: AlterPartitionManager,
        fetchers: ReplicaFetchers,
        quotas: ReplicationQuotas,
        fetch_sessions: FetchManager,
        read_replicas: ReadReplicas,
        alter_log_dirs: ReplicaAlterLogDirsManager,
    ) -> None:
        self.logs = logs
        self.alter_partition_manager = alter_partition_manager
        self.fetchers = fetchers
        self.quotas = quotas
        self.fetch_sessions = fetch_sessions
        self.read_replicas = read_replicas
        self.alter_log_dirs = alter_log_dirs
        self._lifecycle = lifecycle
        self._clock = clock
        self._configs = configs
        self._metadata_cache = metadata_cache
        self.appends = StagedAppends()
        self.read_memory = ReadMemory()
        self.wakeups = Wakeups()
        self.produce_purgatory = DelayedOperationPurgatory()
        self.fetch_purgatory = DelayedOperationPurgatory()
        self.delete_records_purgatory = DelayedOperationPurgatory()
        self.controller_epoch = -1
        self.fetch_bytes_max = configs.broker_config.get_int("fetch.max.bytes")
        logs.future_replicas.on_promoted(self._promoted)
        self._partitions: dict[TopicPartition, Partition] = {}
        self._owed_roles: dict[TopicPartition, tuple[uuid.UUID, PartitionState, bool]] = {}
        self._removed = RemovedReplicas()
        self._listeners: list[LeadershipListener] = []
        alter_partition_manager.past_controller.on_superseded(self._superseded)

    # -- looking up

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._partitions.values())

    def __len__(self) -> int:
        return len(self._partitions)

    def get(self, topic_partition: TopicPartition) -> Partition | None:
        return self._partitions.get(topic_partition)

    def hosted(self, topic_partition: TopicPartition) -> Partition:
        """A replica on this broker in any role. KafkaError when it is elsewhere or unknown."""
        partition = self._partitions.get(topic_partition)
        if partition is None:
            topic = self._metadata_cache.image.topics.get(topic_partition.topic)
            if topic is None or topic_partition.partition >= len(topic.partitions):
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return partition

    def leader(self, topic_partition: TopicPartition) -> Partition:
        """The replica that leads here. KafkaError when it does not, or nobody knows it."""
        partition = self._partitions.get(topic_partition) or self.hosted(topic_partition)
        if partition.core is None:
            if partition.log.has_failed:
                raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "its log directory has failed")
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return partition

    def on_leadership(self, listener: LeadershipListener) -> None:
        """`listener(topic_partition, is_leader, leader_epoch)` after every change of role here."""
        self._listeners.append(listener)

    # -- the controller's commands

    def check_controller(self, controller_epoch: int, broker_epoch: int) -> ErrorCode:
        """Refuse a deposed controller, and commands meant for an earlier life of this broker."""
        if controller_epoch < self.controller_epoch:
            return ErrorCode.STALE_CONTROLLER_EPOCH
        if broker_epoch not in (-1, self._lifecycle.broker_epoch) and (
            broker_epoch < self._lifecycle.broker_epoch
        ):
            return ErrorCode.STALE_BROKER_EPOCH
        self.controller_epoch = controller_epoch
        return ErrorCode.NONE

    def apply_state(
        self,
        topic_partition: TopicPartition,
        topic_id: uuid.UUID,
        state: PartitionState,
        *,
        is_new: bool,
    ) -> ErrorCode:
        """Take up the role that the controller has decided; the error is per partition.

        KAFKA_STORAGE_ERROR makes the replica offline for the controller: its directory failed.
        A full disk heals, so such a role is tried again by `take_up_owed_roles`.
        """
        error = self._apply_state(topic_partition, topic_id, state, is_new=is_new)
        if error == ErrorCode.KAFKA_STORAGE_ERROR:
            self._owed_roles[topic_partition] = (topic_id, state, is_new)
        elif error in {ErrorCode.NONE, ErrorCode.INCONSISTENT_TOPIC_ID}:
            self._owed_roles.pop(topic_partition, None)
        return error

    def _superseded(self, partition: Partition, state: PartitionState) -> None:
        """ZooKeeper has a later epoch of a partition that is led here; the controller's word of it
        has not come through.
        """
        topic_partition = partition.topic_partition
        if self._partitions.get(topic_partition) is not partition:
            return
        if self._lifecycle.broker_id in state.replicas:
            self.apply_state(topic_partition, partition.topic_id, state, is_new=False)
        else:
            self.stop_replica(topic_partition, -1, delete=False)

    def take_up_owed_roles(self) -> None:
        """Try the roles again that a disk has refused; due about once a second."""
        for topic_partition, (topic_id, state, is_new) in list(self._owed_roles.items()):
            error = self.apply_state(topic_partition, topic_id, state, is_new=is_new)
            if error != ErrorCode.KAFKA_STORAGE_ERROR:
                self._owed_roles.pop(topic_partition, None)
                _log.info("%s has taken up its role at last: %s", topic_partition, error.name)

    def _apply_state(
        self,
        topic_partition: TopicPartition,
        topic_id: uuid.UUID,
        state: PartitionState,
        *,
        is_new: bool,
    ) -> ErrorCode:
        partition = self._partitions.get(topic_partition)
        refused = _refusal(partition, topic_id, state)
        if refused != ErrorCode.NONE:
            return refused
        if partition is None and self._removed.refuses(
            (topic_id, topic_partition.partition), self.controller_epoch, state.leader_epoch
        ):
            return ErrorCode.STALE_CONTROLLER_EPOCH
        me = self._lifecycle.broker_id
        if me not in state.replicas:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        try:
            if partition is None:
                partition = self._create(topic_partition, topic_id, is_new=is_new)
            was_leader, epoch_before = partition.is_leader, partition.leader_epoch
            if state.leader == me:
                self.fetchers.remove(topic_partition)
                partition.become_leader(state)
            else:
                partition.become_follower(state)
                self.fetchers.follow(partition)
        except OSError as error:
            _log.warning("%s cannot take up its role: its log failed: %s", topic_partition, error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        except KafkaError as error:
            _log.warning("%s cannot take up its role: %s", topic_partition, error)
            return error.code
        if (was_leader, epoch_before) != (partition.is_leader, partition.leader_epoch):
            self._announce(topic_partition, partition.is_leader, partition.leader_epoch)
        return ErrorCode.NONE

    def stop_replica(
        self, topic_partition: TopicPartition, leader_epoch: int, *, delete: bool
    ) -> ErrorCode:
        """Stop fetching and serving a replica, and with `delete` remove its log.

        `leader_epoch` -1 is "not known" and -2 "whatever it is, the topic is being deleted".
        A log that is, or may be, in a failed directory is not removed: KAFKA_STORAGE_ERROR halts
        the deletion.
        """
        partition = self._partitions.get(topic_partition)
        if partition is not None and 0 <= leader_epoch < partition.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        self._owed_roles.pop(topic_partition, None)
        self.fetchers.remove(topic_partition)
        try:
            if partition is not None:
                was_leader = partition.is_leader
                partition.resign()
                if was_leader:
                    self._announce(topic_partition, False, partition.leader_epoch)
            if delete and not self._delete(topic_partition, partition, leader_epoch):
                return ErrorCode.KAFKA_STORAGE_ERROR
        except OSError:
            _log.exception("cannot stop %s", topic_partition)
            return ErrorCode.KAFKA_STORAGE_ERROR
        return ErrorCode.NONE

    def _delete(
        self, topic_partition: TopicPartition, partition: Partition | None, leader_epoch: int
    ) -> bool:
        """Remove a replica and its log; whether nothing of it is left.

        A broker that started with a failed directory does not know what lies in there: what it has
        never heard of may come back with the directory.
        """
        if partition is not None and partition.log.has_failed:
            return False
        if self.logs.get(topic_partition) is not None:
            if not self.logs.delete_async(topic_partition):
                return False
        elif partition is None:
            is_removed = topic_partition in self._removed
            return is_removed or not self.logs.has_failed_directory
        if partition is not None:
            del self._partitions[topic_partition]
            last_epoch = partition.leader_epoch if leader_epoch == -1 else leader_epoch
            self._removed.add(
                topic_partition, partition.topic_id, self.controller_epoch, last_epoch
            )
        return True

    def set_strays_aside(self, belonging: Mapping[TopicPartition, uuid.UUID]) -> None:
        """The controller has named everything that belongs here: what else there is, is stray.

        A topic deleted while this broker was down leaves such logs, and their names may belong to
        other topics by now; their files are kept, under names that end in `-stray`, for an operator
        to look at, unless they hold nothing. Roles that a disk has refused are not tried any more
        either.
        """
        for topic_partition in [*self._owed_roles]:
            if topic_partition not in belonging:
                del self._owed_roles[topic_partition]
        for topic_partition in self.logs.all():
            if self._is_stray(topic_partition, belonging):
                _log.warning("%s does not belong here any more: out of service", topic_partition)
                self.stop_replica(topic_partition, -1, delete=False)
                self._partitions.pop(topic_partition, None)
                self.logs.set_aside(topic_partition)

    def _is_stray(
        self, topic_partition: TopicPartition, belonging: Mapping[TopicPartition, uuid.UUID]
    ) -> bool:
        """Topics without an id, which tools have made, are known by their names alone."""
        topic_id = belonging.get(topic_partition)
        if topic_id is None:
            return True
        known = self.logs.topic_id(topic_partition)
        return known is not None and known.int != 0 != topic_id.int and known != topic_id

    def _create(
        self, topic_partition: TopicPartition, topic_id: uuid.UUID, *, is_new: bool
    ) -> Partition:
        config = self._configs.topic_config(topic_partition.topic)
        log = self.logs.get_or_create(
            topic_partition, topic_id, LogConfig.from_topic_config(config), is_new=is_new
        )
        partition = Partition(
            topic_partition,
            topic_id,
            log,
            broker_id=self._lifecycle.broker_id,
            clock=self._clock,
            lag_ms_max=self._configs.broker_config.get_int("replica.lag.time.max.ms"),
            min_isr=config.get_int("min.insync.replicas"),
            wakeups=self.wakeups,
            propose_isr=self.alter_partition_manager.propose,
        )
        self._partitions[topic_partition] = partition
        self._removed.came_back(topic_partition)
        return partition

    def _announce(self, topic_partition: TopicPartition, is_leader: bool, epoch: int) -> None:
        for listener in self._listeners:
            try:
                listener(topic_partition, is_leader, epoch)
            except Exception:  # noqa: BLE001 - one listener's bug must not stop the others
                _log.exception("a listener of leadership failed for %s", topic_partition)

    # -- running

    def topic_config_changed(self, topic: str) -> None:
        """Apply a topic's new configuration to the replicas here."""
        config = self._configs.topic_config(topic)
        for partition in self.of_topic(topic):
            partition.log.update_config(LogConfig.from_topic_config(config))
            partition.min_isr = config.get_int("min.insync.replicas")

    def give_up_full_disks(self) -> None:
        """A disk that stays full goes out of service, like any bad one, if others have the data.

        Else writers would wait for this replica as long as `replica.lag.time.max.ms` allows, or,
        when it leads, for ever. Due about once a second.
        """
        full = self.logs.full_disks.lasting()
        if not full:
            return
        for topic_partition, partition in list(self._partitions.items()):
            log_dir = self.logs.parent_dir_of(topic_partition)
            is_alone = partition.isr == (self._lifecycle.broker_id,)
            if partition.log.directory in full and log_dir is not None and not is_alone:
                error = OSError(errno.ENOSPC, "it has been full for too long")
                self.logs.fail_directory(log_dir, error)

    def lose(self, lost: Iterable[TopicPartition]) -> None:
        """Their log directory has failed: they are served no more (KAFKA_STORAGE_ERROR)."""
        for topic_partition in lost:
            partition = self._partitions.get(topic_partition)
            if partition is None:
                continue
            self.fetchers.remove(topic_partition)
            was_leader = partition.is_leader
            partition.resign()
            if was_leader:
                self._announce(topic_partition, False, partition.leader_epoch)

    def _promoted(self, topic_partition: TopicPartition, log: PartitionLog) -> None:
        """The future replica is the current one now; its content is the same."""
        partition = self._partitions.get(topic_partition)
        if partition is None:
            return
        partition.log = log
        if not partition.is_leader:
            self.fetchers.remove(topic_partition)
            self.fetchers.follow(partition)

    def of_topic(self, topic: str) -> Iterable[Partition]:
        return [p for tp, p in self._partitions.items() if tp.topic == topic]

    def led(self) -> list[Partition]:
        return [partition for partition in self._partitions.values() if partition.is_leader]

    def tick_isr(self) -> None:
        """Look for lagging followers; due `LOOKS_PER_LAG_TIME` times in a lag time."""
        for partition in self.led():
            partition.tick()

    async def stop(self) -> None:
        """Stop fetching and proposing; the logs are closed by the log manager."""
        await self.alter_log_dirs.stop()
        await self.fetchers.stop()
        await self.alter_partition_manager.stop()


def _refusal(partition: Partition | None, topic_id: uuid.UUID, state: PartitionState) -> ErrorCode:
    """Why the replica that is here cannot take up a role."""
    if partition is None:
        return ErrorCode.NONE
    if topic_id.int and partition.topic_id.int:
        if partition.topic_id != topic_id:
            return ErrorCode.INCONSISTENT_TOPIC_ID
        if state.leader_epoch < partition.leader_epoch:
            return ErrorCode.STALE_CONTROLLER_EPOCH
    return ErrorCode.KAFKA_STORAGE_ERROR if partition.log.has_failed else ErrorCode.NONE
