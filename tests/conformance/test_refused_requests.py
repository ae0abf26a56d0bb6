"""Requests that are understood and refused: each with Kafka's own code, and the broker goes on."""

from __future__ import annotations

import struct
import uuid
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from dataplane.model.errors import ErrorCode
from dataplane.wire.apis import API_TABLE, ApiKey
from dataplane.wire.messages.api_versions import ApiVersionsRequest
from dataplane.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from dataplane.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from dataplane.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from dataplane.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from dataplane.wire.messages.sasl_handshake import SaslHandshakeRequest
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.conformance.raw_client import (
    ask,
    assert_alive,
    connected,
    framed,
    header,
    read_frame,
)
from tests.local_cluster import LocalCluster

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]

BETWEEN_BROKERS = {4, 5, 6, 7, 56, 58, 67}
ILLEGAL_NAMES = ["", ".", "..", "a/b", "sp ace", "x" * 250, "ümlaut", "a\0b"]


@pytest.fixture(scope="module")
def whole_topic(cluster: LocalCluster) -> str:
    """One partition on every broker, led by the one that the raw client talks to."""
    name = f"raw-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    topic = NewTopic(name, 1, replica_assignment=[[0, 1, 2]])
    admin.create_topics([topic])[name].result(20)
    return name


def batch(value: bytes = b"value", **options: Any) -> bytearray:
    return build_batch([NewRecord(None, value, (), 1_700_000_000_000)], **options)


def produce(
    cluster: LocalCluster, topic: str, records: bytes | bytearray | None, *, acks: int = 1
) -> int:
    request = ProduceRequest(
        acks=acks,
        timeout_ms=5_000,
        topic_data=[
            TopicProduceData(
                name=topic, partition_data=[PartitionProduceData(index=0, records=records)]
            )
        ],
    )
    with connected(cluster) as sock:
        response = ask(sock, request, 9)
    assert response is not None
    return int(response.responses[0].partition_responses[0].error_code)


def with_byte(records: bytearray, at: int, value: int) -> bytearray:
    records[at] = value
    return records


def magic_1() -> bytes:
    """A message set of the format before batches."""
    message = struct.pack(">IbbqiI", 0, 1, 0, 0, -1, 1) + b"v"
    return struct.pack(">qi", 0, len(message)) + message


@pytest.mark.parametrize(
    ("records", "code"),
    [
        pytest.param(with_byte(batch(), 70, 255), ErrorCode.CORRUPT_MESSAGE, id="CRC"),
        pytest.param(with_byte(batch(), 16, 3), ErrorCode.INVALID_RECORD, id="magic 3"),
        pytest.param(magic_1(), ErrorCode.INVALID_RECORD, id="magic 1"),
        pytest.param(batch()[:-1], ErrorCode.CORRUPT_MESSAGE, id="truncated"),
        pytest.param(batch() + batch(), ErrorCode.INVALID_RECORD, id="two batches"),
        pytest.param(b"\0" * 61, ErrorCode.INVALID_RECORD, id="zeros"),
        pytest.param(b"short", ErrorCode.CORRUPT_MESSAGE, id="short"),
        pytest.param(batch(bytes(1_100_000)), ErrorCode.MESSAGE_TOO_LARGE, id="too large"),
    ],
)
def test_a_batch_that_cannot_be_stored(
    cluster: LocalCluster, whole_topic: str, records: bytearray, code: ErrorCode
) -> None:
    assert produce(cluster, whole_topic, records) == code
    assert produce(cluster, whole_topic, batch()) == ErrorCode.NONE


@pytest.mark.parametrize("acks", [2, -2, 32767])
def test_acks_that_do_not_exist(cluster: LocalCluster, whole_topic: str, acks: int) -> None:
    code = produce(cluster, whole_topic, batch(), acks=acks)
    assert code == ErrorCode.INVALID_REQUIRED_ACKS


def test_produce_to_what_is_not_there(cluster: LocalCluster) -> None:
    code = produce(cluster, "no-such-topic", batch())
    assert code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_every_api_answers_a_version_from_the_future(cluster: LocalCluster) -> None:
    """Error 35, for what no release knows too, and the connection serves on."""
    for spec in API_TABLE.values():
        if spec.key in BETWEEN_BROKERS:
            continue
        with connected(cluster) as sock:
            for key in (spec.key, 1_000):
                sock.sendall(framed(header(key, spec.max_version + 1) + bytes(64)))
                frame = read_frame(sock)
                assert frame is not None
                assert frame[:4] == b"\0\0\0\7"
                assert struct.pack(">h", ErrorCode.UNSUPPORTED_VERSION) in frame[4:]
                if spec.key == key == ApiKey.API_VERSIONS:
                    assert frame[4:6] == struct.pack(">h", ErrorCode.UNSUPPORTED_VERSION)
    assert_alive(cluster)


