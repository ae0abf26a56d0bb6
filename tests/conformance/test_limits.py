"""The bounds of one live broker, each met by who goes beyond it: refused, counted, others served."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from typing import TYPE_CHECKING, Any

import pytest

from dataplane.model.errors import ErrorCode as E
from dataplane.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from dataplane.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.conformance.raw_client import ask, connected, framed, header, metrics, read_frame
from tests.conformance.test_sasl_mechanisms import PLAIN_MODULE
from tests.local_cluster import LocalCluster, eventually, local_cluster
from tests.ports import free_row

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]

CONNECTIONS_MAX = 40
IDLE_MS = 3_000


class Bounded(LocalCluster):
    metrics_port: int


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bounded]:
    """SASL on a listener that has so many places; the broker itself uses the other one."""
    port = free_row(1)
    settings = {
        "penstock.metrics.port": str(port),
        "sasl.enabled.mechanisms": "PLAIN",
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
            f'{PLAIN_MODULE} required user_a="s";'
        ),
        "listener.name.sasl_plaintext.max.connections": str(CONNECTIONS_MAX),
        "connections.max.idle.ms": str(IDLE_MS),
        "connection.failed.authentication.delay.ms": "200",
    }
    with local_cluster(
        tmp_path_factory.mktemp("limits"),
        brokers=1,
        settings=settings,
        listeners=["SASL_PLAINTEXT"],
    ) as started:
        started.metrics_port = port
        started.bootstrap = started.bootstraps["SASL_PLAINTEXT"]
        yield started


def count(broker: Bounded, name: str) -> float:
    return metrics(broker.metrics_port)[name]


def log_in(sock: socket.socket, token: bytes = b"\0a\0s") -> Any:
    ask(sock, SaslHandshakeRequest(mechanism="PLAIN"), 1)
    return ask(sock, SaslAuthenticateRequest(auth_bytes=token), 2)


def assert_serves(broker: Bounded) -> None:
    with connected(broker) as sock:
        assert log_in(sock).error_code == E.NONE


def test_a_token_that_is_too_large_is_cut(broker: Bounded) -> None:
    bad = count(broker, "penstock_bad_frames_total")
    with connected(broker) as sock:
        ask(sock, SaslHandshakeRequest(mechanism="PLAIN"), 1)
        with contextlib.suppress(ConnectionError):
            sock.sendall(struct.pack(">i", 600 << 10) + bytes(600 << 10))
            assert read_frame(sock) is None
    assert count(broker, "penstock_bad_frames_total") == bad + 1
    failed = count(broker, "penstock_failed_logins_total")
    with connected(broker) as sock:
        answer = log_in(sock, b"\0a\0" + b"s" * (400 << 10))
        assert answer.error_code == E.SASL_AUTHENTICATION_FAILED
        assert read_frame(sock) is None
    assert count(broker, "penstock_failed_logins_total") == failed + 1
    assert_serves(broker)


def test_a_flood_of_wrong_credentials_holds_nobody_up(broker: Bounded) -> None:
    """Each waits for its refusal; who knows the password does not."""
    failed = count(broker, "penstock_failed_logins_total")
    handshake = framed(header(17, 1) + b"\0\5PLAIN")
    with contextlib.ExitStack() as held:
        flood = [held.enter_context(connected(broker)) for _ in range(CONNECTIONS_MAX - 5)]
        for sock in flood:
            sock.sendall(handshake)
        for sock in flood:
            assert read_frame(sock) is not None
            token = b"\0a\0wrong"
            sock.sendall(framed(header(36, 1) + struct.pack(">i", len(token)) + token))
        started_s = time.monotonic()
        assert_serves(broker)
        assert time.monotonic() - started_s < 5
        for sock in flood:
            assert read_frame(sock) is not None
            assert read_frame(sock) is None
    assert count(broker, "penstock_failed_logins_total") == failed + len(flood)


def test_what_has_no_place_is_refused_and_counted(broker: Bounded) -> None:
    name = 'kafka_server_socket_server_metrics_connection_count{listener="SASL_PLAINTEXT"}'
    refused = count(broker, "penstock_refused_connections_total")
    for _ in eventually(10, "the others are gone"):
        if count(broker, name) == 0:
            break
    with contextlib.ExitStack() as held:
        for _ in range(CONNECTIONS_MAX):
            held.enter_context(connected(broker))
        for _ in eventually(10, "all have their place"):
            if count(broker, name) == CONNECTIONS_MAX:
                break
        for _ in range(10):
            with connected(broker) as sock:
                assert read_frame(sock) is None
        assert count(broker, "penstock_refused_connections_total") == refused + 10
        assert count(broker, name) == CONNECTIONS_MAX
    for _ in eventually(10, "places are free again"):
        if count(broker, name) == 0:
            break
    assert_serves(broker)


def test_who_says_nothing_and_who_reads_nothing_is_closed(broker: Bounded) -> None:
    """Before and after the login; and an answer that nobody reads keeps no place for ever."""
    idle = count(broker, "penstock_idle_connections_closed_total")
    deaf_name = 'penstock_connections_with_unread_answers{listener="SASL_PLAINTEXT"}'
    with connected(broker) as silent, connected(broker) as quiet, connected(broker) as deaf:
        assert log_in(quiet).error_code == E.NONE
        assert log_in(deaf).error_code == E.NONE
        deaf.settimeout(0.3)
        with contextlib.suppress(TimeoutError):
            while True:  # until neither side takes more
                deaf.sendall(framed(header(18, 0)) * 2_000)
        for _ in eventually(20, "its answers heap up"):
            if count(broker, deaf_name) == 1:
                break
        silent.settimeout(30)
        quiet.settimeout(30)
        assert read_frame(silent) is None
        assert read_frame(quiet) is None
        for _ in eventually(40, "the one that does not read is closed"):
            if count(broker, deaf_name) == 0:
                break
        assert count(broker, "penstock_idle_connections_closed_total") >= idle + 3
    assert_serves(broker)
