"""What a replica fetcher says to a leader: its questions as Fetch, and ListOffsets for bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from dataplane.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

if TYPE_CHECKING:
    import uuid

    from dataplane.broker.replicas.fetcher_context import FetcherContext
    from dataplane.broker.replicas.following import Following
    from dataplane.replication.follower_session import Question

VERSION: Final = 17
BOUNDS_VERSION: Final = 7
BOUNDS_TIMEOUT_MS: Final = 10_000
EARLIEST: Final = -2
LATEST: Final = -1


def fetch_request(context: FetcherContext, question: Question, *, wait_ms: int) -> FetchRequest:
    config = context.config
    bytes_max = config.get_int("replica.fetch.max.bytes")
    topics: dict[uuid.UUID, FetchTopic] = {}
    for (topic_id, index), asked in question.asked:
        topic = topics.get(topic_id)
        if topic is None:
            topic = topics[topic_id] = FetchTopic(topic_id=topic_id)
        topic.partitions.append(
            FetchPartition(
                partition=index,
                current_leader_epoch=asked.leader_epoch,
                fetch_offset=asked.offset,
                last_fetched_epoch=asked.last_fetched_epoch,
                log_start_offset=asked.log_start_offset,
                partition_max_bytes=bytes_max,
            )
        )
    forgotten: dict[uuid.UUID, ForgottenTopic] = {}
    for topic_id, index in question.forgotten:
        gone = forgotten.get(topic_id)
        if gone is None:
            gone = forgotten[topic_id] = ForgottenTopic(topic_id=topic_id)
        gone.partitions.append(index)
    return FetchRequest(
        replica_state=ReplicaState(
            replica_id=context.lifecycle.broker_id, replica_epoch=context.lifecycle.broker_epoch
        ),
        max_wait_ms=wait_ms if question.may_wait else 0,
        min_bytes=config.get_int("replica.fetch.min.bytes"),
        max_bytes=config.get_int("replica.fetch.response.max.bytes"),
        session_id=question.session_id,
        session_epoch=question.epoch,
        topics=list(topics.values()),
        forgotten_topics_data=list(forgotten.values()),
    )


async def leader_bounds(
    context: FetcherContext, leader_id: int, following: Following
) -> tuple[int, int] | None:
    """Where the leader's log begins and ends; None when it does not tell.

    Raises PeerUnavailableError, TimeoutError, WireError.
    """
    topic_partition = following.partition.topic_partition
    bounds = []
    for timestamp in (EARLIEST, LATEST):
        wanted = ListOffsetsPartition(
            partition_index=topic_partition.partition,
            current_leader_epoch=following.leader_epoch,
            timestamp=timestamp,
        )
        response = await context.peers.request(
            leader_id,
            ListOffsetsRequest(
                replica_id=context.lifecycle.broker_id,
                topics=[ListOffsetsTopic(name=topic_partition.topic, partitions=[wanted])],
            ),
            BOUNDS_VERSION,
            timeout_ms=BOUNDS_TIMEOUT_MS,
        )
        answer = response.topics[0].partitions[0]
        if answer.error_code != ErrorCode.NONE:
            return None
        bounds.append(answer.offset)
    return bounds[0], bounds[1]
