"""The hand-written codecs against the schema-driven one: same bytes, same meaning."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dataplane.model.partition import PartitionState
from dataplane.wire.codec import decode, encode
from dataplane.wire.errors import WireError
from dataplane.wire.fetch_codec import (
    FetchedPartition,
    NodeEndpoint,
    encode_fetch_response,
    parse_fetch,
)
from dataplane.wire.fetch_request import FetchParts
from dataplane.wire.headers import encode_response_frame, parse_response_header
from dataplane.wire.messages.fetch import FetchRequest, FetchResponse
from dataplane.wire.messages.metadata import MetadataResponse
from dataplane.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from dataplane.wire.messages.produce import ProduceRequest, ProduceResponse
from dataplane.wire.metadata_codec import MetadataBroker, encode_metadata_response, encode_topic
from dataplane.wire.offset_commit_codec import encode_offset_commit_response, offset_places
from dataplane.wire.produce_codec import (
    ProducedPartition,
    ProduceParts,
    encode_produce_response,
    parse_produce,
)
from tests.dataplane.wire.generators import instances

QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PRODUCE_VERSIONS = range(12)
FETCH_VERSIONS = range(18)


@pytest.mark.parametrize("version", PRODUCE_VERSIONS)
def test_produce_requests_are_read_as_the_schema_says(version: int) -> None:
    @QUICK
    @given(instances(ProduceRequest, version))
    def check(request: ProduceRequest) -> None:
        body = memoryview(encode(request, version))
        parts = parse_produce(version, body)
        assert (parts.transactional_id, parts.acks, parts.timeout_ms) == (
            request.transactional_id,
            request.acks,
            request.timeout_ms,
        )
        assert parts.topics == [
            (t.name, [(p.index, p.records) for p in t.partition_data]) for t in request.topic_data
        ]

    check()


def test_produce_records_are_views_of_the_frame() -> None:
    from dataplane.wire.messages.produce import PartitionProduceData, TopicProduceData

    request = ProduceRequest(
        topic_data=[
            TopicProduceData(name="t", partition_data=[PartitionProduceData(records=b"abc")])
        ]
    )
    frame = memoryview(bytearray(encode(request, 9)))
    records = parse_produce(9, frame).topics[0][1][0][1]
    assert records is not None
    frame[frame.tobytes().index(b"abc")] = ord("X")
    assert bytes(records) == b"Xbc"


@pytest.mark.parametrize("version", PRODUCE_VERSIONS)
def test_produce_request_truncated_anywhere_is_refused(version: int) -> None:
    from dataplane.wire.messages.produce import PartitionProduceData, TopicProduceData

    body = encode(
        ProduceRequest(
            transactional_id="tx",
            topic_data=[
                TopicProduceData(name="t", partition_data=[PartitionProduceData(records=b"abc")])
            ],
        ),
        version,
    )
    for length in range(len(body)):
        with pytest.raises(WireError):
            parse_produce(version, memoryview(body)[:length])


@pytest.mark.parametrize("version", PRODUCE_VERSIONS)
@pytest.mark.parametrize("detailed", [False, True])
def test_produce_responses_are_written_as_the_schema_says(version: int, detailed: bool) -> None:
    part = ProducedPartition(3, 7, 11, 13, 17)
    if detailed:
        part = part._replace(
            error_message="no", record_errors=[(1, "x"), (2, None)], current_leader=(4, 5)
        )
    nodes = [NodeEndpoint(4, "h", 9092, "r1")] if detailed else []
    frame = encode_produce_response(
        version,
        42,
        [("topic", [part, ProducedPartition(4)]), ("u", [])],
        throttle_time_ms=9,
        node_endpoints=nodes,
    )
    assert int.from_bytes(frame[:4]) == len(frame) - 4
    correlation_id, pos = parse_response_header(memoryview(frame)[4:], 0, version)
    assert correlation_id == 42
    body = bytes(frame[4 + pos :])
    response, end = decode(ProduceResponse, version, body)
    assert end == len(body)
    assert encode(response, version) == body
    first = response.responses[0].partition_responses[0]
    assert (first.index, first.error_code, first.base_offset) == (3, 7, 11)
    assert response.throttle_time_ms == (9 if version >= 1 else 0)
    if version >= 5:
        assert (first.log_append_time_ms, first.log_start_offset) == (13, 17)
    if detailed and version >= 8:
        assert first.error_message == "no"
        assert [(e.batch_index, e.batch_index_error_message) for e in first.record_errors] == [
            (1, "x"),
            (2, None),
        ]
    if detailed and version >= 10:
        assert (first.current_leader.leader_id, first.current_leader.leader_epoch) == (4, 5)
        assert response.node_endpoints[0].host == "h"


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_fetch_requests_are_read_as_the_schema_says(version: int) -> None:
    @QUICK
    @given(instances(FetchRequest, version))
    def check(request: FetchRequest) -> None:
        parts = parse_fetch(version, memoryview(encode(request, version)))
        replica = request.replica_id if version < 15 else request.replica_state.replica_id
        assert parts.replica_id == replica
        assert parts.replica_epoch == request.replica_state.replica_epoch
        assert (parts.max_wait_ms, parts.min_bytes, parts.max_bytes) == (
            request.max_wait_ms,
            request.min_bytes,
            request.max_bytes,
        )
        assert parts.isolation_level == request.isolation_level
        assert (parts.session_id, parts.session_epoch) == (
            request.session_id,
            request.session_epoch,
        )
        assert parts.rack_id == request.rack_id
        assert parts.cluster_id == request.cluster_id
        key = (lambda t: t.topic) if version < 13 else (lambda t: t.topic_id)
        assert [topic for topic, _ in parts.topics] == [key(t) for t in request.topics]
        assert [[tuple(p) for p in ps] for _, ps in parts.topics] == [
            [
                (
                    p.partition,
                    p.fetch_offset,
                    p.partition_max_bytes,
                    p.current_leader_epoch,
                    p.last_fetched_epoch,
                    p.log_start_offset,
                )
                for p in t.partitions
            ]
            for t in request.topics
        ]
        assert parts.forgotten == [(key(t), t.partitions) for t in request.forgotten_topics_data]

    check()


class _Slice:
    def __init__(self, content: bytes) -> None:
        self.content = content
        self.size = len(content)


@pytest.mark.parametrize("version", FETCH_VERSIONS)
@pytest.mark.parametrize("detailed", [False, True])
def test_fetch_responses_are_written_as_the_schema_says(version: int, detailed: bool) -> None:
    topic: str | uuid.UUID = "topic" if version < 13 else uuid.UUID(int=77)
    partitions = [
        FetchedPartition(0, 0, 100, 90, 5, records=_Slice(b"R" * 300)),
        FetchedPartition(1, 0, 100, 90, 5, records=b"abc"),
        FetchedPartition(2, 6, current_leader=(3, 4) if detailed else None),
        FetchedPartition(3, records=b"", diverging_epoch=(8, 9) if detailed else None),
    ]
    if detailed:
        partitions[0] = partitions[0]._replace(aborted=[(1, 2), (3, 4)], preferred_read_replica=6)
    nodes = [NodeEndpoint(4, "h", 9092)] if detailed else []
    parts = encode_fetch_response(
        version,
        42,
        [(topic, partitions)],
        throttle_time_ms=5,
        error_code=70,
        session_id=8,
        node_endpoints=nodes,
    )
    assert isinstance(parts[1], _Slice)  # sent from the file, not copied here
    frame = b"".join(p.content if isinstance(p, _Slice) else bytes(p) for p in parts)
    assert int.from_bytes(frame[:4]) == len(frame) - 4
    correlation_id, pos = parse_response_header(memoryview(frame)[4:], 1, version)
    assert correlation_id == 42
    body = frame[4 + pos :]
    response, end = decode(FetchResponse, version, body)
    assert end == len(body)
    assert encode(response, version) == body
    assert response.error_code == (70 if version >= 7 else 0)
    answered = response.responses[0]
    assert (answered.topic if version < 13 else answered.topic_id) == topic
    assert [bytes(p.records or b"") for p in answered.partitions] == [b"R" * 300, b"abc", b"", b""]
    assert [p.high_watermark for p in answered.partitions] == [100, 100, -1, -1]
    if detailed and version >= 4:
        aborted = answered.partitions[0].aborted_transactions
        assert aborted is not None
        assert [(a.producer_id, a.first_offset) for a in aborted] == [(1, 2), (3, 4)]
    if detailed and version >= 12:
        assert answered.partitions[2].current_leader.leader_id == 3
        assert answered.partitions[3].diverging_epoch.end_offset == 9


@pytest.mark.parametrize("version", range(13))
def test_metadata_responses_are_written_as_the_schema_says(version: int) -> None:
    topic_id = uuid.UUID(int=5)
    state = PartitionState(
        index=1, leader=2, leader_epoch=3, replicas=(2, 1), isr=(2,), offline_replicas=(1,)
    )
    fragments = [
        encode_topic(
            version,
            0,
            "t",
            topic_id,
            is_internal=True,
            partitions=[(5, state)],
            authorized_operations=6,
        ),
        encode_topic(version, 3, None if version >= 12 else "gone"),
    ]
    frame = encode_metadata_response(
        version,
        42,
        brokers=[MetadataBroker(1, "h", 9092, "r"), MetadataBroker(2, "i", 9093)],
        cluster_id="c",
        controller_id=2,
        topics=fragments,
        throttle_time_ms=4,
    )
    _, pos = parse_response_header(memoryview(frame)[4:], 3, version)
    body = bytes(frame[4 + pos :])
    response, end = decode(MetadataResponse, version, body)
    assert end == len(body) == int.from_bytes(frame[:4]) - pos
    assert encode(response, version) == body
    assert [b.host for b in response.brokers] == ["h", "i"]
    first = response.topics[0]
    assert (first.name, first.partitions[0].replica_nodes) == ("t", [2, 1])
    assert first.topic_id == (topic_id if version >= 10 else uuid.UUID(int=0))


@given(st.binary(max_size=60), st.integers(0, 17))
@settings(max_examples=300, deadline=None)
def test_garbage_is_refused_or_read_and_nothing_else(garbage: bytes, version: int) -> None:
    parsers = [(parse_fetch, FetchParts), (parse_produce, ProduceParts)]
    for parse, parts in parsers if version < 12 else parsers[:1]:
        try:
            found = parse(version, memoryview(garbage))
        except WireError:
            continue
        assert isinstance(found, parts)


# Lengths that are neither null nor a length, arrays that may not be null, tags longer than what is
# in them: what a schema refuses a hand-written codec does not take for nothing.
_NULL_ARRAY = b"\xff\xff\xff\xff"
_UNFIT_PRODUCE = [
    (1, b"\0\1" + bytes(4) + _NULL_ARRAY),
    (3, b"\xff\xfe\0\1" + bytes(4) + bytes(4)),
    (7, b"\xff\xff\0\1" + bytes(4) + b"\x80\0\0\0"),
    (7, b"\xff\xff\0\1" + bytes(4) + b"\0\0\0\1\0\1t" + _NULL_ARRAY),
    (7, b"\xff\xff\0\1" + bytes(4) + b"\0\0\0\1\0\1t\0\0\0\1" + bytes(4) + b"\xff\xff\xff\xfe"),
    (9, b"\0\0\1" + bytes(4) + b"\0\0"),
    (9, b"\0\0\1" + bytes(4) + b"\2\2t\0\0\0"),
]
_UNFIT_FETCH = [
    (4, bytes(17) + _NULL_ARRAY),
    (4, bytes(17) + b"\0\0\0\1\0\1t" + _NULL_ARRAY),
    (7, bytes(25) + bytes(4) + _NULL_ARRAY),
    (7, bytes(25) + bytes(4) + b"\0\0\0\1\0\1t" + _NULL_ARRAY),
    (12, bytes(25) + b"\0\1\1\0"),
    (12, bytes(25) + b"\1\0\1\0"),
    (12, bytes(25) + b"\1\1\1\1\0\3\2ab"),
    (12, bytes(25) + b"\1\1\1\1\0\0"),
    (15, bytes(21) + b"\1\1\1\1\1\x0f" + bytes(15)),
    (17, bytes(21) + b"\2" + bytes(16) + b"\2" + bytes(32) + b"\1\0\3abc\0\1\1\0"),
]


@pytest.mark.parametrize(
    ("parse", "message", "version", "body"),
    [
        *((parse_produce, ProduceRequest, *case) for case in _UNFIT_PRODUCE),
        *((parse_fetch, FetchRequest, *case) for case in _UNFIT_FETCH),
    ],
)
def test_what_the_schema_refuses_is_refused(parse, message, version: int, body: bytes) -> None:
    with pytest.raises(WireError):
        decode(message, version, body)
    with pytest.raises(WireError):
        parse(version, memoryview(body))


def test_a_null_cluster_id_may_be_a_varint_of_two_bytes() -> None:
    body = bytes(25) + b"\1\1\1\1\0\2\x80\0"
    assert decode(FetchRequest, 12, body)[0].cluster_id is None
    assert parse_fetch(12, memoryview(body)).cluster_id is None


@pytest.mark.parametrize("version", range(10))
def test_offset_commit_responses_are_written_as_the_schema_says(version: int) -> None:
    @QUICK
    @given(instances(OffsetCommitResponse, version), st.integers(-(2**31), 2**31 - 1))
    def check(response: OffsetCommitResponse, correlation_id: int) -> None:
        topics = [
            (t.name, [(p.partition_index, p.error_code) for p in t.partitions])
            for t in response.topics
        ]
        written = encode_offset_commit_response(
            version, correlation_id, topics, throttle_time_ms=response.throttle_time_ms
        )
        assert written == encode_response_frame(response, version, correlation_id)

    check()


@pytest.mark.parametrize("version", range(10))
def test_the_offsets_of_a_commit_are_found_where_the_schema_puts_them(version: int) -> None:
    @QUICK
    @given(instances(OffsetCommitRequest, version), st.integers(0, 5))
    def check(request: OffsetCommitRequest, position: int) -> None:
        frame = bytearray(bytes(position) + encode(request, version))
        places = offset_places(version, memoryview(frame), position, request)
        partitions = [p for topic in request.topics for p in topic.partitions]
        assert len(places) == (len(partitions) if version >= 2 else 0)
        for number, place in enumerate(places):
            frame[place : place + 8] = number.to_bytes(8, "big")
            partitions[number].committed_offset = number
        changed, end = decode(OffsetCommitRequest, version, frame, position)
        assert (changed, end) == (request, len(frame))

    check()


def test_offsets_are_not_looked_for_beside_what_is_not_known() -> None:
    partition = OffsetCommitRequestPartition(partition_index=1, committed_offset=7)
    topic = OffsetCommitRequestTopic(name="t", partitions=[partition])
    request = OffsetCommitRequest(group_id="g", topics=[topic])
    frame = bytearray(encode(request, 9))
    assert frame[-1] == 0
    assert offset_places(9, memoryview(frame), 0, request)
    frame[-1:] = b"\x01\x63\x01!"  # one tagged field that nobody knows
    assert decode(OffsetCommitRequest, 9, frame)[0] == request
    assert offset_places(9, memoryview(frame), 0, request) == []
    assert offset_places(9, memoryview(bytes(frame) + b"more"), 0, request) == []
