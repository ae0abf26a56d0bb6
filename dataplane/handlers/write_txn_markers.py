"""WriteTxnMarkers (27), versions 0-1: end transactions in partitions that are led here.

Behaviour: from the transaction coordinator; needs ClusterAction. Each partition gets a commit or
abort marker, written for all in-sync replicas; its answer says why not. A marker of an older
coordinator or producer epoch is fenced. On `__consumer_offsets` the offsets that the transaction
committed count, or are dropped, once the marker is committed. A marker that was written already is
written again: it ends nothing.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from dataplane.cluster.topic_names import OFFSETS_TOPIC
from dataplane.handlers.inter_broker import require_cluster_action
from dataplane.log.appending.end_marker import build_marker
from dataplane.log.producers.producer_state import Marker
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.wire.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.wire.messages.write_txn_markers import WritableTxnMarker

_log = logging.getLogger(__name__)

TIMEOUT_S: Final = 25.0
"""Replicas that have not followed by then: REQUEST_TIMED_OUT, the coordinator sends it again.

Before the coordinator gives up the request: the other partitions' markers would be sent again too.
"""


async def handle(
    context: RequestContext, request: WriteTxnMarkersRequest
) -> WriteTxnMarkersResponse:
    require_cluster_action(context)
    # All are appended before the first is waited for.
    written = [
        [
            (
                topic.name,
                [
                    (index, _write(context, marker, topic.name, index))
                    for index in topic.partition_indexes
                ],
            )
            for topic in marker.topics
        ]
        for marker in request.markers
    ]
    waited_for = [
        future
        for topics in written
        for _name, partitions in topics
        for _index, future in partitions
    ]
    if waited_for:
        await asyncio.wait(waited_for, timeout=TIMEOUT_S)
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(
                                partition_index=index, error_code=_result(future)
                            )
                            for index, future in partitions
                        ],
                    )
                    for name, partitions in topics
                ],
            )
            for marker, topics in zip(request.markers, written, strict=True)
        ]
    )


def _write(
    context: RequestContext, asked: WritableTxnMarker, topic: str, index: int
) -> asyncio.Future[ErrorCode]:
    """Append one marker; what becomes of it when the replicas have it, or had not in time."""
    settled: asyncio.Future[ErrorCode] = asyncio.get_running_loop().create_future()
    marker = Marker(asked.transaction_result, asked.coordinator_epoch)
    broker = context.broker
    try:
        partition = broker.replica_manager.leader(TopicPartition(topic, index))
        batch = build_marker(
            asked.producer_id,
            asked.producer_epoch,
            marker,
            timestamp_ms=broker.clock.realtime_ms(),
        )
        info = partition.append_now(batch, -1, origin="coordinator")
    except KafkaError as error:
        settled.set_result(error.code)
        return settled
    except OSError:
        _log.exception("writing a marker to %s-%d", topic, index)
        settled.set_result(ErrorCode.KAFKA_STORAGE_ERROR)
        return settled

    def on_committed(is_committed: bool) -> None:
        # Also when nobody waits any more: what is in the log decides.
        if is_committed and topic == OFFSETS_TOPIC:
            broker.group_coordinator.end_transaction(
                index, asked.producer_id, is_commit=marker.is_commit
            )
        if not settled.done():
            code = ErrorCode.NONE if is_committed else ErrorCode.NOT_LEADER_OR_FOLLOWER
            settled.set_result(code)

    if partition.when_committed(info.last_offset + 1, on_committed):
        on_committed(True)
    return settled


def _result(settled: asyncio.Future[ErrorCode]) -> ErrorCode:
    return settled.result() if settled.done() else ErrorCode.REQUEST_TIMED_OUT
