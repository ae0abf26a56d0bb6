"""Hostile, broken and too-new requests on a live socket: answered by code, and the broker lives."""

from __future__ import annotations

import contextlib
import random
import struct

import pytest

from dataplane.wire.apis import API_TABLE, ApiKey, load
from dataplane.wire.codec import decode
from dataplane.wire.headers import encode_request_frame, parse_response_header
from dataplane.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from tests.conformance.raw_client import assert_alive, connected, read_frame
from tests.dataplane.wire.random_messages import Random
from tests.local_cluster import LocalCluster

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]
BETWEEN_BROKERS = {4, 5, 6, 7, 56, 58, 67}


@pytest.mark.parametrize("size", [-1, -(2**31), 2**31 - 1, 100 * 1024 * 1024 + 1, 0, 7])
def test_an_impossible_frame_size_closes_the_connection(cluster: LocalCluster, size: int) -> None:
    with connected(cluster) as sock:
        with contextlib.suppress(ConnectionError):
            sock.sendall(struct.pack(">i", size) + bytes(64))
        assert read_frame(sock) is None
    assert_alive(cluster)


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(cluster: LocalCluster) -> None:
    with connected(cluster) as sock:
        body = struct.pack(">hhih", 18, 99, 7, 1) + b"x" + b"\0\0\0\0"
        sock.sendall(struct.pack(">i", len(body)) + body)
        frame = read_frame(sock)
        assert frame is not None
        assert frame[:4] == b"\0\0\0\7"
        response, _ = decode(ApiVersionsResponse, 0, frame, 4)
        assert response.error_code == 35
        assert 18 in {entry.api_key for entry in response.api_keys}
        sock.sendall(
            encode_request_frame(
                ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3, 8, "x"
            )
        )
        assert read_frame(sock) is not None


def test_what_is_advertised_lies_within_the_table(cluster: LocalCluster) -> None:
    with connected(cluster) as sock:
        sock.sendall(encode_request_frame(ApiVersionsRequest(), 0, 8, "x"))
        frame = read_frame(sock)
    assert frame is not None
    response, _ = decode(ApiVersionsResponse, 0, frame, 4)
    offered = {entry.api_key: entry for entry in response.api_keys}
    assert {0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 18, 19, 20, 22} <= set(offered)
    for key, entry in offered.items():
        spec = API_TABLE[ApiKey(key)]
        assert spec.min_version <= entry.min_version <= entry.max_version <= spec.max_version


def test_random_requests_of_every_offered_version_are_answered(cluster: LocalCluster) -> None:
    """Whatever the fields hold, the answer parses in its version, or the connection closes."""
    with connected(cluster) as sock:
        sock.sendall(encode_request_frame(ApiVersionsRequest(), 0, 8, "x"))
        frame = read_frame(sock)
    assert frame is not None
    offered, _ = decode(ApiVersionsResponse, 0, frame, 4)
    closed = []
    for entry in offered.api_keys:
        if entry.api_key in BETWEEN_BROKERS:
            continue  # these are carried out: random ones would really stop replicas
        request_class, response_class = load(entry.api_key)
        for version in range(entry.min_version, entry.max_version + 1):
            generator = Random(entry.api_key * 100 + version)
            request = _harmless(generator.instance(request_class, version))
            with connected(cluster) as sock:
                sock.settimeout(20)
                sock.sendall(encode_request_frame(request, version, 9, "random"))
                try:
                    frame = read_frame(sock)
                except TimeoutError:
                    pytest.fail(f"{request_class.__name__} v{version} was not answered: {request}")
            if frame is None:
                closed.append((request_class.__name__, version))
                continue
            correlation_id, pos = parse_response_header(memoryview(frame), entry.api_key, version)
            assert correlation_id == 9
            _, end = decode(response_class, version, frame, pos)
            assert end == len(frame)
    assert closed == []
    assert_alive(cluster)


def _harmless(request: object) -> object:
    """Keep random waits short and random creations out of the shared cluster."""
    for name, value in {
        "max_wait_ms": 10,
        "acks": 1,
        "validate_only": True,
        "timeout_ms": 500,
    }.items():
        if hasattr(request, name):
            setattr(request, name, value)
    for name in ("session_timeout_ms", "rebalance_timeout_ms"):
        if hasattr(request, name):
            setattr(request, name, 6000)
    if hasattr(request, "allow_auto_topic_creation"):
        request.allow_auto_topic_creation = False
    return request


def test_garbage_bodies_leave_the_broker_alive(cluster: LocalCluster) -> None:
    rng = random.Random(1)
    for spec in API_TABLE.values():
        if spec.key in BETWEEN_BROKERS:
            continue
        with connected(cluster) as sock:
            sock.settimeout(1.0)
            body = struct.pack(">hhih", spec.key, spec.max_version, 7, -1)
            body += bytes(spec.is_flexible(spec.max_version)) + rng.randbytes(40)
            with contextlib.suppress(ConnectionError, TimeoutError):
                sock.sendall(struct.pack(">i", len(body)) + body)
                read_frame(sock)
    assert_alive(cluster)


def test_truncated_requests_leave_the_broker_alive(cluster: LocalCluster) -> None:
    for spec in API_TABLE.values():
        if spec.key in BETWEEN_BROKERS:
            continue
        request = Random(spec.key).instance(load(spec.key)[0], spec.max_version)
        frame = encode_request_frame(request, spec.max_version, 3, "truncated")
        with connected(cluster) as sock:
            sock.sendall(frame[: len(frame) // 2])  # and then the client is gone
    assert_alive(cluster)
