"""One HTTP request over a connection that the egress policy let through.

`http.client` speaks HTTP here and opens no connection: it is handed one to an address that was
checked, so that no second look at the name service decides, no proxy of the environment is asked,
and no redirect is followed. Everything from the look-up to the answer shares one deadline, however
the peer drips. Of the answer the status and `Retry-After` count; nothing that a peer says is kept.
"""

import contextlib
import http.client
import socket
import ssl
import urllib.parse
from datetime import datetime
from typing import Any

from controlplane.gateway.egress import Deadline, EgressPolicy, open_socket
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.timed_socket import TimedSocket
from controlplane.gateway.tls import endpoint_context
from controlplane.notifications.kinds.message import HttpRequest
from controlplane.notifications.rules import Outcome, outcome_of, retry_after_s

TIMEOUT_S = 10.0
"""Of a whole request."""
ANSWER_MAX_BYTES = 64 * 1024
"""Read of an answer's body, so that its sender is not cut off in a short one; then it is left."""
BODY_S = 2.0
"""How long a body is read: what it says changes nothing."""
PORTS = {"https": 443, "http": 80}


Failure = GatewayError | OSError | http.client.HTTPException | ValueError | KeyError


def send(request: HttpRequest, policy: EgressPolicy, now: datetime) -> Outcome:
    """Make the request; how it ended. Raises nothing that the network or the peer can cause."""
    try:
        return _exchange(request, policy, now)
    except (GatewayError, OSError, http.client.HTTPException, ValueError, KeyError) as error:
        code, text = _said(error)
        is_final = isinstance(error, ValueError | KeyError) and not isinstance(error, OSError)
        is_final = is_final or (isinstance(error, GatewayError) and not error.retriable)
        return Outcome(is_delivered=False, code=code, text=text, is_retriable=not is_final)


def _said(error: Failure) -> tuple[str, str]:
    """(code, text) of a failure; nothing that the peer sent, and nothing of the address's path."""
    match error:
        case GatewayError():
            found = error.code, error.detail
        case ssl.SSLCertVerificationError():
            found = "tls-certificate", f"The certificate is refused: {error.verify_message}"
        case ssl.SSLError():
            found = "tls-failed", f"TLS failed: {error.reason or 'no TLS there'}"
        case TimeoutError():
            found = "timed-out", f"There was no answer within {TIMEOUT_S:.0f} s."
        case http.client.HTTPException():
            found = "no-http", "The answer is not HTTP."
        case OSError():
            found = "connection-lost", error.strerror or "The connection was lost."
        case _:
            found = "bad-address", "The address is none."
    return found


def _exchange(request: HttpRequest, policy: EgressPolicy, now: datetime) -> Outcome:
    deadline = Deadline(TIMEOUT_S)
    url = urllib.parse.urlsplit(request.url)
    host, port = url.hostname or "", url.port or PORTS[url.scheme]
    context = endpoint_context(request.ca_pem) if url.scheme == "https" else None
    connected: socket.socket = open_socket(host, port, policy, deadline)
    try:
        if context is not None:
            connected = context.wrap_socket(connected, server_hostname=host)
        connection = http.client.HTTPConnection(host, port)
        connection.default_port = PORTS[url.scheme]
        connection.auto_open = 0  # it must not connect by itself
        timed: Any = TimedSocket(connected, deadline)
        connection.sock = timed
        target = urllib.parse.urlunsplit(("", "", url.path or "/", url.query, ""))
        headers = {**dict(request.headers), "Connection": "close"}
        connection.request("POST", target, body=request.body, headers=headers)
        response = connection.getresponse()
        outcome = outcome_of(response.status, retry_after_s(response.headers["Retry-After"], now))
        with contextlib.suppress(OSError, http.client.HTTPException):
            _read_a_little(response, timed)
        return outcome
    finally:
        connected.close()


def _read_a_little(response: http.client.HTTPResponse, timed: TimedSocket) -> None:
    timed.end_within(BODY_S)
    left = ANSWER_MAX_BYTES
    while left > 0 and (part := response.read1(left)):
        left -= len(part)