@pytest.mark.parametrize("name", ILLEGAL_NAMES)
def test_metadata_of_an_illegal_name(cluster: LocalCluster, name: str) -> None:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=True
    )
    with connected(cluster) as sock:
        response = ask(sock, request, 9)
    assert response.topics[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert_alive(cluster)


def create(cluster: LocalCluster, **changes: Any) -> tuple[int, str]:
    """Ask the controller for one topic; its code and message."""
    values = {"name": f"t-{uuid.uuid4().hex[:8]}", "num_partitions": 1, "replication_factor": 1}
    request = CreateTopicsRequest(
        topics=[CreatableTopic(**(values | changes))], timeout_ms=5_000, validate_only=True
    )
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    controller = admin.list_topics(timeout=10).controller_id
    with connected(cluster, controller) as sock:
        response = ask(sock, request, 7)
    result = response.topics[0]
    return result.error_code, result.error_message or ""


@pytest.mark.parametrize(
    ("changes", "code", "word"),
    [
        *[({"name": name}, ErrorCode.INVALID_TOPIC_EXCEPTION, "") for name in ILLEGAL_NAMES],
        ({"num_partitions": 0}, ErrorCode.INVALID_PARTITIONS, "partitions"),
        ({"num_partitions": -2}, ErrorCode.INVALID_PARTITIONS, "partitions"),
        ({"replication_factor": 0}, ErrorCode.INVALID_REPLICATION_FACTOR, "eplication factor"),
        ({"replication_factor": 4}, ErrorCode.INVALID_REPLICATION_FACTOR, "4"),
        (
            {"configs": [CreatableTopicConfig(name="retention.ms", value="soon")]},
            ErrorCode.INVALID_CONFIG,
            "retention.ms",
        ),
        (
            {"configs": [CreatableTopicConfig(name="no.such.key", value="1")]},
            ErrorCode.INVALID_CONFIG,
            "no.such.key",
        ),
        (
            {
                "num_partitions": -1,
                "replication_factor": -1,
                "assignments": [CreatableReplicaAssignment(partition_index=0, broker_ids=[0, 0])],
            },
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "",
        ),
        (
            {
                "num_partitions": -1,
                "replication_factor": -1,
                "assignments": [CreatableReplicaAssignment(partition_index=1, broker_ids=[0])],
            },
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "",
        ),
        (
            {"assignments": [CreatableReplicaAssignment(partition_index=0, broker_ids=[0])]},
            ErrorCode.INVALID_REQUEST,
            "",
        ),
    ],
)
def test_a_topic_that_cannot_be(
    cluster: LocalCluster, changes: dict[str, Any], code: ErrorCode, word: str
) -> None:
    answered, message = create(cluster, **changes)
    assert answered == code, message
    assert word in message


def test_an_outrageous_number_of_partitions_is_refused_quickly(cluster: LocalCluster) -> None:
    answered, message = create(cluster, num_partitions=2**31 - 1)
    assert answered in {ErrorCode.INVALID_PARTITIONS, ErrorCode.POLICY_VIOLATION}, message
    assert_alive(cluster)


# -- SASL out of order


def test_a_request_before_the_login_closes(sasl_cluster: LocalCluster) -> None:
    with connected(sasl_cluster) as sock:
        assert ask(sock, MetadataRequest(topics=[]), 9) is None


def test_versions_are_answered_before_the_login(sasl_cluster: LocalCluster) -> None:
    with connected(sasl_cluster) as sock:
        assert ask(sock, ApiVersionsRequest(), 0).error_code == ErrorCode.NONE
        assert ask(sock, SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1).error_code == 0


def test_a_token_without_a_handshake(sasl_cluster: LocalCluster) -> None:
    with connected(sasl_cluster) as sock:
        response = ask(sock, SaslAuthenticateRequest(auth_bytes=b"n,,n=admin,r=x"), 2)
        assert response.error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert read_frame(sock) is None


def test_an_unknown_mechanism_is_answered_with_the_known_ones(sasl_cluster: LocalCluster) -> None:
    with connected(sasl_cluster) as sock:
        response = ask(sock, SaslHandshakeRequest(mechanism="GSSAPI"), 1)
        assert response.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
        assert set(response.mechanisms) == {"SCRAM-SHA-256", "SCRAM-SHA-512"}


def test_a_second_handshake(sasl_cluster: LocalCluster) -> None:
    with connected(sasl_cluster) as sock:
        assert ask(sock, SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1).error_code == 0
        again = ask(sock, SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)
        assert again is None or again.error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert read_frame(sock) is None


@pytest.mark.parametrize("token", [b"", b"\xff" * 100, b"n,,", b"n,,n=admin,r=", b"x" * 300_000])
def test_tokens_that_make_no_sense(sasl_cluster: LocalCluster, token: bytes) -> None:
    with connected(sasl_cluster) as sock:
        assert ask(sock, SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1).error_code == 0
        response = ask(sock, SaslAuthenticateRequest(auth_bytes=token), 2)
        assert response.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert read_frame(sock) is None


def test_a_large_frame_before_the_login_closes(sasl_cluster: LocalCluster) -> None:
    with connected(sasl_cluster) as sock:
        sock.sendall(struct.pack(">i", 1 << 20))
        assert read_frame(sock) is None
