"""Brokers that ask who is there, and connections to them: SCRAM with ACLs, or TLS."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import socket
import ssl
from typing import TYPE_CHECKING

from dataplane.broker.networking.peer_login import PeerCredentials, ScramClient
from dataplane.wire.messages.create_acls import AclCreation, CreateAclsRequest
from dataplane.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from dataplane.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.bench.dataplane.load import BenchError
from tests.bench.dataplane.protocol import Client
from tests.certificates import Authority

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SCRAM = "scram"
USER, PASSWORD, MECHANISM, ITERATIONS = "bench", "bench-secret", "SCRAM-SHA-256", 4096
TOPIC, LITERAL, ANY_NAME, ALLOW = 2, 3, "*", 3
READ, WRITE = 3, 4
TOPIC_AUTHORIZATION_FAILED = 29


def scram_settings() -> Mapping[str, str]:
    """ACLs for everybody; who comes without a login, as the benchmark's own clients, may do all."""
    salt = os.urandom(16)
    salted = hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), salt, ITERATIONS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    keys = ":".join(base64.b64encode(part).decode() for part in (salt, stored, server))
    return {
        "sasl.enabled.mechanisms": MECHANISM,
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "super.users": "User:ANONYMOUS",
        "penstock.bootstrap.scram": f"{USER}={MECHANISM}:{ITERATIONS}:{keys}",
    }


def tls_settings(directory: Path) -> tuple[Mapping[str, str], str]:
    """Settings of either kind of broker, and what `connect` wants to hear."""
    authority = Authority(directory, "bench-authority")
    settings = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(authority.issue("bench-broker")),
    }
    return settings, str(authority.file)


def allow_topics(port: int) -> None:
    """The user may read and write every topic."""
    rules = [
        AclCreation(
            resource_type=TOPIC,
            resource_name=ANY_NAME,
            resource_pattern_type=LITERAL,
            principal=f"User:{USER}",
            host="*",
            operation=operation,
            permission_type=ALLOW,
        )
        for operation in (READ, WRITE)
    ]
    with Client(port) as client:
        answer = client.ask(CreateAclsRequest(creations=rules))
    if any(each.error_code for each in answer.results):
        raise BenchError(f"CreateAcls: {answer.results}")


def check_refused(port: int) -> None:
    """Without a rule the user may not even see a topic: else nothing would be measured."""
    with Client(port, connected=connect(port, SCRAM)) as client:
        (topic,) = client.metadata(["hidden"]).topics
    if topic.error_code != TOPIC_AUTHORIZATION_FAILED:
        raise BenchError(f"ACLs do not hold: error {topic.error_code}")


def connect(port: int, security: str) -> socket.socket:
    """`security` is empty, SCRAM, or the authority's file for TLS. Blocking; logged in."""
    sock = socket.create_connection(("127.0.0.1", port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if security == SCRAM:
        _log_in(sock)
    elif security:
        context = ssl.create_default_context(cafile=security)
        return context.wrap_socket(sock, server_hostname="127.0.0.1")
    return sock


def _log_in(sock: socket.socket) -> None:
    exchange = ScramClient(PeerCredentials(USER, PASSWORD, MECHANISM), os.urandom(12).hex())
    client = Client(0, connected=sock)

    def step(token: bytes) -> bytes:
        answer = client.ask(SaslAuthenticateRequest(auth_bytes=token))
        if answer.error_code:
            raise BenchError(f"login: {answer.error_message}")
        return bytes(answer.auth_bytes)

    if client.ask(SaslHandshakeRequest(mechanism=MECHANISM)).error_code:
        raise BenchError(f"{MECHANISM} is not offered")
    exchange.verify(step(exchange.final(step(exchange.first()))))
