"""What brokers answer to LeaderAndIsr and StopReplica, as the controller understands it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from dataplane.cluster.requests import DELETE_REGARDLESS_OF_EPOCH, MetadataUpdate, Stop
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.wire.messages.leader_and_isr import LeaderAndIsrResponse
from dataplane.wire.messages.stop_replica import StopReplicaResponse

DeletionResults: TypeAlias = list[tuple[TopicPartition, bool]]
"""Replicas of deleted topics that a broker was asked to delete, and whether it has. What a finished
reassignment dropped is not among them: a deletion that begins meanwhile has a stop of its own."""


class LeaderAndIsrResult(NamedTuple):
    """Which replicas a broker serves as LeaderAndIsr asked, and which its disks do not let it.

    `broker_epoch` names the life of the broker that has answered.
    """

    broker_epoch: int
    failed: frozenset[TopicPartition]
    taken_up: frozenset[TopicPartition]


def leader_and_isr_result(
    sent: Mapping[TopicPartition, MetadataUpdate],
    response: LeaderAndIsrResponse,
    broker_epoch: int,
) -> tuple[LeaderAndIsrResult, list[tuple[TopicPartition, int]]] | None:
    """The result, and error codes of other kinds than a failed directory, to be logged.

    None when the broker has refused the request as a whole.
    """
    if response.error_code != ErrorCode.NONE:
        return None
    errors = {
        (topic.topic_id, item.partition_index): item.error_code
        for topic in response.topics
        for item in topic.partition_errors
        if item.error_code != ErrorCode.NONE
    }
    failed: set[TopicPartition] = set()
    refused: list[tuple[TopicPartition, int]] = []
    for partition, update in sent.items() if errors else ():
        code = errors.get((update.topic_id, partition.partition), ErrorCode.NONE)
        if code == ErrorCode.KAFKA_STORAGE_ERROR:
            failed.add(partition)
        elif code != ErrorCode.NONE:
            refused.append((partition, code))
    taken_up = frozenset(sent.keys() - failed)
    return LeaderAndIsrResult(broker_epoch, frozenset(failed), taken_up), refused


def deletion_results(
    sent: Mapping[TopicPartition, Stop], response: StopReplicaResponse
) -> DeletionResults:
    """Of the stops that belong to a topic's deletion; others are not waited for."""
    failed = {
        TopicPartition(item.topic_name, item.partition_index)
        for item in response.partition_errors
        if item.error_code != ErrorCode.NONE
    }
    refused = response.error_code != ErrorCode.NONE
    return [
        (partition, not refused and partition not in failed)
        for partition, stop in sent.items()
        if stop.delete and stop.leader_epoch == DELETE_REGARDLESS_OF_EPOCH
    ]
