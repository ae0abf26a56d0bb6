"""What brokers' answers mean."""

from __future__ import annotations

import uuid

import pytest

from dataplane.cluster.requests import DELETE_REGARDLESS_OF_EPOCH, MetadataUpdate, Stop
from dataplane.cluster.responses import deletion_results, leader_and_isr_result
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from dataplane.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from dataplane.wire.messages.stop_replica import StopReplicaPartitionError, StopReplicaResponse

TOPIC = uuid.UUID(int=7)


def tp(index):
    return TopicPartition("t", index)


def answer(**codes):
    errors = [
        LeaderAndIsrPartitionError(partition_index=int(name[1:]), error_code=int(code))
        for name, code in codes.items()
    ]
    return LeaderAndIsrResponse(
        topics=[LeaderAndIsrTopicError(topic_id=TOPIC, partition_errors=errors)]
    )


SENT = {tp(index): MetadataUpdate(PartitionState(index=index), TOPIC) for index in range(3)}


def test_a_failed_directory_differs_from_other_errors():
    response = answer(
        p0=ErrorCode.NONE, p1=ErrorCode.KAFKA_STORAGE_ERROR, p2=ErrorCode.UNKNOWN_SERVER_ERROR
    )
    result, refused = leader_and_isr_result(SENT, response, 5)
    assert result == (5, {tp(1)}, {tp(0), tp(2)})
    assert refused == [(tp(2), ErrorCode.UNKNOWN_SERVER_ERROR)]


def test_without_errors_everything_is_taken_up():
    result, refused = leader_and_isr_result(SENT, answer(p0=ErrorCode.NONE), 5)
    assert (result.failed, result.taken_up, refused) == (set(), set(SENT), [])


def test_a_refused_request_says_nothing_about_replicas():
    response = LeaderAndIsrResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    assert leader_and_isr_result(SENT, response, 5) is None


@pytest.mark.parametrize("refused", [False, True])
def test_only_stops_of_a_deletion_are_answered_for(refused):
    sent = {
        tp(0): Stop(DELETE_REGARDLESS_OF_EPOCH, delete=True),
        tp(1): Stop(DELETE_REGARDLESS_OF_EPOCH, delete=True),
        tp(2): Stop(4, delete=True),
        tp(3): Stop(4, delete=False),
    }
    failed = StopReplicaPartitionError(
        topic_name="t", partition_index=1, error_code=int(ErrorCode.KAFKA_STORAGE_ERROR)
    )
    response = StopReplicaResponse(
        error_code=ErrorCode.STALE_CONTROLLER_EPOCH if refused else ErrorCode.NONE,
        partition_errors=[failed],
    )
    assert deletion_results(sent, response) == [(tp(0), not refused), (tp(1), False)]
