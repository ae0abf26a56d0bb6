"""TLS towards brokers and token endpoints: contexts made from PEM text.

OpenSSL reads certificates to trust from memory, and a client's own from a file only. That file is
of this user alone (0600) and gone before the context is used.
"""

import ssl
import tempfile

from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError

BAD_CERTIFICATES = "bad-certificates"


def broker_context(spec: ConnectionSpec) -> ssl.SSLContext:
    """Trusts `spec.ca_pem` alone, or else the system's authorities; always checks the host's name.

    Raises:
        GatewayError: `bad-certificates`; what was given is not PEM, or key and certificate differ.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        if spec.ca_pem:
            context.load_verify_locations(cadata=spec.ca_pem)
        else:
            context.load_default_certs()
        if spec.client_certificate_pem and spec.client_key_pem:
            _load_own(context, spec.client_certificate_pem, spec.client_key_pem)
    except (ssl.SSLError, ValueError) as error:
        raise GatewayError(BAD_CERTIFICATES, str(error)) from error
    return context


def endpoint_context(ca_pem: str | None) -> ssl.SSLContext:
    """Trusts the system's authorities, and `ca_pem` besides.

    Raises:
        GatewayError: `bad-certificates`.
    """
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        if ca_pem:
            context.load_verify_locations(cadata=ca_pem)
    except (ssl.SSLError, ValueError) as error:
        raise GatewayError(BAD_CERTIFICATES, str(error)) from error
    return context


def _load_own(context: ssl.SSLContext, certificate_pem: str, key_pem: str) -> None:
    with tempfile.NamedTemporaryFile("w", prefix="penstock-", suffix=".pem") as file:
        file.write(f"{key_pem.rstrip()}\n{certificate_pem.rstrip()}\n")
        file.flush()
        context.load_cert_chain(file.name, password=_no_password)


def _no_password() -> str:
    """OpenSSL would ask at the terminal for the password of a key that has one."""
    raise ValueError("the client's key is sealed with a password")
