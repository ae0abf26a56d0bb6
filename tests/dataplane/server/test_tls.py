"""TLS contexts: who is let in, and certificates that change on disk while connections go on."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

import pytest
from cryptography import x509

from dataplane.config import BrokerConfig, ConfigError
from dataplane.server import cipher_suites
from dataplane.server.socket_binding import bind
from dataplane.server.tls import TlsContexts
from dataplane.server.tls_acceptor import TlsAcceptor
from tests.certificates import Authority, split_pem

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
async def serving(tls, listener="CLIENT"):
    """Echoes a line; gives the port."""

    async def echo(reader, writer):
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while line := await reader.readline():
                writer.write(line)
        writer.close()

    acceptor = TlsAcceptor(
        lambda: tls.server(listener),
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader(), echo),
        lambda *failure: None,
        handshakes_max=10,
    )
    assert tls.server(listener)
    bound = bind(listener, "127.0.0.1", 0)
    port = bound.getsockname()[1]
    acceptor.open(bound, 10)
    try:
        yield port
    finally:
        acceptor.close()


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
    async with serving(tls) as port:
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
    assert tls.server("CLIENT")
    if broken == "gone":
        keystore.unlink()
    elif broken == "no PEM":
        keystore.write_text("no PEM")
    else:
        # The renewed certificate, and a key that is not its own.
        other, mixed = ours.issue("other").read_text(), ours.issue("mixed").read_text()
        begins = "-----BEGIN CERTIFICATE-----"
        keystore.write_text(other.partition(begins)[0] + begins + mixed.partition(begins)[2])
    async with serving(tls) as port:
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
    async with serving(tls, INTERNAL) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls.client())
        assert await ask(reader, writer) == b"hello\n"
        writer.close()
        for context in (peer.client(), trusting(ours)):
            with pytest.raises((ssl.SSLError, ConnectionError)):
                await asked(port, context)
    # The other way round: nobody is a peer whose authority we do not know.
    async with serving(TlsContexts(config(foreign, theirs.file))) as port:
        with pytest.raises(ssl.SSLCertVerificationError):
            await asyncio.open_connection("127.0.0.1", port, ssl=tls.client())
    async with serving(tls) as port:
        assert await served(port, ours) == "CN=broker-1"


async def test_authorities_that_are_added_and_taken_away_count_at_once(ours, keystore, tmp_path):
    theirs = Authority(tmp_path, "theirs")
    foreign, trusted = tmp_path / "foreign.pem", tmp_path / "trusted.pem"
    theirs.issue("colleague").replace(foreign)
    trusted.write_bytes(ours.file.read_bytes())
    tls = TlsContexts(config(keystore, trusted))
    assert tls.server(INTERNAL)
    colleague = TlsContexts(config(foreign, ours.file)).client()
    trusted.write_bytes(ours.file.read_bytes() + theirs.file.read_bytes())
    assert tls.follow() == 1
    async with serving(tls, INTERNAL) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=colleague)
        assert await ask(reader, writer) == b"hello\n"
        trusted.write_bytes(ours.file.read_bytes())
        assert tls.follow() == 1
        assert await ask(reader, writer) == b"hello\n", "who is in stays"
        writer.close()
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await asked(port, colleague)


async def test_other_files_by_a_changed_configuration(ours, keystore, tmp_path):
    second = tmp_path / "second.pem"
    ours.issue("second").replace(second)
    tls = TlsContexts(config(keystore, ours.file))
    async with serving(tls) as port:
        assert tls.follow(config(second, ours.file)) == 1
        assert await served(port, ours) == "CN=second"


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"ssl.keystore.type": "JKS"}, "ssl.keystore.type"),
        ({"ssl.keystore.location": "/none"}, "ssl.keystore.location"),
        ({"listener.name.internal.ssl.truststore.location": "/none"}, "ssl.truststore.location"),
        ({"ssl.enabled.protocols": "TLSv1.1"}, "ssl.enabled.protocols"),
        ({"ssl.enabled.protocols": "TLSv1.3,TLSv1.4"}, "ssl.enabled.protocols"),
        ({"ssl.protocol": "TLSv9"}, "ssl.protocol"),
        ({"ssl.cipher.suites": "TLS_NONE"}, "ssl.cipher.suites"),
        ({"ssl.cipher.suites": "TLS_AES_128_GCM_SHA256"}, "ssl.cipher.suites"),
        (
            {
                "ssl.cipher.suites": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
                "ssl.enabled.protocols": "TLSv1.3",
            },
            "ssl.cipher.suites",
        ),
        ({"ssl.keystore.key": "a key"}, "ssl.keystore.key"),
        ({"ssl.truststore.certificates": "x"}, "ssl.truststore.certificates"),
    ],
)
def test_a_wrong_setting_is_named(ours, keystore, changed, key):
    with pytest.raises(ConfigError) as caught:
        TlsContexts(config(keystore, ours.file, **changed)).server(INTERNAL)
    assert caught.value.key == key


async def version_and_suite(port, authority, **versions):
    context = trusting(authority)
    for name, version in versions.items():
        setattr(context, name, version)
    _reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    try:
        tls = writer.get_extra_info("ssl_object")
        return tls.version(), tls.cipher()[0]
    finally:
        writer.close()


async def test_versions_and_suites_are_those_of_the_settings(ours, keystore):
    suite = {"ssl.cipher.suites": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"}
    spelled = "ECDHE-ECDSA-AES128-GCM-SHA256"
    tls = TlsContexts(config(keystore, ours.file, **suite))
    async with serving(tls) as port:
        # A suite of TLS 1.2 alone leaves that version alone.
        assert await version_and_suite(port, ours) == ("TLSv1.2", spelled)
        assert tls.follow(config(keystore, ours.file, **{"ssl.enabled.protocols": "TLSv1.3"})) == 1
        assert (await version_and_suite(port, ours))[0] == "TLSv1.3"
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await version_and_suite(port, ours, maximum_version=ssl.TLSVersion.TLSv1_2)
        assert tls.follow(config(keystore, ours.file, **{"ssl.enabled.protocols": "TLSv1.2"})) == 1
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await version_and_suite(port, ours, minimum_version=ssl.TLSVersion.TLSv1_3)


def test_every_suite_has_a_name_that_the_library_knows():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("ALL")
    known = {cipher["name"] for cipher in context.get_ciphers()}
    assert set(cipher_suites.TLS_1_2.values()) | cipher_suites.TLS_1_3 <= known


async def test_key_and_certificates_may_stand_in_the_settings(ours, keystore):
    key, chain = split_pem(keystore)
    given = {
        "ssl.keystore.key": key,
        "ssl.keystore.certificate.chain": chain,
        "ssl.truststore.certificates": ours.file.read_text(),
        "ssl.keystore.location": "",
        "ssl.truststore.location": "",
    }
    tls = TlsContexts(config(keystore, ours.file, **given))
    async with serving(tls, INTERNAL) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls.client())
        assert await ask(reader, writer) == b"hello\n"
        writer.close()


def test_a_sealed_key_without_its_password_is_refused_and_nobody_is_asked(ours, tmp_path):
    sealed = ours.issue("sealed", password="secret")
    with pytest.raises(ConfigError) as caught:
        TlsContexts(config(sealed, ours.file)).server("CLIENT")
    assert caught.value.key == "ssl.keystore.location"
    tls = TlsContexts(config(sealed, ours.file, **{"ssl.key.password": "secret"}))
    assert tls.server("CLIENT").verify_mode is ssl.CERT_NONE


def test_settings_are_checked_before_they_are_taken_and_the_end_is_known(ours, keystore, tmp_path):
    tls = TlsContexts(config(keystore, ours.file))
    context = tls.server("CLIENT")
    ends_s = x509.load_pem_x509_certificate(
        split_pem(keystore)[1].encode()
    ).not_valid_after_utc.timestamp()
    assert tls.expiries_s() == {"CLIENT": ends_s}
    broken = tmp_path / "broken.pem"
    broken.write_text("no PEM")
    with pytest.raises(ConfigError):
        tls.check(config(broken, ours.file))
    assert tls.follow(config(broken, ours.file)) == 0
    assert tls.server("CLIENT") is context
    ours.issue("longer", ends_in_h=48).replace(keystore)
    tls.check(config(keystore, ours.file))
    assert tls.follow(config(keystore, ours.file)) == 1
    assert tls.expiries_s()["CLIENT"] == pytest.approx(ends_s + 86_400, abs=60)


async def test_nobody_renegotiates(ours, keystore):
    tls = TlsContexts(config(keystore, ours.file))
    async with serving(tls) as port:
        client = await asyncio.create_subprocess_exec(
            *("openssl", "s_client", "-tls1_2", "-connect", f"127.0.0.1:{port}"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        client.stdin.write(b"hello\n")
        seen = b""
        while b"hello\n" not in seen:
            seen += await asyncio.wait_for(client.stdout.read(4096), 5)
        client.stdin.write(b"R\n")  # s_client asks to renegotiate
        seen, _ = await asyncio.wait_for(client.communicate(), 10)
        assert b"no renegotiation" in seen
        assert await served(port, ours) == "CN=broker-1"
