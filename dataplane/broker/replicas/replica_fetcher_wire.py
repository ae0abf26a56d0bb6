"""A replica fetcher's messages: Fetch, and ListOffsets for the leader's bounds."""

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
    from dataplane.broker.replicas.partition import Partition
    from dataplane.replication.fetch_session_handler import FetchRequestData
    from dataplane.replication.partition_fetch_state import PartitionFetchState

BOUNDS_VERSION: Final = 7
BOUNDS_TIMEOUT_MS: Final = 10_000
EARLIEST: Final = -2
LATEST: Final = -1


def fetch_request(
    context: FetcherContext, request: FetchRequestData, *, wait_ms: int
) -> FetchRequest:
    config = context.config
    bytes_max = config.get_int("replica.fetch.max.bytes")
    topics: dict[uuid.UUID, FetchTopic] = {}
    for (topic_id, index), position in request.positions:
        topic = topics.get(topic_id)
        if topic is None:
            topic = topics[topic_id] = FetchTopic(topic_id=topic_id)
        topic.partitions.append(
            FetchPartition(
                partition=index,
                current_leader_epoch=position.leader_epoch,
                fetch_offset=position.offset,
                last_fetched_epoch=position.last_fetched_epoch,
                log_start_offset=position.log_start_offset,
                partition_max_bytes=bytes_max,
            )
        )
    forgotten: dict[uuid.UUID, ForgottenTopic] = {}
    for topic_id, index in request.forgotten:
        gone = forgotten.get(topic_id)
        if gone is None:
            gone = forgotten[topic_id] = ForgottenTopic(topic_id=topic_id)
        gone.partitions.append(index)
    return FetchRequest(
        replica_state=ReplicaState(
            replica_id=context.lifecycle.broker_id, replica_epoch=context.lifecycle.broker_epoch
        ),
        replica_id=context.lifecycle.broker_id,  # where older protocols have it
        max_wait_ms=wait_ms if request.may_wait else 0,
        min_bytes=config.get_int("replica.fetch.min.bytes"),
        max_bytes=config.get_int("replica.fetch.response.max.bytes"),
        session_id=request.session_id,
        session_epoch=request.epoch,
        topics=list(topics.values()),
        forgotten_topics_data=list(forgotten.values()),
    )


async def leader_bounds(
    context: FetcherContext, leader_id: int, state: PartitionFetchState[Partition]
) -> tuple[int, int] | None:
    """Where the leader's log begins and ends; None when it does not say.

    Raises PeerUnavailableError, TimeoutError, WireError.
    """
    topic_partition = state.partition.topic_partition
    bounds = []
    for timestamp in (EARLIEST, LATEST):
        wanted = ListOffsetsPartition(
            partition_index=topic_partition.partition,
            current_leader_epoch=state.leader_epoch,
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
