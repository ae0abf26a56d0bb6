"""Requests and answers of any API with one of everything in them, all of the same name."""

from __future__ import annotations

import uuid
from typing import Any

from dataplane.handlers.registry import HANDLED
from dataplane.wire.apis import ApiKey, load
from dataplane.wire.schema import Shape, fields_of
from tests.dataplane.handlers.one_broker import batch

SECRET = b"hunter2-is-what-it-says"
NAME = "secret"
VALUES = {
    "acks": 1,
    "isolation_level": 0,
    "key_type": 0,
    "resource_type": 2,  # a topic, for settings and ACLs
    "resource_type_filter": 2,
    "pattern_type_filter": 3,
    "resource_pattern_type": 3,
    "operation": 3,
    "permission_type": 3,
    "principal": "User:bob",
    "principal_filter": "User:bob",
    "host_filter": "*",
    "host": "*",
    "mechanism": 1,
    "iterations": 4096,
    "subscribed_topic_regex": None,
    "validate_only": False,
    "replica_id": -1,
    "entity_type": "user",
    "key": "producer_byte_rate",
    "owner_principal_type": "User",
    "principal_type": "User",
    "member_epoch": 0,
    "timeout_ms": 0,
}
OF_API = {
    (ApiKey.FIND_COORDINATOR, "key"): NAME,
    (ApiKey.SASL_HANDSHAKE, "mechanism"): "PLAIN",
    (ApiKey.PRODUCE, "records"): batch("x"),
    (ApiKey.PRODUCE, "transactional_id"): None,
    (ApiKey.DESCRIBE_CLUSTER, "endpoint_type"): 1,
    (ApiKey.DESCRIBE_ACLS, "pattern_type_filter"): 1,
}
VERSIONS = {ApiKey.FETCH: 12, ApiKey.DELETE_TOPICS: 5, ApiKey.METADATA: 9, ApiKey.DESCRIBE_ACLS: 3}
"""By name and not by id, where a later version has the id."""


def filled(api: ApiKey, cls: Any, version: int) -> Any:
    """One of everything, named `secret`, with the secret wherever there are bytes."""
    made = {}
    for item in fields_of(cls):
        if version not in item.versions:
            continue
        if (api, item.name) in OF_API:
            made[item.name] = OF_API[api, item.name]
        elif item.name in VALUES and (VALUES[item.name] is not None or version in item.nullable):
            made[item.name] = VALUES[item.name]
        elif item.tag is None:
            made[item.name] = _value(api, item.kind, version)
    return cls(**made)


def _value(api: ApiKey, kind: Any, version: int) -> Any:
    if kind.item is not None:
        return [_value(api, kind.item, version)]
    if kind.struct_class is not None:
        return filled(api, kind.struct_class, version)
    if kind.shape is Shape.STRING:
        return NAME
    if kind.shape is Shape.UUID:
        return uuid.uuid5(uuid.NAMESPACE_DNS, NAME)
    if kind.shape is Shape.FIXED:
        return {"?": False, "d": 1000.0}.get(kind.code, 0)
    return SECRET


def asked(api: ApiKey) -> tuple[Any, int]:
    version = VERSIONS.get(api, HANDLED[api][1])
    return filled(api, load(api)[0], version), version
