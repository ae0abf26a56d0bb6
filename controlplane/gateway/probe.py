"""One look at one address, step by step: is it a Kafka that lets us in, and if not, why not.

DNS, connecting, TLS, the first question, the login: each failure has a code and a text of its own.
The peer may be anything and mean harm: the whole look has one deadline, an answer one bound.
"""

import ssl
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from kafka.net.sasl import get_sasl_mechanism

from controlplane.gateway import egress
from controlplane.gateway.client_settings import login_settings
from controlplane.gateway.connection_spec import OAUTHBEARER, ConnectionSpec
from controlplane.gateway.errors import (
    AUTHENTICATION_FAILED,
    EGRESS_REFUSED,
    LOGIN_WANTED,
    MECHANISM_NOT_OFFERED,
    TOKEN_REFUSED,
    GatewayError,
)
from controlplane.gateway.oauth import forget_token, has_token
from controlplane.gateway.probe_wire import NOT_KAFKA, Wire
from controlplane.gateway.tls import BAD_CERTIFICATES, broker_context
from controlplane.gateway.types import ProbeResult, ProbeStep

TLS_EXPIRED = "tls-expired"
TLS_WRONG_HOST = "tls-wrong-host"
TLS_UNKNOWN_AUTHORITY = "tls-unknown-authority"
TLS_NOT_SPOKEN = "tls-plaintext-answered"
TLS_CERTIFICATE_WANTED = "tls-certificate-wanted"
TLS_FAILED = "tls-failed"
LOGIN_ROUNDS_MAX = 4
AT_ONCE_MAX = 8
OBJECTION_S = 0.1


_STEP_OF = {
    egress.DNS_FAILED: ProbeStep.DNS,
    EGRESS_REFUSED: ProbeStep.DNS,
    egress.CONNECT_REFUSED: ProbeStep.CONNECT,
    egress.CONNECT_TIMEOUT: ProbeStep.CONNECT,
    BAD_CERTIFICATES: ProbeStep.TLS,
    NOT_KAFKA: ProbeStep.KAFKA,
    LOGIN_WANTED: ProbeStep.LOGIN,
    TOKEN_REFUSED: ProbeStep.LOGIN,
    AUTHENTICATION_FAILED: ProbeStep.LOGIN,
    MECHANISM_NOT_OFFERED: ProbeStep.LOGIN,
}
# OpenSSL's X509_V_ERR numbers.
_VERIFY_CODES = {
    9: (TLS_EXPIRED, "is not valid yet"),
    10: (TLS_EXPIRED, "has expired"),
    62: (TLS_WRONG_HOST, "does not name this host"),
    64: (TLS_WRONG_HOST, "does not name this address"),
}
_UNKNOWN = (TLS_UNKNOWN_AUTHORITY, "was not issued by an authority that is trusted here")
_EOF_REASONS = frozenset({"UNEXPECTED_EOF_WHILE_READING", "SSL_ERROR_EOF"})
_NO_TLS_REASONS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNEXPECTED_MESSAGE"})


def probe(address: str, spec: ConnectionSpec, *, timeout_s: float) -> ProbeResult:
    """Go as far as it goes within `timeout_s`; never raises for what the peer does."""
    deadline = egress.Deadline(timeout_s)
    was_kept = spec.oauth is not None and has_token(spec.oauth)
    try:
        try:
            _take_steps(address, spec, deadline)
        except GatewayError as error:
            if not was_kept or error.code != AUTHENTICATION_FAILED:
                raise
            # The issuer may have other keys by now: a token of today decides, not an earlier one.
            _take_steps(address, spec, deadline)
    except GatewayError as error:
        step = _STEP_OF.get(error.code, ProbeStep.TLS)
        return ProbeResult(
            address=address,
            step=step,
            code=error.code,
            text=error.detail,
            retriable=error.retriable,
        )
    return ProbeResult(address=address, step=ProbeStep.LOGIN if spec.uses_sasl else ProbeStep.KAFKA)


def _take_steps(address: str, spec: ConnectionSpec, deadline: egress.Deadline) -> None:
    """Raises GatewayError: the failure, by whose code the step is known."""
    host, port = split_address(address)
    with egress.open_socket(host, port, spec.egress, deadline) as plain:
        if not spec.uses_tls:
            _talk(Wire(plain, deadline), spec, host)
            return
        context = broker_context(spec)
        try:
            plain.settimeout(deadline.left_s())
            sealed = context.wrap_socket(plain, server_hostname=host)
        except (ssl.SSLError, OSError) as error:
            raise _handshake_failure(error) from error
        with sealed:
            wire = Wire(sealed, deadline)
            try:
                # What a server thinks of a client's certificate comes after the handshake.
                wire.hear_objection(OBJECTION_S)
                _talk(wire, spec, host)
            except ssl.SSLError as error:
                raise _alert(error) from error


