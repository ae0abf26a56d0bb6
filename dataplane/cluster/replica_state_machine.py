"""Deleting topics: which replicas still have to delete their data, and when all have.

A topic's deletion halts while one of its brokers is away, one of its log directories has failed,
or one of its partitions is being reassigned; it goes on when the broker is back or the
reassignment has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from dataplane.cluster.replica_states import ReplicaStatus, check_transition
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState


class PartitionAndReplica(NamedTuple):
    """One broker's copy of one partition."""

    partition: TopicPartition
    broker: int


class ReplicaStateMachine:
    """The replica states of the topics under deletion."""

    def __init__(self) -> None:
        self._statuses: dict[str, dict[PartitionAndReplica, ReplicaStatus]] = {}

    def status(self, replica: PartitionAndReplica) -> ReplicaStatus | None:
        return self._statuses.get(replica.partition.topic, {}).get(replica)

    def is_started(self, replica: PartitionAndReplica) -> bool:
        """Whether its broker has been asked to delete it and has not answered."""
        return self.status(replica) is ReplicaStatus.DELETION_STARTED

    def start(
        self,
        topic: str,
        partitions: Mapping[int, PartitionState],
        live: Collection[int],
        offline: Collection[PartitionAndReplica] = (),
    ) -> list[PartitionAndReplica]:
        """Begin, or begin again. Returns the replicas whose brokers get StopReplica.

        `offline`: replicas on live brokers whose log directory has failed.
        """
        statuses = self._statuses.setdefault(topic, {})
        for index, state in partitions.items():
            for broker in state.replicas:
                replica = PartitionAndReplica(TopicPartition(topic, index), broker)
                statuses.setdefault(replica, ReplicaStatus.OFFLINE)
        if any(state.is_reassigning for state in partitions.values()):
            return []
        return self._send(statuses, live, offline)

    def _send(
        self,
        statuses: dict[PartitionAndReplica, ReplicaStatus],
        live: Collection[int],
        offline: Collection[PartitionAndReplica],
    ) -> list[PartitionAndReplica]:
        started = []
        for replica, status in statuses.items():
            reachable = replica.broker in live and replica not in offline
            if status is ReplicaStatus.DELETION_INELIGIBLE and reachable:
                self._move(statuses, replica, ReplicaStatus.OFFLINE)
                status = ReplicaStatus.OFFLINE
            if status is not ReplicaStatus.OFFLINE:
                continue
            if reachable:
                self._move(statuses, replica, ReplicaStatus.DELETION_STARTED)
                started.append(replica)
            else:
                self._move(statuses, replica, ReplicaStatus.DELETION_INELIGIBLE)
        return started

    @staticmethod
    def _move(
        statuses: dict[PartitionAndReplica, ReplicaStatus],
        replica: PartitionAndReplica,
        status: ReplicaStatus,
    ) -> None:
        check_transition(replica, statuses[replica], status)
        statuses[replica] = status

    def answered(self, broker: int, results: Iterable[tuple[TopicPartition, bool]]) -> set[str]:
        """A broker has deleted (True) or could not. Returns topics that are wholly deleted now."""
        finished = set()
        for partition, succeeded in results:
            statuses = self._statuses.get(partition.topic)
            replica = PartitionAndReplica(partition, broker)
            if statuses is None or statuses.get(replica) is not ReplicaStatus.DELETION_STARTED:
                continue
            self._move(
                statuses,
                replica,
                ReplicaStatus.DELETION_SUCCESSFUL
                if succeeded
                else ReplicaStatus.DELETION_INELIGIBLE,
            )
            if self.is_done(partition.topic):
                finished.add(partition.topic)
        return finished

    def broker_gone(self, brokers: Collection[int]) -> None:
        """Deletions that were under way on these brokers halt."""
        self._halt(lambda replica: replica.broker in brokers)

    def replicas_lost(self, broker: int, partitions: Collection[TopicPartition]) -> None:
        """Likewise those of replicas whose log directory has failed."""
        self._halt(lambda replica: replica.broker == broker and replica.partition in partitions)

    def _halt(self, is_lost: Callable[[PartitionAndReplica], bool]) -> None:
        for statuses in self._statuses.values():
            for replica, status in list(statuses.items()):
                if is_lost(replica) and status is ReplicaStatus.DELETION_STARTED:
                    self._move(statuses, replica, ReplicaStatus.DELETION_INELIGIBLE)

    def is_done(self, topic: str) -> bool:
        statuses = self._statuses.get(topic)
        return statuses is not None and all(
            status is ReplicaStatus.DELETION_SUCCESSFUL for status in statuses.values()
        )

    def forget(self, topic: str) -> None:
        """The topic's nodes are gone."""
        statuses = self._statuses.pop(topic, {})
        for replica in list(statuses):
            self._move(statuses, replica, ReplicaStatus.NON_EXISTENT)
