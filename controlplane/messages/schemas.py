"""What a message's schema says: asked of the cluster's registry once, kept, and read by it."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from controlplane.clusters.models import Cluster
from controlplane.common.crypto import unseal
from controlplane.common.hashing import content_hash
from controlplane.gateway.egress import policy_of
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.schema_registry import RegistrySpec, schema_by_id
from controlplane.messages.avro import AvroSchema
from controlplane.messages.decoding import FromSchema, Undecodable, json_of
from controlplane.messages.models import SchemaRegistry

KEPT_MAX = 500
"""Schemas of all registries in this process, least recently used go first."""
REFUSED_S = 30.0
"""A schema that could not be had is not asked for again before; each asking may take seconds."""
LOOKUPS_MAX = 100
LOOKUPS_S_MAX = 8.0
"""Of one reading: whoever writes messages chooses their ids, each of which is asked for."""
Decode = Callable[[bytes], Any]
_Kept = tuple[str, Decode | None, str, float]
"""(kind, how to decode, why it cannot be, until when that holds)"""
_kept: OrderedDict[tuple[str, int], _Kept] = OrderedDict()
_lock = threading.Lock()


@dataclass(slots=True)
class _Lookups:
    """What one reading has asked of the registry."""

    count: int = 0
    took_s: float = 0.0

    def asked(self, spec: RegistrySpec, schema_id: int) -> _Kept | None:
        """None: this reading has asked enough."""
        if self.count >= LOOKUPS_MAX or self.took_s >= LOOKUPS_S_MAX:
            return None
        began_s = time.monotonic()
        made = _asked(spec, schema_id)
        self.count, self.took_s = self.count + 1, self.took_s + time.monotonic() - began_s
        return made


def from_schema_of(cluster: Cluster) -> FromSchema | None:
    """Decodes by the cluster's registry; None without one."""
    row = SchemaRegistry.objects.filter(pk=cluster.pk).first()
    if row is None:
        return None
    secrets = unseal(row.secrets_token) if row.secrets_token else {}
    # Wherever the brokers are, the registry is a tenant's word.
    spec = RegistrySpec(
        url=row.url,
        username=row.username,
        password=secrets.get("password", ""),
        ca_pem=row.ca_pem,
        egress=policy_of(settings.EGRESS_ALLOWED),
    )
    lookups = _Lookups()
    mark = content_hash([cluster.pk, row.url, row.username, row.secrets_token, row.ca_pem])

    def decode(schema_id: int, raw: bytes) -> tuple[str, Any]:
        kind, read, why, _ = _schema(spec, mark, schema_id, lookups)
        if read is None:
            raise Undecodable(why)
        return kind, read(raw)

    return decode


def _schema(spec: RegistrySpec, mark: str, schema_id: int, lookups: _Lookups) -> _Kept:
    key = (mark, schema_id)
    with _lock:
        found = _kept.get(key)
        if found is not None and time.monotonic() < found[3]:
            _kept.move_to_end(key)
            return found
    made = lookups.asked(spec, schema_id)
    if made is None:
        return "", None, "Too many schemas were asked for meanwhile: look at fewer messages.", 0.0
    with _lock:
        _kept[key] = made
        while len(_kept) > KEPT_MAX:
            _kept.popitem(last=False)
    return made


def _asked(spec: RegistrySpec, schema_id: int) -> _Kept:
    soon = time.monotonic() + REFUSED_S
    try:
        schema = schema_by_id(spec, schema_id)
        if schema.has_references:
            return schema.kind, None, "Its schema refers to others, which is not read yet.", soon
        if schema.kind == "avro":
            # A schema of an id never changes.
            return schema.kind, AvroSchema(schema.text).decode, "", float("inf")
        if schema.kind == "json":
            return schema.kind, json_of, "", float("inf")
    except GatewayError as error:
        return "", None, error.detail or error.code, soon
    except Undecodable as error:
        return "", None, f"Its schema cannot be read: {error}", soon
    return schema.kind, None, f"Messages of {schema.kind} schemas are not read yet.", soon
