"""Who a client is by its certificate, over real connections."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import struct
from typing import TYPE_CHECKING, Any

import pytest

from dataplane.broker.metrics import Metrics
from dataplane.config import BrokerConfig, ConfigError
from dataplane.server.listener import Listener
from dataplane.server.listener_limits import ListenerLimits
from dataplane.server.socket_binding import bind
from dataplane.server.tls import TlsContexts, principal_mapping
from tests.certificates import Authority

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

RULES = "RULE:^CN=broker-(.*)$/$1/,RULE:^CN=(user-.*)$/$1/U"


class WhoAmI:
    """Answers every frame with the principal of its connection."""

    def submit(self, connection: Any, frame: memoryview) -> list[bytes]:
        name = str(connection.info.principal).encode()
        return [struct.pack(">i", len(name)) + name]


def config(authority: Authority, keystore: Path, protocol: str, **others: str) -> BrokerConfig:
    return BrokerConfig.parse(
        {
            "broker.id": "1",
            "zookeeper.connect": "127.0.0.1:1",
            "listeners": "CLIENT://127.0.0.1:0",
            "listener.security.protocol.map": f"CLIENT:{protocol}",
            "inter.broker.listener.name": "CLIENT",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(keystore),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(authority.file),
            "ssl.principal.mapping.rules": RULES,
            **others,
        }
    )


@pytest.fixture
def ours(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "ours")


@contextlib.asynccontextmanager
async def serving(
    settings: BrokerConfig, protocol: str = "SSL"
) -> AsyncIterator[tuple[int, Metrics]]:
    metrics = Metrics()
    contexts = TlsContexts(settings)
    listener = Listener(
        name="CLIENT",
        security_protocol=protocol,
        dispatcher=WhoAmI(),  # type: ignore[arg-type]  # as much of one as is asked here
        metrics=metrics,
        limits=ListenerLimits(),
        tls=lambda: contexts.server("CLIENT"),
        principal_mapping=principal_mapping(settings, "CLIENT") if protocol == "SSL" else None,
    )
    bound = bind("CLIENT", "127.0.0.1", 0)
    port = bound.getsockname()[1]
    await listener.open(bound)
    try:
        yield port, metrics
    finally:
        listener.stop_accepting()
        listener.close_connections()


async def principal(port: int, authority: Authority, certificate: Path | None) -> str | None:
    """Who the listener takes us for; None when it does not let us in."""
    context = ssl.create_default_context(cafile=str(authority.file))
    if certificate is not None:
        context.load_cert_chain(certificate)
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        writer.write(struct.pack(">i", 1) + b"?")
        (size,) = struct.unpack(">i", await asyncio.wait_for(reader.readexactly(4), 5))
        name = await reader.readexactly(size)
    except (ssl.SSLError, ConnectionError, asyncio.IncompleteReadError):
        return None
    writer.close()
    return name.decode()


@pytest.mark.parametrize("auth", ["required", "requested", "none"])
async def test_a_certificate_names_its_principal(
    ours: Authority, tmp_path: Path, auth: str
) -> None:
    keystore, user = ours.issue("broker-1"), ours.issue("user-a")
    nobody = ours.issue("stranger")
    intruder = Authority(tmp_path, "theirs").issue("user-b")
    async with serving(config(ours, keystore, "SSL", **{"ssl.client.auth": auth})) as (port, seen):
        shown = [await principal(port, ours, each) for each in (user, nobody, intruder, None)]
        anonymous = "User:ANONYMOUS"
        if auth == "none":
            assert shown == [anonymous] * 4
        else:
            assert shown == ["User:USER-A", None, None, None if auth == "required" else anonymous]
        assert seen.refused_certificates.value == int(auth != "none")


async def test_under_sasl_the_login_counts_and_the_unscoped_setting_does_not(
    ours: Authority,
) -> None:
    keystore = ours.issue("broker-1")
    settings = config(
        ours,
        keystore,
        "SASL_SSL",
        **{"ssl.client.auth": "required", "sasl.enabled.mechanisms": "SCRAM-SHA-256"},
    )
    async with serving(settings, "SASL_SSL") as (port, _metrics):
        assert await principal(port, ours, None) == "User:ANONYMOUS"
    scoped = BrokerConfig.parse(
        {**settings.static, "listener.name.client.ssl.client.auth": "required"}
    )
    async with serving(scoped, "SASL_SSL") as (port, _metrics):
        assert await principal(port, ours, None) is None
        assert await principal(port, ours, ours.issue("stranger")) == "User:ANONYMOUS"


def test_a_rule_that_is_wrong_is_named(ours: Authority) -> None:
    rules = {"ssl.principal.mapping.rules": "RULE:(/x/"}
    with pytest.raises(ConfigError) as caught:
        principal_mapping(config(ours, ours.issue("broker-1"), "SSL", **rules), "CLIENT")
    assert caught.value.key == "ssl.principal.mapping.rules"
