"""However the requests of a connection are cut into reads, the answers are the same, in order."""

from __future__ import annotations

import asyncio
import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.wire.messages.api_versions import ApiVersionsRequest
from dataplane.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from dataplane.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from dataplane.wire.messages.metadata import MetadataRequest
from tests.dataplane.handlers.one_broker import ME, PEER, OneBroker, batch
from tests.dataplane.handlers.one_connection import (
    OneConnection,
    correlation_ids,
    logged,
    produce,
    request,
)

TOPICS = ("t", "u", "replicated")


def fetch(topic: str):
    wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topics = [FetchTopic(topic=topic, partitions=[wanted])]
    return FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics)


def list_offsets(topic: str):
    wanted = ListOffsetsPartition(partition_index=0, timestamp=-1)
    return ListOffsetsRequest(topics=[ListOffsetsTopic(name=topic, partitions=[wanted])])


PRODUCES = st.tuples(
    st.just("produce"),
    st.sampled_from(("t", "t", "t", "t", "u", "replicated", "missing")),
    st.sampled_from((1, 1, 1, 1, -1, 0)),
    st.sampled_from((9, 9, 9, 8, 3)),
    st.sampled_from((0, 0, 3, 200)),
)
OTHERS = st.tuples(
    st.sampled_from(("fetch", "metadata", "list offsets", "API versions")),
    st.sampled_from(("t", "u")),
)
REQUESTS = st.lists(st.one_of(PRODUCES, PRODUCES, PRODUCES, OTHERS), min_size=1, max_size=25)


def encoded(asked: tuple, at: int) -> bytes:
    match asked:
        case ("produce", topic, acks, version, value_bytes):
            if topic == "missing" and acks == 0:
                acks = 1  # it would end the connection
            records = batch("v" * value_bytes, str(at))
            return request(produce((topic, 0, records), acks=acks), version, at)
        case ("fetch", topic):
            return request(fetch(topic), 11, at)
        case ("metadata", _):
            return request(MetadataRequest(topics=None), 9, at)
        case ("list offsets", topic):
            return request(list_offsets(topic), 5, at)
    return request(ApiVersionsRequest(), 3, at)


def is_answered(asked: tuple) -> bool:
    return not (asked[0] == "produce" and asked[2] == 0 and asked[1] != "missing")


async def answers(stream: list[bytes], *, lets_go_after: int | None, count: int):
    """What a connection says to reads of these bytes, and the logs they leave."""
    broker = OneBroker()
    for topic in TOPICS:
        broker.topic(topic, replicas=(ME, PEER) if topic == "replicated" else (ME,))
    connection = OneConnection(broker)
    found: list[bytes] = []

    def replicate() -> None:
        partition = broker.partition("replicated")
        partition.on_follower_fetch(PEER, partition.log.log_end_offset)

    for number, piece in enumerate(stream):
        connection.read(piece)
        if number == lets_go_after:
            replicate()
        if number % 3 == 0:
            found += await connection.settle()
    for _ in range(count):  # behind each answer that waits for its replica another may wait
        if len(found) < count:
            replicate()
            found += await connection.settle()
    logs = [logged(broker, topic) for topic in TOPICS]
    assert not broker.replica_manager.appends.partitions
    await broker.stop()
    return found, logs


@settings(max_examples=150, deadline=None)
@given(
    asked=REQUESTS,
    cuts=st.lists(st.integers(0, 10_000), max_size=12),
    lets_go_after=st.one_of(st.none(), st.integers(0, 10)),
)
def test_cuts_make_no_difference(asked, cuts, lets_go_after) -> None:
    frames = [encoded(each, at) for at, each in enumerate(asked)]
    wanted_ids = [at for at, each in enumerate(asked) if is_answered(each)]
    whole = b"".join(frames)
    edges = sorted({0, len(whole), *(cut % len(whole) for cut in cuts)})
    pieces = [whole[a:b] for a, b in itertools.pairwise(edges)]
    one_by_one = asyncio.run(answers(frames, lets_go_after=None, count=len(wanted_ids)))
    cut_up = asyncio.run(answers(pieces, lets_go_after=lets_go_after, count=len(wanted_ids)))
    assert correlation_ids(cut_up[0]) == wanted_ids
    assert cut_up == one_by_one
