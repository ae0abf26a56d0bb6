"""One schema of a schema registry over HTTP: a tenant's word, so under the egress policy.

No redirect is followed, no proxy of the environment asked, and of the answer no more than
`ANSWER_MAX_BYTES` is read, all within one deadline.
"""

import base64
import http.client
import json
import socket
import ssl
import urllib.parse
from dataclasses import dataclass, field
from typing import Any

from controlplane.gateway.egress import Deadline, EgressPolicy, open_socket
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.timed_socket import TimedSocket
from controlplane.gateway.tls import endpoint_context

TIMEOUT_S = 4.0
ANSWER_MAX_BYTES = 1024 * 1024
PORTS = {"https": 443, "http": 80}
SCHEMA_UNKNOWN, REGISTRY_FAILED = "schema-unknown", "registry-failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrySpec:
    url: str
    username: str = ""
    password: str = field(default="", repr=False)
    ca_pem: str = ""
    egress: EgressPolicy


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """`kind`: avro, json or protobuf; `text` as the registry has it."""

    kind: str
    text: str
    has_references: bool


def schema_by_id(spec: RegistrySpec, schema_id: int) -> RegisteredSchema:
    """Raises GatewayError: `schema-unknown`; `registry-failed`, or why it could not be asked."""
    try:
        status, body = _get(spec, f"/schemas/ids/{schema_id}")
    except (OSError, ssl.SSLError, http.client.HTTPException) as error:
        raise GatewayError(
            REGISTRY_FAILED, "The schema registry does not answer.", retriable=True
        ) from error
    if status == http.client.NOT_FOUND:
        raise GatewayError(SCHEMA_UNKNOWN, f"The registry has no schema {schema_id}.")
    if status != http.client.OK:
        raise GatewayError(REGISTRY_FAILED, f"The schema registry answers {status}.")
    return _parsed(body)


def _get(spec: RegistrySpec, path: str) -> tuple[int, bytes]:
    deadline = Deadline(TIMEOUT_S)
    url = urllib.parse.urlsplit(spec.url)
    host, port = url.hostname or "", url.port or PORTS[url.scheme]
    connected: socket.socket = open_socket(host, port, spec.egress, deadline)
    try:
        if url.scheme == "https":
            context = endpoint_context(spec.ca_pem or None)
            connected = context.wrap_socket(connected, server_hostname=host)
        connection = http.client.HTTPConnection(host, port)
        connection.auto_open = 0  # it must not connect by itself
        timed: Any = TimedSocket(connected, deadline)
        connection.sock = timed
        headers = {"Accept": "application/vnd.schemaregistry.v1+json", "Connection": "close"}
        if spec.username:
            login = f"{spec.username}:{spec.password}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(login).decode()}"
        connection.request("GET", url.path.rstrip("/") + path, headers=headers)
        response = connection.getresponse()
        body = response.read(ANSWER_MAX_BYTES + 1)
        return response.status, body
    finally:
        connected.close()


def _parsed(body: bytes) -> RegisteredSchema:
    try:
        found = json.loads(body) if len(body) <= ANSWER_MAX_BYTES else None
    except (ValueError, RecursionError):
        found = None
    text = found.get("schema") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(text, str):
        raise GatewayError(REGISTRY_FAILED, "The schema registry's answer is no schema.")
    kind = str(found.get("schemaType") or "AVRO").lower()
    return RegisteredSchema(kind, text, bool(found.get("references")))
