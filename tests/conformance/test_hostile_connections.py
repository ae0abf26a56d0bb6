"""What arrives at an open port that is no Kafka client: refused, counted, and nobody suffers."""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import struct
from typing import TYPE_CHECKING

import pytest

from dataplane.wire.headers import encode_request_frame
from dataplane.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.conformance.raw_client import (
    ask,
    assert_alive,
    connected,
    framed,
    header,
    metrics,
    read_frame,
)
from tests.local_cluster import LocalCluster, eventually, local_cluster
from tests.ports import free_row

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]

RECEIVE_BYTES_MAX = 32 << 20
GROWTH_BYTES_MAX = RECEIVE_BYTES_MAX + (32 << 20)
BAD_FRAMES = "penstock_bad_frames_total"
# A megabyte of names that are none.
LARGE_REQUEST = MetadataRequest(
    topics=[MetadataRequestTopic(name="!" * 20_000) for _ in range(50)],
    allow_auto_topic_creation=False,
)


@pytest.fixture(scope="module")
def metrics_port() -> int:
    return free_row(1)


@pytest.fixture(scope="module")
def lone(tmp_path_factory: pytest.TempPathFactory, metrics_port: int) -> Iterator[LocalCluster]:
    """One broker, so that there is one page of metrics, with a small bound of its buffers."""
    settings = {
        "penstock.metrics.port": str(metrics_port),
        "queued.max.request.bytes": str(RECEIVE_BYTES_MAX),
    }
    with local_cluster(tmp_path_factory.mktemp("lone"), brokers=1, settings=settings) as started:
        yield started


def resident_bytes(cluster: LocalCluster) -> int:
    status = pathlib.Path(f"/proc/{cluster.broker_pid(0)}/statm").read_text()
    return int(status.split()[1]) * os.sysconf("SC_PAGE_SIZE")


def tls_hello() -> bytes:
    body = b"\x03\x03" + os.urandom(32) + b"\0\0\x02\x13\x01\x01\0"
    hello = b"\x01" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x01" + struct.pack(">H", len(hello)) + hello


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n", id="http"),
        pytest.param(tls_hello(), id="tls"),
        pytest.param(b"\xff" * 64, id="negative size"),
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n", id="ssh"),
        pytest.param(framed(b""), id="empty frame"),
        pytest.param(framed(b"\0\3"), id="half a header"),
        pytest.param(struct.pack(">ih", 50 << 20, 3), id="50 MiB of Metadata"),
        pytest.param(struct.pack(">i", (100 << 20) + 1), id="above the largest frame"),
    ],
)
def test_what_is_no_request_is_closed_and_counted(
    lone: LocalCluster, metrics_port: int, stream: bytes
) -> None:
    before = metrics(metrics_port)[BAD_FRAMES]
    with connected(lone) as sock:
        sock.sendall(stream)
        assert read_frame(sock) is None
    assert metrics(metrics_port)[BAD_FRAMES] == before + 1
    assert_alive(lone)


def test_a_malformed_body_is_answered_or_closed_and_counted(
    lone: LocalCluster, metrics_port: int
) -> None:
    name = "penstock_malformed_requests_total"
    before = metrics(metrics_port)[name]
    with connected(lone) as sock:
        # Metadata v1 with 2^31 - 1 topics, of which none follows
        sock.sendall(framed(header(3, 1) + struct.pack(">i", 2**31 - 1)))
        read_frame(sock)
    assert metrics(metrics_port)[name] == before + 1
    assert_alive(lone)


UNSUPPORTED_VERSION = (35).to_bytes(2)


@pytest.mark.parametrize(("key", "version"), [(9999, 0), (-1, -1), (3, 99)])
def test_what_is_not_served_is_answered_with_error_35(
    lone: LocalCluster, key: int, version: int
) -> None:
    with connected(lone) as sock:
        sock.sendall(framed(header(key, version)))
        answer = read_frame(sock)
    assert answer is not None
    assert UNSUPPORTED_VERSION in answer
    assert_alive(lone)


def test_unknown_apis_do_not_fill_the_metrics(lone: LocalCluster, metrics_port: int) -> None:
    for key in range(500, 520):
        with connected(lone) as sock:
            sock.sendall(framed(header(key, 0)))
            answer = read_frame(sock)
            assert answer is not None
            assert answer.endswith(UNSUPPORTED_VERSION)
    names = [
        name
        for name in metrics(metrics_port)
        if name.startswith("kafka_network_requestmetrics_requests_total")
    ]
    assert 'kafka_network_requestmetrics_requests_total{request="unknown"}' in names
    assert not any("5" in name for name in names)


