"""Authorities of clusters and certificates of brokers: what they say, and who believes them."""

import datetime as dt
import ipaddress
import socket
import ssl
import threading

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from controlplane.clusters.certificates import (
    BROKER_LIFE,
    RENEW_BEFORE,
    alternative_names,
    authority_make,
    broker_certificate_make,
    expiry_of,
    is_due,
)

NOW = dt.datetime.now(dt.UTC).replace(microsecond=0)


@pytest.fixture(scope="module")
def authority():
    return authority_make("kc_test", now=NOW)


def issue(authority, address="127.0.0.1", now=NOW):
    return broker_certificate_make(authority, name="broker 1", address=address, now=now)


def context_of(tmp_path, issued, name):
    file = tmp_path / f"{name}.pem"
    file.write_text(issued.key + issued.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def handshake(server, client, host):
    """Raises what the client raises."""
    here, there = socket.socketpair()

    def serve():
        try:
            server.wrap_socket(there, server_side=True).close()
        except OSError:
            there.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        client.wrap_socket(here, server_hostname=host).close()
    finally:
        here.close()
        thread.join(5)


def strict(authority):
    """As Python 3.13 and newer make it: what RFC 5280 asks for has to be there."""
    context = ssl.create_default_context(cadata=authority.certificate)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("127.0.0.1", ["127.0.0.1", "localhost"]),
        ("localhost", ["127.0.0.1", "localhost"]),
        ("10.1.2.3", ["10.1.2.3"]),
        ("kafka-1.example.org", ["kafka-1.example.org"]),
        ("[2001:db8::1]", ["2001:db8::1"]),
    ],
)
def test_clients_accept_a_broker_by_its_own_names_only(authority, tmp_path, address, names):
    server = context_of(tmp_path, issue(authority, address), "broker")
    for name in names:
        handshake(server, strict(authority), name)
    other = {"127.0.0.1", "localhost", "10.1.2.3", "other.example.org"} - set(names)
    for name in other:
        with pytest.raises(ssl.SSLCertVerificationError):
            handshake(server, strict(authority), name)


def test_an_authority_of_another_cluster_is_not_believed(authority, tmp_path):
    theirs = authority_make("kc_test", now=NOW)
    server = context_of(tmp_path, issue(theirs), "broker")
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, strict(authority), "127.0.0.1")


def test_a_brokers_certificate_signs_nobody_else(authority, tmp_path):
    """Who has a broker's key cannot make brokers with it."""
    broker = issue(authority)
    forged = issue(broker)
    server = context_of(tmp_path, forged, "forged")
    chain = tmp_path / "chain.pem"
    chain.write_text(forged.key + forged.certificate + broker.certificate)
    server.load_cert_chain(chain)
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, strict(authority), "127.0.0.1")


def test_what_a_certificate_says(authority):
    made = x509.load_pem_x509_certificate(issue(authority).certificate.encode())
    usage = made.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert set(usage) == {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH}
    assert made.not_valid_after_utc == NOW + BROKER_LIFE
    assert made.not_valid_before_utc < NOW
    root = x509.load_pem_x509_certificate(authority.certificate.encode())
    assert root.extensions.get_extension_for_class(x509.BasicConstraints).value.path_length == 0
    assert "PRIVATE KEY" not in authority.certificate
    assert "PRIVATE" not in repr(authority)


def test_a_broker_does_not_outlive_its_authority(authority):
    late = authority.expires_at - dt.timedelta(days=10)
    made = issue(authority, now=late)
    assert made.expires_at == authority.expires_at == expiry_of(authority.certificate)


def test_renewal_is_due_well_before_the_end():
    ends = NOW + BROKER_LIFE
    assert not is_due(ends, now=NOW)
    assert not is_due(ends, now=ends - RENEW_BEFORE - dt.timedelta(seconds=1))
    assert is_due(ends, now=ends - RENEW_BEFORE)
    assert is_due(ends, now=ends + dt.timedelta(days=1))


def test_addresses_become_names_of_their_kind():
    assert alternative_names("10.0.0.1") == [x509.IPAddress(ipaddress.ip_address("10.0.0.1"))]
    assert alternative_names("h.example") == [x509.DNSName("h.example")]
