"""What a message's schema says: asked of the cluster's registry once, kept, and read by it."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from django.conf import settings

from controlplane.clusters.models import Cluster
from controlplane.common.crypto import unseal
from controlplane.common.hashing import content_hash
from controlplane.gateway.egress import policy_of
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.patience import is_over
from controlplane.gateway.schema_registry import (
    Reference,
    RegisteredSchema,
    RegistrySpec,
    schema_by_id,
    schema_of_version,
)
from controlplane.messages.avro import AvroSchema
from controlplane.messages.decoding import FromSchema, Undecodable, json_of
from controlplane.messages.models import SchemaRegistry
from controlplane.messages.protobuf import ProtobufSchema

KEPT_MAX = 500
"""Schemas of all registries in this process, least recently used go first."""
KEPT_CHARS_MAX = 8 * 1024 * 1024
"""Of their texts together; read they take some ten times as much."""
REFUSED_S = 30.0
"""A schema that could not be had is not asked for again before; each asking may take seconds."""
LOOKUPS_MAX = 100
LOOKUPS_S_MAX = 8.0
"""Of one reading: whoever writes messages chooses their ids, each of which is asked for."""
REFERENCES_MAX, REFERENCES_DEPTH_MAX = 50, 10
REFERENCES_CHARS_MAX = 4 * 1024 * 1024
"""Of all that one schema refers to, at whatever remove."""
Decode = Callable[[bytes], Any]


class _Kept(NamedTuple):
    """`until_s`: of the monotonic clock; `chars`: of the schema's text and what it refers to."""

    kind: str
    decode: Decode | None
    why: str
    until_s: float
    chars: int = 0


_kept: OrderedDict[tuple[str, int], _Kept] = OrderedDict()
_lock = threading.Lock()


class _AskedEnoughError(Exception):
    """This reading has asked the registry often enough."""


@dataclass(slots=True)
class _Lookups:
    """What one reading has asked of the registry."""

    count: int = 0
    took_s: float = 0.0

    def ask(self, question: Callable[[], RegisteredSchema]) -> RegisteredSchema:
        """Raises GatewayError, _AskedEnoughError."""
        if self.count >= LOOKUPS_MAX or self.took_s >= LOOKUPS_S_MAX:
            raise _AskedEnoughError
        began_s = time.monotonic()
        try:
            return question()
        finally:
            self.count, self.took_s = self.count + 1, self.took_s + time.monotonic() - began_s


def registry_spec(row: SchemaRegistry) -> RegistrySpec:
    """How it is asked. Wherever the brokers are, the registry is a tenant's word."""
    secrets = unseal(row.secrets_token) if row.secrets_token else {}
    return RegistrySpec(
        url=row.url,
        username=row.username,
        password=secrets.get("password", ""),
        ca_pem=row.ca_pem,
        egress=policy_of(settings.EGRESS_ALLOWED),
    )


def from_schema_of(cluster: Cluster) -> FromSchema | None:
    """Decodes by the cluster's registry; None without one."""
    row = SchemaRegistry.objects.filter(pk=cluster.pk).first()
    if row is None:
        return None
    spec = registry_spec(row)
    lookups = _Lookups()
    mark = content_hash([cluster.pk, row.url, row.username, row.secrets_token, row.ca_pem])

    def decode(schema_id: int, raw: bytes) -> tuple[str, Any]:
        found = _schema(spec, mark, schema_id, lookups)
        if found.decode is None:
            raise Undecodable(found.why)
        return found.kind, found.decode(raw)

    return decode


def _schema(spec: RegistrySpec, mark: str, schema_id: int, lookups: _Lookups) -> _Kept:
    key = (mark, schema_id)
    with _lock:
        found = _kept.get(key)
        if found is not None and time.monotonic() < found.until_s:
            _kept.move_to_end(key)
            return found
    try:
        made = _made(spec, schema_id, lookups)
    except _AskedEnoughError:
        why = "Too many schemas were asked for meanwhile: look at fewer messages."
        return _Kept("", None, why, 0.0)
    if made.decode is None and is_over():
        return made  # somebody's haste says nothing of the registry
    with _lock:
        _kept[key] = made
        _kept.move_to_end(key)
        while len(_kept) > KEPT_MAX or sum(one.chars for one in _kept.values()) > KEPT_CHARS_MAX:
            _kept.popitem(last=False)
    return made


def _made(spec: RegistrySpec, schema_id: int, lookups: _Lookups) -> _Kept:
    """Raises _AskedEnoughError."""
    soon = time.monotonic() + REFUSED_S
    try:
        schema = lookups.ask(lambda: schema_by_id(spec, schema_id))
        if schema.kind == "protobuf":
            # As text it would have to be compiled; the registry has done that.
            schema = lookups.ask(lambda: schema_by_id(spec, schema_id, is_serialized=True))
        if schema.kind == "json":
            # JSON says by itself what it holds, whatever the schema refers to.
            return _Kept(schema.kind, json_of, "", _FOR_EVER)
        read = _READ.get(schema.kind)
        if read is None:
            why = f"Messages of {schema.kind} schemas are not read."
            return _Kept(schema.kind, None, why, soon)
        others = _referred(spec, schema, lookups)
        chars = len(schema.text) + sum(map(len, others))
        return _Kept(schema.kind, read(schema.text, others), "", _FOR_EVER, chars)
    except GatewayError as error:
        return _Kept("", None, error.detail or error.code, soon)
    except Undecodable as error:
        return _Kept("", None, f"Its schema cannot be read: {error}", soon)


def _referred(spec: RegistrySpec, schema: RegisteredSchema, lookups: _Lookups) -> list[str]:
    """The texts of what it refers to, at whatever remove, each before what refers to it.

    Raises:
        Undecodable: more, deeper or longer than the bounds.
        GatewayError, _AskedEnoughError: as asking.
    """
    texts: list[str] = []
    seen: set[Reference] = set()

    def add(rows: Sequence[Reference], depth: int) -> None:
        if depth > REFERENCES_DEPTH_MAX:
            raise Undecodable(f"It refers to others more than {REFERENCES_DEPTH_MAX} deep.")
        for one in rows:
            if one in seen:
                continue
            seen.add(one)
            if len(seen) > REFERENCES_MAX:
                raise Undecodable(f"It refers to more than {REFERENCES_MAX} others.")
            found = lookups.ask(partial(schema_of_version, spec, one, is_serialized=is_serialized))
            if found.kind != schema.kind:
                raise Undecodable("It refers to a schema of another kind.")
            add(found.references, depth + 1)
            texts.append(found.text)
            if sum(map(len, texts)) > REFERENCES_CHARS_MAX:
                raise Undecodable("What it refers to is too long.")

    is_serialized = schema.kind == "protobuf"
    add(schema.references, 1)
    return texts


_FOR_EVER = float("inf")
"""A schema of an id never changes."""
_READ: Mapping[str, Callable[[str, Sequence[str]], Decode]] = {
    "avro": lambda text, others: AvroSchema(text, others).decode,
    "protobuf": lambda text, others: ProtobufSchema(text, others).decode,
}
