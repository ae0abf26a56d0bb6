"""Requests encoded once, before the clock starts."""

from __future__ import annotations

import time

from dataplane.wire.batch_layout import HEADER_BYTES
from dataplane.wire.headers import encode_request_frame
from dataplane.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from dataplane.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from dataplane.wire.record_batch import NewRecord, build_batch

PRODUCE_VERSION = 8
FETCH_VERSION = 11
RECORD_BYTES = 1024
RECORD_OVERHEAD_BYTES_MAX = 12  # lengths, attributes, deltas
TIMESTAMP_MS = int(time.time() * 1000)  # of today: older records would be retention's
TIMEOUT_MS = 60_000


def batch(bytes_max: int) -> tuple[bytes, int]:
    """An uncompressed batch of records of about 1 KiB that just fits into `bytes_max`; their count."""
    count = max(1, bytes_max // RECORD_BYTES)
    value = b"v" * ((bytes_max - HEADER_BYTES) // count - RECORD_OVERHEAD_BYTES_MAX)
    records = [NewRecord(None, value, (), TIMESTAMP_MS) for _ in range(count)]
    return bytes(build_batch(records)), count


def produce(topic: str, partition: int, records: bytes, acks: int) -> bytes:
    request = ProduceRequest(
        acks=acks,
        timeout_ms=TIMEOUT_MS,
        topic_data=[
            TopicProduceData(
                name=topic,
                partition_data=[PartitionProduceData(index=partition, records=records)],
            )
        ],
    )
    return bytes(encode_request_frame(request, PRODUCE_VERSION, 7, "bench"))


def fetch(topic: str, partition: int, offset: int, size: int, correlation_id: int) -> bytes:
    request = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=size,
        topics=[
            FetchTopic(
                topic=topic,
                partitions=[
                    FetchPartition(
                        partition=partition, fetch_offset=offset, partition_max_bytes=size
                    )
                ],
            )
        ],
    )
    return bytes(encode_request_frame(request, FETCH_VERSION, correlation_id, "bench"))
