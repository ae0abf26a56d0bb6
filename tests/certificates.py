"""A certificate authority for tests of TLS: keys and certificates in PEM files."""

from __future__ import annotations

import datetime as dt
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """Signs certificates for 127.0.0.1, into PEM files."""

    def __init__(self, directory, name):
        self.directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.file = directory / f"{name}.pem"
        certificate = self._sign(self._name, self._key.public_key(), authority=True)
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, name, *, host="127.0.0.1", password="", ends_in_h=24):
        """A key and its certificate in one file; `host` is an address or a name, or empty."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self._sign(subject, key.public_key(), host=host, ends_in_h=ends_in_h)
        sealed = (
            serialization.BestAvailableEncryption(password.encode())
            if password
            else serialization.NoEncryption()
        )
        file = self.directory / f"{name}.pem"
        file.write_bytes(
            key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, sealed)
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        return file

    def _sign(self, subject, key, *, authority=False, host="", ends_in_h=24):
        now = dt.datetime.now(dt.UTC)
        ends = now + dt.timedelta(hours=ends_in_h)
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(min(now, ends) - dt.timedelta(hours=1))
            .not_valid_after(ends)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        )
        if host:
            made = made.add_extension(
                x509.SubjectAlternativeName([_general_name(host)]), critical=False
            )
        return made.sign(self._key, hashes.SHA256())


def _general_name(host):
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def split_pem(file):
    """(key, certificates) of a file that `issue` wrote."""
    key, mark, rest = file.read_text().partition("-----BEGIN CERTIFICATE-----")
    return key, mark + rest
