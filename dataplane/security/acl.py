"""The access control model: operations, resources, entries, bindings, in Kafka's numbers.

The numbers are the wire's (KIP-140, KIP-290); the stored spelling in ZooKeeper is in
`acl_nodes.py`.
"""

from __future__ import annotations

import enum
import functools
import ipaddress
from typing import Final, NamedTuple

from dataplane.security.principal import EVERYONE, Principal

CLUSTER_NAME: Final = "kafka-cluster"
"""The only name a resource of type CLUSTER may have."""

WILDCARD: Final = "*"
"""As a literal resource name: every resource of the type. As a host: every host."""


class ResourceType(enum.IntEnum):
    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(enum.IntEnum):
    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class AclOperation(enum.IntEnum):
    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14


class Permission(enum.IntEnum):
    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


SUPPORTED_OPERATIONS: Final[dict[ResourceType, frozenset[AclOperation]]] = {
    ResourceType.TOPIC: frozenset(
        {
            AclOperation.READ,
            AclOperation.WRITE,
            AclOperation.CREATE,
            AclOperation.DESCRIBE,
            AclOperation.DELETE,
            AclOperation.ALTER,
            AclOperation.DESCRIBE_CONFIGS,
            AclOperation.ALTER_CONFIGS,
        }
    ),
    ResourceType.GROUP: frozenset(
        {
            AclOperation.READ,
            AclOperation.DESCRIBE,
            AclOperation.DELETE,
            AclOperation.DESCRIBE_CONFIGS,
            AclOperation.ALTER_CONFIGS,
        }
    ),
    ResourceType.CLUSTER: frozenset(
        {
            AclOperation.CREATE,
            AclOperation.CLUSTER_ACTION,
            AclOperation.DESCRIBE_CONFIGS,
            AclOperation.ALTER_CONFIGS,
            AclOperation.IDEMPOTENT_WRITE,
            AclOperation.ALTER,
            AclOperation.DESCRIBE,
        }
    ),
    ResourceType.TRANSACTIONAL_ID: frozenset({AclOperation.DESCRIBE, AclOperation.WRITE}),
    ResourceType.DELEGATION_TOKEN: frozenset({AclOperation.DESCRIBE}),
    ResourceType.USER: frozenset({AclOperation.CREATE_TOKENS, AclOperation.DESCRIBE_TOKENS}),
}
"""Which operations mean something on which resource; also what authorized-operations lists."""

_DESCRIBE_IMPLIED_BY: Final = frozenset(
    {
        AclOperation.DESCRIBE,
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.DELETE,
        AclOperation.ALTER,
    }
)
_DESCRIBE_CONFIGS_IMPLIED_BY: Final = frozenset(
    {AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS}
)


def operations_granting(operation: AclOperation) -> frozenset[AclOperation]:
    """The operations an ALLOW entry may name to grant `operation` (ALL is apart).

    Implication holds for ALLOW only: a DENY of Read does not deny Describe.
    """
    if operation is AclOperation.DESCRIBE:
        return _DESCRIBE_IMPLIED_BY
    if operation is AclOperation.DESCRIBE_CONFIGS:
        return _DESCRIBE_CONFIGS_IMPLIED_BY
    return frozenset({operation})


class ResourcePattern(NamedTuple):
    """What an ACL is attached to. A stored pattern is LITERAL or PREFIXED, never MATCH or ANY."""

    resource_type: ResourceType
    name: str
    pattern_type: PatternType

    @classmethod
    def literal(cls, resource_type: ResourceType, name: str) -> ResourcePattern:
        return cls(resource_type, name, PatternType.LITERAL)

    @classmethod
    def prefixed(cls, resource_type: ResourceType, prefix: str) -> ResourcePattern:
        return cls(resource_type, prefix, PatternType.PREFIXED)


class AclEntry(NamedTuple):
    """One line of an access list: who, from where, what, allowed or denied."""

    principal: Principal
    host: str
    operation: AclOperation
    permission: Permission

    def concerns(self, principal: Principal, host: str) -> bool:
        """Whether this entry speaks about that caller. One address has one meaning, however it is
        written: Java's long form of IPv6 (`0:0:0:0:0:0:0:1`), the short one, or an IPv4 address as
        a socket for both families shows it (`::ffff:10.0.0.1`).
        """
        if self.principal not in (principal, EVERYONE):
            return False
        return self.host == WILDCARD or _one_form(self.host) == _one_form(host)


@functools.lru_cache(maxsize=4096)
def _one_form(host: str) -> str:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


class AclBinding(NamedTuple):
    pattern: ResourcePattern
    entry: AclEntry


class AclFilter(NamedTuple):
    """What DescribeAcls and DeleteAcls ask for; None and ANY match everything.

    With MATCH, `name` is a resource: every pattern that would apply to it matches.
    """

    resource_type: ResourceType = ResourceType.ANY
    name: str | None = None
    pattern_type: PatternType = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: AclOperation = AclOperation.ANY
    permission: Permission = Permission.ANY

    def matches(self, binding: AclBinding) -> bool:
        return self.matches_pattern(binding.pattern) and self._matches_entry(binding.entry)

    def matches_pattern(self, pattern: ResourcePattern) -> bool:
        if self.resource_type not in (ResourceType.ANY, pattern.resource_type):
            return False
        if self.pattern_type not in (PatternType.ANY, PatternType.MATCH, pattern.pattern_type):
            return False
        if self.name is None:
            return True
        if self.pattern_type is PatternType.MATCH:
            if pattern.pattern_type is PatternType.PREFIXED:
                return self.name.startswith(pattern.name)
            return pattern.name in (self.name, WILDCARD)
        return self.name == pattern.name

    def _matches_entry(self, entry: AclEntry) -> bool:
        return (
            (self.principal is None or self.principal == str(entry.principal))
            and (self.host is None or self.host == entry.host)
            and self.operation in (AclOperation.ANY, entry.operation)
            and self.permission in (Permission.ANY, entry.permission)
        )