def test_frames_sent_by_halves_do_not_take_the_memory(
    lone: LocalCluster, metrics_port: int
) -> None:
    """Their connections are no longer read, and are closed when others wait for the memory."""
    before = resident_bytes(lone)
    with contextlib.ExitStack() as held:
        for _ in range(24):
            sock = held.enter_context(connected(lone))
            sock.settimeout(0.2)
            with contextlib.suppress(TimeoutError):
                sock.sendall(struct.pack(">ih", 30 << 20, 0) + bytes(4 << 20))
        for _ in eventually(10, "some wait for memory"):
            seen = metrics(metrics_port)
            if seen["penstock_receive_buffer_paused"] > 0:
                break
        assert seen["kafka_network_socketserver_memorypoolused"] <= RECEIVE_BYTES_MAX
        assert resident_bytes(lone) - before < GROWTH_BYTES_MAX
        assert_alive(lone)
        for _ in eventually(60, "who comes last is served too"):
            with connected(lone) as honest, contextlib.suppress(ConnectionError, TimeoutError):
                if ask(honest, LARGE_REQUEST, 9) is not None:
                    break
        seen = metrics(metrics_port)
        assert seen["kafka_network_socketserver_memorypoolused"] <= RECEIVE_BYTES_MAX
        assert seen["penstock_receive_buffer_refusals"] > 0
    for _ in eventually(60, "the buffers are given back"):
        if metrics(metrics_port)["kafka_network_socketserver_memorypoolused"] == 0:
            break


def test_a_frame_that_all_buffers_together_cannot_hold_is_refused(
    lone: LocalCluster, metrics_port: int
) -> None:
    before = metrics(metrics_port)[BAD_FRAMES]
    with connected(lone) as sock, contextlib.suppress(ConnectionError):
        sock.sendall(struct.pack(">ih", 90 << 20, 0) + bytes(40 << 20))
        assert read_frame(sock) is None
    for _ in eventually(10, "it is counted"):
        if metrics(metrics_port)[BAD_FRAMES] == before + 1:
            break


def test_sizes_that_are_only_announced_cost_nothing(lone: LocalCluster, metrics_port: int) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(50):
            held.enter_context(connected(lone)).sendall(struct.pack(">ih", 90 << 20, 0))
        assert metrics(metrics_port)["kafka_network_socketserver_memorypoolused"] == 0
        assert_alive(lone)


def test_a_slow_writer_is_answered_and_holds_up_nobody(lone: LocalCluster) -> None:
    frame = encode_request_frame(MetadataRequest(topics=[]), 9, 7, "slow")
    with connected(lone) as slow:
        slow.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in frame:
            slow.sendall(bytes([byte]))
            assert_alive(lone)
        assert read_frame(slow) is not None


def test_half_open_and_half_closed_connections_leave_nothing(
    lone: LocalCluster, metrics_port: int
) -> None:
    name = 'kafka_server_socket_server_metrics_connection_count{listener="PLAINTEXT"}'
    for _ in eventually(10, "the others' connections are gone"):
        start = metrics(metrics_port)[name]
        if start <= 1:
            break
    with contextlib.ExitStack() as held:
        for _ in range(300):
            held.enter_context(connected(lone))
        for _ in range(20):
            held.enter_context(connected(lone)).shutdown(socket.SHUT_WR)
        assert_alive(lone)
        for _ in eventually(10, "the half-closed ones are closed"):
            if metrics(metrics_port)[name] <= start + 300:
                break
    for _ in eventually(10, "all are gone"):
        if metrics(metrics_port)[name] <= start:
            break


def test_a_reader_that_does_not_read_is_not_served_on(lone: LocalCluster) -> None:
    """Answers are not heaped up for it: the broker stops taking its requests."""
    before = resident_bytes(lone)
    frame = encode_request_frame(MetadataRequest(topics=None), 9, 7, "deaf")
    with connected(lone) as deaf:
        deaf.settimeout(1.0)
        with contextlib.suppress(TimeoutError):
            for _ in range(3_000):
                deaf.sendall(frame * 50)
        assert resident_bytes(lone) - before < GROWTH_BYTES_MAX
        assert_alive(lone)


def test_an_answer_comes_to_whoever_behaves_after_all_that(lone: LocalCluster) -> None:
    with connected(lone) as sock:
        for _ in range(20):
            assert ask(sock, MetadataRequest(topics=[]), 9) is not None
