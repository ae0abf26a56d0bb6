"""Schemas of a schema registry over HTTP: a tenant's word, so under the egress policy.

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
from controlplane.gateway.patience import bounded
from controlplane.gateway.timed_socket import TimedSocket
from controlplane.gateway.tls import endpoint_context

TIMEOUT_S = 4.0
ANSWER_MAX_BYTES = 1024 * 1024
REFERENCES_MAX = 50
"""Of one schema."""
SUBJECT_MAX, KIND_MAX = 500, 20
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
class Reference:
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """`kind`: avro, json or protobuf; `text` as the registry has it."""

    kind: str
    text: str
    references: tuple[Reference, ...] = ()


def schema_by_id(
    spec: RegistrySpec, schema_id: int, *, is_serialized: bool = False
) -> RegisteredSchema:
    """A schema by its id, of Protobuf as base64 of its descriptor where that is asked for.

    Raises:
        GatewayError: `schema-unknown`; `registry-failed`, or why it could not be asked.
    """
    return _schema(spec, f"/schemas/ids/{schema_id}", f"schema {schema_id}", is_serialized)


def schema_of_version(
    spec: RegistrySpec, reference: Reference, *, is_serialized: bool = False
) -> RegisteredSchema:
    """What a schema refers to; otherwise as `schema_by_id`."""
    subject = urllib.parse.quote(reference.subject, safe="")
    path = f"/subjects/{subject}/versions/{reference.version}"
    what = f"version {reference.version} of {reference.subject}"
    return _schema(spec, path, what, is_serialized)


def first_answer(spec: RegistrySpec) -> None:
    """Whether it is a registry that lets us in: it is asked for its types of schemas.

    Raises:
        GatewayError: `registry-failed`, or why it could not be asked.
    """
    _, body = _answer(spec, "/schemas/types", "list of schema types")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise GatewayError(REGISTRY_FAILED, "It answers, and not as a schema registry does.")


def _schema(spec: RegistrySpec, path: str, what: str, is_serialized: bool) -> RegisteredSchema:
    _, body = _answer(spec, path + ("?format=serialized" if is_serialized else ""), what)
    return _parsed(body)


def _answer(spec: RegistrySpec, path: str, what: str) -> tuple[int, bytes]:
    try:
        status, body = _get(spec, path)
    except (OSError, ssl.SSLError, http.client.HTTPException) as error:
        raise GatewayError(
            REGISTRY_FAILED, "The schema registry does not answer.", retriable=True
        ) from error
    if status == http.client.NOT_FOUND:
        raise GatewayError(SCHEMA_UNKNOWN, f"The registry has no {what}.")
    if status in {http.client.UNAUTHORIZED, http.client.FORBIDDEN}:
        said = f"The schema registry does not let this user in: it answers {status}."
        raise GatewayError(REGISTRY_FAILED, said)
    if status != http.client.OK:
        raise GatewayError(REGISTRY_FAILED, f"The schema registry answers {status}.")
    if len(body) > ANSWER_MAX_BYTES:
        raise GatewayError(REGISTRY_FAILED, "The schema registry's answer is no schema: too long.")
    return status, body


def _get(spec: RegistrySpec, path: str) -> tuple[int, bytes]:
    deadline = Deadline(bounded(TIMEOUT_S))
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
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    text = found.get("schema") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(text, str):
        raise GatewayError(REGISTRY_FAILED, "The schema registry's answer is no schema.")
    kind = str(found.get("schemaType") or "AVRO").lower()
    return RegisteredSchema(kind[:KIND_MAX], text, _references(found.get("references") or []))


def _references(rows: Any) -> tuple[Reference, ...]:
    if not isinstance(rows, list) or len(rows) > REFERENCES_MAX:
        said = f"It refers to other schemas as no registry does, or to more than {REFERENCES_MAX}."
        raise GatewayError(REGISTRY_FAILED, said)
    found = []
    for row in rows:
        values = row if isinstance(row, dict) else {}
        subject, version = values.get("subject"), values.get("version")
        if not isinstance(subject, str) or type(version) is not int or len(subject) > SUBJECT_MAX:
            raise GatewayError(REGISTRY_FAILED, "It refers to other schemas as no registry does.")
        found.append(Reference(subject, version))
    return tuple(found)
