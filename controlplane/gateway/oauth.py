"""Tokens for SASL/OAUTHBEARER, by client credentials (RFC 6749 §4.4), kept until shortly before
they expire. Neither a token nor the client's secret is ever part of an error or of a log line.
"""

import base64
import http.client
import json
import socket
import ssl
import threading
import time
import urllib.parse
from collections import OrderedDict
from typing import Any

from kafka.net.sasl.oauth import AbstractTokenProvider

from controlplane.gateway.connection_spec import ConnectionSpec, OAuthClient
from controlplane.gateway.egress import Deadline, open_socket
from controlplane.gateway.errors import TOKEN_REFUSED, GatewayError
from controlplane.gateway.tls import BAD_CERTIFICATES, endpoint_context

ANSWER_MAX_BYTES = 64 * 1024
TIMEOUT_S = 5.0
HTTPS_PORT = 443
# Of a token's lifetime: what is left is for brokers whose clocks differ from ours.
USED_SHARE = 0.8
LIFETIME_S_DEFAULT = 60.0
LIFETIME_S_MAX = 24 * 3600.0
KEPT_MAX = 512
# RFC 6749 §5.2. Whatever else an endpoint says is its own, and is not shown.
REFUSALS = frozenset(
    {
        "invalid_request",
        "invalid_client",
        "invalid_grant",
        "unauthorized_client",
        "unsupported_grant_type",
        "invalid_scope",
    }
)
_lock = threading.Lock()
_kept: OrderedDict[OAuthClient, tuple[str, float]] = OrderedDict()


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc] # the library has no types
    """What the Kafka library asks for a token at every login."""

    def __init__(self, spec: ConnectionSpec) -> None:
        super().__init__()
        self._spec = spec

    def token(self) -> str:
        return token_of(self._spec)


def token_of(spec: ConnectionSpec) -> str:
    """A token that holds for a while yet.

    Raises:
        GatewayError: `token-refused` by the endpoint; retriable where it does not answer.
    """
    client = spec.oauth
    if client is None:
        raise GatewayError(TOKEN_REFUSED, "no token endpoint is given")
    with _lock:
        kept = _kept.get(client)
        if kept is not None and time.monotonic() < kept[1]:
            return kept[0]
    token, lifetime_s = _ask(client, spec)
    with _lock:
        _kept[client] = (token, time.monotonic() + lifetime_s * USED_SHARE)
        _kept.move_to_end(client)
        while len(_kept) > KEPT_MAX:
            _kept.popitem(last=False)
    return token


def has_token(client: OAuthClient) -> bool:
    """Whether one is kept, from an earlier login: what it says may have changed since."""
    with _lock:
        return client in _kept


def forget_token(client: OAuthClient) -> None:
    """A broker refused it: the next login asks for another."""
    with _lock:
        _kept.pop(client, None)


def _ask(client: OAuthClient, spec: ConnectionSpec) -> tuple[str, float]:
    """(token, lifetime in seconds). The endpoint is a tenant's word as the brokers are."""
    url = urllib.parse.urlsplit(client.token_url)
    if url.scheme != "https" or not url.hostname:
        raise GatewayError(TOKEN_REFUSED, "the token endpoint is not an https URL")
    connection = http.client.HTTPSConnection(url.hostname, url.port or HTTPS_PORT)
    deadline = Deadline(TIMEOUT_S)
    try:
        connection.sock = _connected(url.hostname, url.port or HTTPS_PORT, spec, deadline)
        connection.request(
            "POST",
            urllib.parse.urlunsplit(("", "", url.path or "/", url.query, "")),
            body=_form(client),
            headers={
                "Authorization": f"Basic {_basic(client)}",
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "application/json",
            },
        )
        response = connection.getresponse()
        status, body = response.status, _body(response, connection.sock, deadline)
    except GatewayError as error:
        if error.code == BAD_CERTIFICATES:
            raise
        raise GatewayError(
            TOKEN_REFUSED, f"the token endpoint: {error.detail}", retriable=error.retriable
        ) from error
    except (OSError, http.client.HTTPException) as error:
        raise GatewayError(
            TOKEN_REFUSED,
            f"the token endpoint {url.hostname} does not answer: {error}",
            retriable=not isinstance(error, ssl.SSLCertVerificationError),
        ) from error
    finally:
        connection.close()
    return _parsed(status, body, url.hostname)


def _connected(host: str, port: int, spec: ConnectionSpec, deadline: Deadline) -> ssl.SSLSocket:
    context = endpoint_context(spec.ca_pem)
    plain = open_socket(host, port, spec.egress, deadline)
    try:
        return context.wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise


def _body(
    response: http.client.HTTPResponse, connection: socket.socket | None, deadline: Deadline
) -> bytes:
    """At most one byte more than may be; an endpoint that drips is left at the deadline."""
    found = bytearray()
    while len(found) <= ANSWER_MAX_BYTES:
        if deadline.is_over:
            raise TimeoutError("its answer takes too long")
        if connection is not None:
            connection.settimeout(deadline.left_s())
        part = response.read1(ANSWER_MAX_BYTES + 1 - len(found))
        if not part:
            break
        found += part
    return bytes(found)


def _form(client: OAuthClient) -> str:
    fields = {"grant_type": "client_credentials"}
    if client.scope:
        fields["scope"] = client.scope
    return urllib.parse.urlencode(fields)


def _basic(client: OAuthClient) -> str:
    """RFC 6749 §2.3.1: both parts form-encoded before they are joined."""
    quoted = (urllib.parse.quote_plus(part) for part in (client.client_id, client.client_secret))
    return base64.b64encode(":".join(quoted).encode()).decode()


def _parsed(status: int, body: bytes, host: str) -> tuple[str, float]:
    """(token, lifetime in seconds) from the endpoint's answer, which may be anything at all."""
    found = _object(body)
    if status != http.client.OK:
        word = found.get("error")
        said = f" ({word})" if isinstance(word, str) and word in REFUSALS else ""
        raise GatewayError(
            TOKEN_REFUSED,
            f"the token endpoint {host} answered {status}{said}",
            retriable=status >= 500,
        )
    token = found.get("access_token")
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
        raise GatewayError(TOKEN_REFUSED, f"the token endpoint {host} answered without a token")
    lifetime: Any = found.get("expires_in")
    known = isinstance(lifetime, int | float) and not isinstance(lifetime, bool) and lifetime > 0
    return token, min(float(lifetime), LIFETIME_S_MAX) if known else LIFETIME_S_DEFAULT


def _object(body: bytes) -> dict[str, Any]:
    """Empty where the answer is none, or too long."""
    if len(body) > ANSWER_MAX_BYTES:
        return {}
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
