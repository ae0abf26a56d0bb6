"""TLS contexts: who is let in, and certificates that change on disk while connections go on."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

import pytest
from cryptography import x509

from dataplane.config import BrokerConfig, ConfigError
from dataplane.server.tls import TlsContexts
from tests.certificates import Authority

INTERNAL = "INTERNAL"


def config(keystore, truststore, **others):
    return BrokerConfig.parse(
        {
            "broker.id": "1",
            "zookeeper.connect": "127.0.0.1:1",
            "listeners": "CLIENT://127.0.0.1:0,INTERNAL://127.0.0.1:0",
            "listener.security.protocol.map": "CLIENT:SASL_SSL,INTERNAL:SASL_SSL",
            "inter.broker.listener.name": INTERNAL,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(keystore),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(truststore),
            "listener.name.internal.ssl.client.auth": "required",
            **others,
        }
    )


@pytest.fixture
def ours(tmp_path):
    return Authority(tmp_path, "ours")


@pytest.fixture
def keystore(tmp_path, ours):
    file = tmp_path / "keystore.pem"
    ours.issue("broker-1").replace(file)
    return file


@contextlib.asynccontextmanager
async def serving(context):
    """Echoes a line; gives the port."""

    async def echo(reader, writer):
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while line := await reader.readline():
                writer.write(line)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def ask(reader, writer):
    writer.write(b"hello\n")
    return await asyncio.wait_for(reader.readline(), 5)


async def asked(port, context):
    """What a fresh connection answers; ConnectionError when it is closed instead."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    try:
        if not (answer := await ask(reader, writer)):
            raise ConnectionError("closed")
        return answer
    finally:
        writer.close()


def trusting(authority):
    return ssl.create_default_context(cafile=authority.file)


async def served(port, authority):
    """The subject of the certificate that a fresh connection is shown."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting(authority))
    try:
        assert await ask(reader, writer) == b"hello\n"
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return x509.load_der_x509_certificate(shown).subject.rfc4514_string()
    finally:
        writer.close()


async def test_a_renewed_certificate_is_served_and_open_connections_go_on(ours, keystore):
    tls = TlsContexts(config(keystore, ours.file))
    async with serving(tls.server("CLIENT")) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting(ours))
        assert await served(port, ours) == "CN=broker-1"
        assert tls.follow() == 0
        ours.issue("broker-1-renewed").replace(keystore)
        assert tls.follow() == 1
        assert await served(port, ours) == "CN=broker-1-renewed"
        assert await ask(reader, writer) == b"hello\n"
        writer.close()
        assert tls.follow() == 0


@pytest.mark.parametrize("broken", ["gone", "no PEM", "another key"])
async def test_a_key_store_that_cannot_be_used_leaves_what_is_served(
    ours, keystore, broken, caplog
):
    tls = TlsContexts(config(keystore, ours.file))
    context = tls.server("CLIENT")
    if broken == "gone":
        keystore.unlink()
    elif broken == "no PEM":
        keystore.write_text("no PEM")
    else:
        # The renewed certificate, and a key that is not its own.
        other, mixed = ours.issue("other").read_text(), ours.issue("mixed").read_text()
        begins = "-----BEGIN CERTIFICATE-----"
        keystore.write_text(other.partition(begins)[0] + begins + mixed.partition(begins)[2])
    async with serving(context) as port:
        assert tls.follow() == 0
        assert await served(port, ours) == "CN=broker-1"
        assert "what was served goes on being served" in caplog.text
        # Said once, and taken up when it is mended.
        caplog.clear()
        assert tls.follow() == 0
        assert not caplog.records
        ours.issue("mended").replace(keystore)
        assert tls.follow() == 1
        assert await served(port, ours) == "CN=mended"


async def test_peers_show_a_certificate_of_ours_and_clients_need_none(ours, keystore, tmp_path):
    theirs = Authority(tmp_path, "theirs")
    foreign = tmp_path / "foreign.pem"
    theirs.issue("intruder").replace(foreign)
    tls = TlsContexts(config(keystore, ours.file))
    peer = TlsContexts(config(foreign, ours.file))
    async with serving(tls.server(INTERNAL)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls.client())
        assert await ask(reader, writer) == b"hello\n"
        writer.close()
        for context in (peer.client(), trusting(ours)):
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await asked(port, context)
    # The other way round: nobody is a peer whose authority we do not know.
    async with serving(TlsContexts(config(foreign, theirs.file)).server("CLIENT")) as port:
        with pytest.raises(ssl.SSLCertVerificationError):
            await asyncio.open_connection("127.0.0.1", port, ssl=tls.client())
    async with serving(tls.server("CLIENT")) as port:
        assert await served(port, ours) == "CN=broker-1"


async def test_an_authority_that_is_added_counts_at_once(ours, keystore, tmp_path):
    theirs = Authority(tmp_path, "theirs")
    foreign, trusted = tmp_path / "foreign.pem", tmp_path / "trusted.pem"
    theirs.issue("colleague").replace(foreign)
    trusted.write_bytes(ours.file.read_bytes())
    tls = TlsContexts(config(keystore, trusted))
    context = tls.server(INTERNAL)
    colleague = TlsContexts(config(foreign, ours.file)).client()
    trusted.write_bytes(ours.file.read_bytes() + theirs.file.read_bytes())
    assert tls.follow() == 1
    async with serving(context) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=colleague)
        assert await ask(reader, writer) == b"hello\n"
        writer.close()


async def test_other_files_by_a_changed_configuration(ours, keystore, tmp_path):
    second = tmp_path / "second.pem"
    ours.issue("second").replace(second)
    tls = TlsContexts(config(keystore, ours.file))
    async with serving(tls.server("CLIENT")) as port:
        assert tls.follow(config(second, ours.file)) == 1
        assert await served(port, ours) == "CN=second"


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"ssl.keystore.type": "JKS"}, "ssl.keystore.type"),
        ({"ssl.keystore.location": "/none"}, "ssl.keystore.location"),
        ({"listener.name.internal.ssl.truststore.location": "/none"}, "ssl.truststore.location"),
        ({"ssl.enabled.protocols": "TLSv1.1"}, "ssl.enabled.protocols"),
    ],
)
def test_a_wrong_setting_is_named(ours, keystore, changed, key):
    with pytest.raises(ConfigError) as caught:
        TlsContexts(config(keystore, ours.file, **changed)).server(INTERNAL)
    assert caught.value.key == key