def probe_all(
    addresses: Sequence[str], spec: ConnectionSpec, *, timeout_s: float
) -> list[ProbeResult]:
    """All of them at once, each within `timeout_s`; at most `AT_ONCE_MAX`."""
    if len(addresses) > AT_ONCE_MAX:
        raise ValueError(f"more than {AT_ONCE_MAX} addresses at once")
    with ThreadPoolExecutor(AT_ONCE_MAX, "probe") as pool:
        return list(pool.map(lambda address: probe(address, spec, timeout_s=timeout_s), addresses))


def split_address(address: str) -> tuple[str, int]:
    """(host, port) of `host:port`, the host of an IPv6 address without its brackets.

    Raises:
        GatewayError: `dns-failed`; it is neither.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or len(port) > 5:
        raise GatewayError(egress.DNS_FAILED, f"{address!r} is no host:port", retriable=True)
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    return host.rstrip("."), int(port)


def _talk(wire: Wire, spec: ConnectionSpec, host: str) -> None:
    wire.api_versions()
    if spec.uses_sasl:
        _log_in(wire, spec, host)
    elif not wire.answers_metadata():
        raise GatewayError(
            LOGIN_WANTED,
            "the broker ends the connection at the first question after the greeting: it wants a"
            " login (SASL)",
        )


def _log_in(wire: Wire, spec: ConnectionSpec, host: str) -> None:
    """Raises GatewayError: a refusal, in the broker's words."""
    mechanism = spec.sasl_mechanism or ""
    offered = wire.sasl_handshake(mechanism)
    if offered is not None:
        names = ", ".join(offered) or "none"
        raise GatewayError(
            MECHANISM_NOT_OFFERED, f"{mechanism} is not offered; offered are: {names}"
        )
    settings = {**login_settings(spec), "security_protocol": "SASL_SSL"}
    exchange = get_sasl_mechanism(mechanism)(host=host, **settings)
    for _ in range(LOGIN_ROUNDS_MAX):
        answer, refusal = wire.sasl_authenticate(exchange.auth_bytes())
        if refusal is not None:
            if mechanism == OAUTHBEARER and spec.oauth is not None:
                forget_token(spec.oauth)
            raise _login_refused(spec, refusal)
        try:
            exchange.receive(answer)
        except (ValueError, KeyError, UnicodeDecodeError) as error:
            raise _login_refused(spec, f"the broker does not know it either: {error}") from error
        if exchange.is_done():
            break
    if not exchange.is_authenticated():
        raise _login_refused(spec, "the exchange did not come to an end")


def _login_refused(spec: ConnectionSpec, words: str) -> GatewayError:
    who = spec.oauth.client_id if spec.oauth else spec.username
    return GatewayError(AUTHENTICATION_FAILED, f"user {who!r} by {spec.sasl_mechanism}: {words}")


def _handshake_failure(error: OSError) -> GatewayError:
    if isinstance(error, ssl.SSLCertVerificationError):
        code, text = _VERIFY_CODES.get(error.verify_code, _UNKNOWN)
        return GatewayError(code, f"the broker's certificate {text} ({error.verify_message})")
    if isinstance(error, TimeoutError):
        return GatewayError(
            TLS_FAILED, "no TLS handshake in time; does the port speak TLS?", retriable=True
        )
    reason = getattr(error, "reason", None) or ""
    if reason in _NO_TLS_REASONS:
        return GatewayError(TLS_NOT_SPOKEN, "what answers there does not speak TLS")
    closed = isinstance(error, ssl.SSLZeroReturnError | ssl.SSLEOFError | ConnectionError)
    if closed or reason in _EOF_REASONS:
        return GatewayError(
            TLS_NOT_SPOKEN,
            "the connection was closed at the TLS handshake; does the port speak TLS?",
            retriable=True,
        )
    return _alert(error)


def _alert(error: OSError) -> GatewayError:
    reason = getattr(error, "reason", None) or str(error)
    if "ALERT" in reason and ("CERTIFICATE" in reason or "UNKNOWN_CA" in reason):
        return GatewayError(
            TLS_CERTIFICATE_WANTED,
            f"the broker wants a client's certificate, or another one ({reason})",
        )
    return GatewayError(TLS_FAILED, f"TLS failed: {reason}", retriable=reason in _EOF_REASONS)
