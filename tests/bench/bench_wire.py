"""Microseconds of the codecs on the hot path: `python tests/bench/bench_wire.py`."""

from __future__ import annotations

import pathlib
import sys
import timeit
import uuid
from collections.abc import Callable
from functools import partial

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from dataplane.model.partition import PartitionState
from dataplane.wire.codec import decode, encode
from dataplane.wire.fetch_codec import FetchedPartition, encode_fetch_response, parse_fetch
from dataplane.wire.headers import parse_request_header
from dataplane.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from dataplane.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from dataplane.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from dataplane.wire.metadata_codec import MetadataBroker, encode_metadata_response, encode_topic
from dataplane.wire.produce_codec import ProducedPartition, encode_produce_response, parse_produce
from dataplane.wire.record_batch import BatchHeader, NewRecord, build_batch, validate_crc

ROUNDS = 5


def measure(name: str, work: Callable[[], object], number: int = 10_000) -> None:
    """The best of some rounds: noise only ever adds."""
    work()
    best = min(timeit.repeat(work, number=number, repeat=ROUNDS)) / number
    print(f"{name:46s} {best * 1e6:10.2f} µs")


def main() -> None:
    for version, size in ((8, 200), (9, 200), (9, 65_536), (9, 1 << 20)):
        data = [PartitionProduceData(index=3, records=bytes(size))]
        request = ProduceRequest(topic_data=[TopicProduceData(name="topic", partition_data=data)])
        body = memoryview(encode(request, version))
        measure(f"Produce v{version} read, {size} B", partial(parse_produce, version, body))
    done = [("topic", [ProducedPartition(3, 0, 5, -1, 0)])]
    for version in (8, 9):
        measure(f"Produce v{version} answered", partial(encode_produce_response, version, 5, done))
    for version, topics, partitions in ((11, 1, 1), (12, 1, 1), (13, 1, 1), (12, 10, 10)):
        asked = [
            FetchTopic(
                topic="topic",
                topic_id=uuid.UUID(int=7),
                partitions=[FetchPartition(partition=number) for number in range(partitions)],
            )
        ] * topics
        body = memoryview(encode(FetchRequest(topics=asked), version))
        measure(
            f"Fetch v{version} read, {topics}x{partitions}", partial(parse_fetch, version, body)
        )
    found = [FetchedPartition(0, 0, 100, 100, 0, records=bytes(65_536))]
    for version, topic in ((11, "topic"), (13, uuid.UUID(int=7))):
        work = [(topic, found)]
        measure(f"Fetch v{version} answered", partial(encode_fetch_response, version, 5, work))
    states = [
        (0, PartitionState(index=number, leader=1, replicas=(1, 2, 3), isr=(1, 2, 3)))
        for number in range(10)
    ]
    fragment = encode_topic(9, 0, "topic", partitions=states)
    measure("Metadata v9, one topic of 10", partial(encode_topic, 9, 0, "topic", partitions=states))
    brokers = [MetadataBroker(number, "127.0.0.1", 9092) for number in range(3)]
    whole = {"brokers": brokers, "cluster_id": "c", "controller_id": 1, "topics": [fragment] * 1000}
    measure("Metadata v9, 1000 kept topics", partial(encode_metadata_response, 9, 5, **whole), 200)
    header = memoryview(b"\0\0\0\x09\0\0\0\7\0\7rdkafka\0")
    measure("request header v2", partial(parse_request_header, header))
    body = memoryview(encode(HeartbeatRequest(group_id="group", member_id="member"), 4))
    measure("Heartbeat v4 read", partial(decode, HeartbeatRequest, 4, body))
    measure("Heartbeat v4 answered", partial(encode, HeartbeatResponse(), 4))
    batch = build_batch([NewRecord(b"k", bytes(65_536))])
    measure("batch header", partial(BatchHeader.parse, batch))
    measure("CRC of 64 KiB", partial(validate_crc, batch))


if __name__ == "__main__":
    main()
