"""The way in to a registered cluster: which fields fit each other, and how they are kept. Pure.

All of it is kept sealed, as one thing: `secrets_token` of the cluster's row, by the names below.
"""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa

PLAIN, OAUTHBEARER = "PLAIN", "OAUTHBEARER"
WRITE_ONLY = ("password", "client_key_pem", "oauth_client_secret")
"""What nobody is shown again."""

_OF_PASSWORD = ("username", "password")
_OF_TOKENS = ("oauth_token_url", "oauth_client_id", "oauth_client_secret")
_OF_TLS = ("ca_pem", "client_certificate_pem", "client_key_pem")
_FIELDS = (*_OF_PASSWORD, *_OF_TOKENS, "oauth_scope", *_OF_TLS)
# Where each part stands among a cluster's secrets; a user's name has a column of its own.
_KEPT_AS = {
    "password": "admin",
    **{name: name for name in (*_OF_TOKENS, "oauth_scope", *_OF_TLS)},
}
CERTIFICATES_MAX = 200
SigningKey = (
    rsa.RSAPrivateKey
    | ec.EllipticCurvePrivateKey
    | ed25519.Ed25519PrivateKey
    | ed448.Ed448PrivateKey
)


class NotPemError(Exception):
    """The text is not what it should be; the message says what is wrong with it."""


def misfits(given: Mapping[str, Any]) -> dict[str, str]:
    """By field what is wrong: it is missing, not used by this way in, or not PEM."""
    protocol, mechanism = given["security_protocol"], given.get("sasl_mechanism")
    sasl, tls = protocol.startswith("SASL_"), protocol.endswith("SSL")
    if sasl and not mechanism:
        return {"sasl_mechanism": f"{protocol} needs it."}
    if not sasl and mechanism:
        return {"sasl_mechanism": f"{protocol} has no login."}
    needed = _needed(mechanism) if sasl else ()
    allowed = {*needed, *(_OF_TLS if tls else ())}
    if mechanism == OAUTHBEARER:
        allowed.add("oauth_scope")
    way = f"{protocol} with {mechanism}" if mechanism else protocol
    found = {name: f"{way} needs it." for name in needed if not given.get(name)}
    for name in _FIELDS:
        if given.get(name) and name not in allowed:
            found[name] = f"{way} does not use it."
    return found or _certificate_misfits(given)


def _needed(mechanism: str | None) -> tuple[str, ...]:
    return _OF_TOKENS if mechanism == OAUTHBEARER else _OF_PASSWORD


def _certificate_misfits(given: Mapping[str, Any]) -> dict[str, str]:
    certificate, key = given.get("client_certificate_pem"), given.get("client_key_pem")
    if bool(certificate) != bool(key):
        missing = "client_certificate_pem" if key else "client_key_pem"
        return {missing: "A client's certificate and its key go together."}
    found = {}
    for name in ("ca_pem", "client_certificate_pem"):
        try:
            if given.get(name):
                certificates(given[name])
        except NotPemError as error:
            found[name] = str(error)
    if key:
        try:
            own = _private_key(key)
        except NotPemError as error:
            found["client_key_pem"] = str(error)
        else:
            if "client_certificate_pem" not in found and not _belongs(own, str(certificate)):
                found["client_key_pem"] = "It is not the key of the certificate."
    return found


def certificates(pem: str) -> list[x509.Certificate]:
    """The certificates in `pem`, at least one.

    Raises:
        NotPemError: there is none, one cannot be read, or there are too many.
    """
    try:
        found = x509.load_pem_x509_certificates(pem.encode())
    except ValueError as error:
        raise NotPemError("It holds no certificate in PEM.") from error
    if len(found) > CERTIFICATES_MAX:
        raise NotPemError(f"It holds more than {CERTIFICATES_MAX} certificates.")
    return found


def expired(pem: str, now: dt.datetime) -> bool:
    """Whether the first certificate, which is the one that counts, holds no more."""
    return certificates(pem)[0].not_valid_after_utc <= now


def key_as_pkcs8(pem: str) -> str:
    """The key in the one form that every client reads.

    Raises:
        NotPemError: it is none, or it has a password.
    """
    return (
        _private_key(pem)
        .private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        .decode()
    )


def _private_key(pem: str) -> SigningKey:
    try:
        key = serialization.load_pem_private_key(pem.encode(), password=None)
    except TypeError as error:
        raise NotPemError("It is sealed with a password; give it without.") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise NotPemError("It is no private key in PEM.") from error
    if not isinstance(key, SigningKey):
        raise NotPemError("A key of this kind does not sign for TLS.")
    return key


def _belongs(key: Any, certificate_pem: str) -> bool:
    def spelled(public: Any) -> bytes:
        encoded: bytes = public.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return encoded

    return spelled(key.public_key()) == spelled(certificates(certificate_pem)[0].public_key())


def shown_in_clear(given: Mapping[str, Any]) -> bool:
    """Whether whoever listens on the way learns what logs in: SCRAM's exchange does not show it."""
    clear = given["security_protocol"] == "SASL_PLAINTEXT"
    return clear and given.get("sasl_mechanism") in {PLAIN, OAUTHBEARER}


def kept(given: Mapping[str, Any]) -> dict[str, str]:
    """What of these fields is sealed with the cluster, by the names it is kept under."""
    found = {kept_as: given[name] for name, kept_as in _KEPT_AS.items() if given.get(name)}
    if "client_key_pem" in found:
        found["client_key_pem"] = key_as_pkcs8(found["client_key_pem"])
    return found
