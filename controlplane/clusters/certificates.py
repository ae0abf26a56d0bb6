"""A certificate authority for each managed cluster, and the certificates of its brokers.

The authority signs nothing but its brokers' certificates. Each names its broker alone: the address
that clients and peers are sent, and this machine where that is the address.
"""

import datetime as dt
import ipaddress
from dataclasses import dataclass, field

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

AUTHORITY_LIFE = dt.timedelta(days=3650)
BROKER_LIFE = dt.timedelta(days=90)
RENEW_BEFORE = dt.timedelta(days=30)
CLOCKS_DIFFER = dt.timedelta(hours=1)
"""So much earlier certificates begin: clients' clocks are not ours."""
_PEM = serialization.Encoding.PEM


@dataclass(frozen=True, slots=True)
class Issued:
    """A private key (PKCS 8) and its certificate, PEM both."""

    key: str = field(repr=False)
    certificate: str
    expires_at: dt.datetime


def authority_make(name: str, *, now: dt.datetime) -> Issued:
    """A new authority for the cluster of that name or id."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _named(f"{name} authority")
    builder = (
        _builder(subject, subject, key.public_key(), now, AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(is_authority=True), critical=True)
    )
    return _issued(key, builder.sign(key, hashes.SHA256()))


def broker_certificate_make(
    authority: Issued, *, name: str, address: str, now: dt.datetime
) -> Issued:
    """A certificate by which a broker serves, and shows its peers who it is.

    Args:
        authority: the cluster's.
        name: its common name; nobody decides by it.
        address: host name or IP address that the broker advertises.
        now: when it is signed, with a time zone.
    """
    signer = x509.load_pem_x509_certificate(authority.certificate.encode())
    signing_key = serialization.load_pem_private_key(authority.key.encode(), password=None)
    assert isinstance(signing_key, ec.EllipticCurvePrivateKey)  # noqa: S101 - we made it
    key = ec.generate_private_key(ec.SECP256R1())
    life = min(BROKER_LIFE, signer.not_valid_after_utc - now)
    builder = (
        _builder(_named(name), signer.subject, key.public_key(), now, life)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(is_authority=False), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage(
                [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
            ),
            critical=False,
        )
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key()),
            critical=False,
        )
        .add_extension(x509.SubjectAlternativeName(alternative_names(address)), critical=False)
    )
    return _issued(key, builder.sign(signing_key, hashes.SHA256()))


def alternative_names(address: str) -> list[x509.GeneralName]:
    """What clients may call the broker: its address, and all of this machine's if that is it."""
    bare = address.removeprefix("[").removesuffix("]")
    try:
        ip = ipaddress.ip_address(bare)
    except ValueError:
        found: list[x509.GeneralName] = [x509.DNSName(bare)]
        is_here = bare == "localhost"
    else:
        found = [x509.IPAddress(ip)]
        is_here = ip.is_loopback
    here = (
        x509.DNSName("localhost"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
        x509.IPAddress(ipaddress.ip_address("::1")),
    )
    return [*found, *(each for each in here if is_here and each not in found)]


def expiry_of(certificate: str) -> dt.datetime:
    """When a certificate in PEM ends."""
    return x509.load_pem_x509_certificate(certificate.encode()).not_valid_after_utc


def is_due(expires_at: dt.datetime, *, now: dt.datetime) -> bool:
    return expires_at - now <= RENEW_BEFORE


def _issued(key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> Issued:
    private = key.private_bytes(
        _PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return Issued(
        private.decode(),
        certificate.public_bytes(_PEM).decode(),
        certificate.not_valid_after_utc,
    )


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    now: dt.datetime,
    life: dt.timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCKS_DIFFER)
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _named(name: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Penstock"),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )


def _key_usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not is_authority,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
