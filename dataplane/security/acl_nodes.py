"""ACLs as they lie in ZooKeeper, in Kafka's formats.

Literal: `/kafka-acl/<Type>/<name>`; prefixed: `/kafka-acl-extended/prefixed/<Type>/<prefix>`; both
hold `{"version":1,"acls":[{"principal","permissionType","operation","host"}]}`. After a change a
sequential node notifies the other brokers: under `/kafka-acl-changes` as text `TOPIC:name`, under
`/kafka-acl-extended-changes` as JSON.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from dataplane.security.acl import (
    AclEntry,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from dataplane.security.principal import Principal

if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION: Final = 1
CHANGE_PREFIX: Final = "acl_changes_"

ROOTS: Final = {
    PatternType.LITERAL: "/kafka-acl",
    PatternType.PREFIXED: "/kafka-acl-extended/prefixed",
}
CHANGES: Final = {
    PatternType.LITERAL: "/kafka-acl-changes",
    PatternType.PREFIXED: "/kafka-acl-extended-changes",
}
STORED_TYPES: Final = tuple(
    kind for kind in ResourceType if kind not in (ResourceType.UNKNOWN, ResourceType.ANY)
)


def _camel(name: str) -> str:
    """`TRANSACTIONAL_ID` → `TransactionalId`, as Kafka spells the names in nodes."""
    return "".join(word.capitalize() for word in name.split("_"))


_TYPE_NAMES: Final = {kind: _camel(kind.name) for kind in ResourceType}
_TYPES: Final = {name.lower(): kind for kind, name in _TYPE_NAMES.items()}
_OPERATION_NAMES: Final = {operation: _camel(operation.name) for operation in AclOperation}
_OPERATIONS: Final = {name.lower(): operation for operation, name in _OPERATION_NAMES.items()}
_PERMISSIONS: Final = {"allow": Permission.ALLOW, "deny": Permission.DENY}


def type_path(pattern_type: PatternType, resource_type: ResourceType) -> str:
    return f"{ROOTS[pattern_type]}/{_TYPE_NAMES[resource_type]}"


def pattern_path(pattern: ResourcePattern) -> str:
    return f"{type_path(pattern.pattern_type, pattern.resource_type)}/{pattern.name}"


def change_path_prefix(pattern_type: PatternType) -> str:
    return f"{CHANGES[pattern_type]}/{CHANGE_PREFIX}"


def encode_entries(entries: Iterable[AclEntry]) -> bytes:
    """The node's data; entries are sorted, so that equal lists are equal bytes."""
    acls = [
        {
            "principal": str(entry.principal),
            "permissionType": entry.permission.name.capitalize(),
            "operation": _OPERATION_NAMES[entry.operation],
            "host": entry.host,
        }
        for entry in sorted(entries)
    ]
    return json.dumps({"version": VERSION, "acls": acls}, separators=(",", ":")).encode()


def decode_entries(data: bytes) -> frozenset[AclEntry]:
    """Empty data is an empty list. ValueError for anything that is not of version 1."""
    if not data:
        return frozenset()
    try:
        node: Any = json.loads(data)
        if node["version"] != VERSION:
            raise ValueError(f"ACL node has version {node['version']}, known is {VERSION}")
        return frozenset(
            AclEntry(
                Principal.parse(acl["principal"]),
                acl["host"],
                _OPERATIONS[acl["operation"].lower()],
                _PERMISSIONS[acl["permissionType"].lower()],
            )
            for acl in node["acls"]
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"ACL node cannot be read: {error!r}") from error


def encode_change(pattern: ResourcePattern) -> bytes:
    if pattern.pattern_type is PatternType.LITERAL:
        return f"{pattern.resource_type.name}:{pattern.name}".encode()
    event = {
        "version": VERSION,
        "resourceType": pattern.resource_type.name,
        "name": pattern.name,
        "patternType": pattern.pattern_type.name,
    }
    return json.dumps(event, separators=(",", ":")).encode()


def decode_change(pattern_type: PatternType, data: bytes) -> ResourcePattern:
    """Which pattern has changed. ValueError when the node says nothing that is known."""
    try:
        if pattern_type is PatternType.LITERAL:
            kind, separator, name = data.decode().partition(":")
            if not separator:
                raise ValueError(f"expected ResourceType:name, got {data!r}")
            return ResourcePattern.literal(_type_from(kind), name)
        event: Any = json.loads(data)
        return ResourcePattern(
            _type_from(event["resourceType"]),
            event["name"],
            PatternType[event["patternType"].upper()],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"ACL change cannot be read: {error!r}") from error


def _type_from(name: str) -> ResourceType:
    """Reads both spellings: `TRANSACTIONAL_ID` and `TransactionalId`."""
    return _TYPES[name.replace("_", "").lower()]
