"""All ACLs of the cluster, arranged so that a decision is a few dictionary look-ups.

The rules are those of Kafka's AclAuthorizer: no matching ACL at all decides by
`allow.everyone.if.no.acl.found`; else any matching DENY refuses; else an ALLOW is needed, which may
name the operation, one that implies it, or All. Where `peers_by_acl` is False no ACL makes anybody
a peer of the brokers: ClusterAction is the super users' alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.security.acl import (
    WILDCARD,
    AclBinding,
    AclEntry,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
    operations_granting,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dataplane.security.acl import AclFilter
    from dataplane.security.principal import Principal

DECISIONS_KEPT_MAX: Final = 20_000
"""Decisions remembered between two changes; a caller cannot grow memory with invented names."""

_Question = tuple["Principal", str, AclOperation, ResourceType, str]


class AclIndex:
    """Mutable; one per broker. `replace` is the only way in."""

    def __init__(
        self,
        *,
        super_users: frozenset[Principal],
        allow_if_no_acl_found: bool = False,
        peers_by_acl: bool = True,
    ) -> None:
        self._super_users = super_users
        self._peers_by_acl = peers_by_acl
        self._allow_if_no_acl_found = allow_if_no_acl_found
        self._literal: dict[tuple[ResourceType, str], frozenset[AclEntry]] = {}
        self._prefixed: dict[ResourceType, dict[str, frozenset[AclEntry]]] = {}
        self._prefix_lengths: dict[ResourceType, tuple[int, ...]] = {}
        self._decided: dict[_Question, bool] = {}

    def replace(self, pattern: ResourcePattern, entries: Iterable[AclEntry]) -> None:
        """Set the whole list of one pattern; an empty one removes the pattern."""
        kept = frozenset(entries)
        self._decided.clear()
        kind = pattern.resource_type
        if pattern.pattern_type is PatternType.LITERAL:
            if kept:
                self._literal[kind, pattern.name] = kept
            else:
                self._literal.pop((kind, pattern.name), None)
            return
        by_prefix = self._prefixed.setdefault(kind, {})
        if kept:
            by_prefix[pattern.name] = kept
        else:
            by_prefix.pop(pattern.name, None)
        self._prefix_lengths[kind] = tuple(sorted({len(prefix) for prefix in by_prefix}))

    def entries(self, pattern: ResourcePattern) -> frozenset[AclEntry]:
        """The list attached to exactly this pattern."""
        if pattern.pattern_type is PatternType.LITERAL:
            return self._literal.get((pattern.resource_type, pattern.name), frozenset())
        return self._prefixed.get(pattern.resource_type, {}).get(pattern.name, frozenset())

    def patterns(self) -> Iterator[ResourcePattern]:
        for kind, name in self._literal:
            yield ResourcePattern.literal(kind, name)
        for kind, by_prefix in self._prefixed.items():
            for prefix in by_prefix:
                yield ResourcePattern.prefixed(kind, prefix)

    def find(self, wanted: AclFilter) -> list[AclBinding]:
        return [
            binding
            for pattern in self.patterns()
            if wanted.matches_pattern(pattern)
            for entry in self.entries(pattern)
            if wanted.matches(binding := AclBinding(pattern, entry))
        ]

    def is_super_user(self, principal: Principal) -> bool:
        return principal in self._super_users

    def authorize(
        self,
        principal: Principal,
        host: str,
        operation: AclOperation,
        resource_type: ResourceType,
        name: str,
    ) -> bool:
        """Whether `principal`, connected from `host`, may do `operation` on that one resource."""
        if principal in self._super_users:
            return True
        question = (principal, host, operation, resource_type, name)
        decided = self._decided.get(question)
        if decided is None:
            if len(self._decided) >= DECISIONS_KEPT_MAX:
                self._decided.clear()
            decided = self._decided[question] = self._decide(*question)
        return decided

    def _decide(
        self,
        principal: Principal,
        host: str,
        operation: AclOperation,
        resource_type: ResourceType,
        name: str,
    ) -> bool:
        if operation is AclOperation.CLUSTER_ACTION and not self._peers_by_acl:
            return False
        matching = self._matching(resource_type, name)
        if not matching:
            return self._allow_if_no_acl_found
        granting = operations_granting(operation)
        is_allowed = False
        for entry in matching:
            if not entry.concerns(principal, host):
                continue
            is_all = entry.operation is AclOperation.ALL
            if entry.permission is Permission.DENY:
                if is_all or entry.operation is operation:
                    return False
            elif is_all or entry.operation in granting:
                is_allowed = True
        return is_allowed

    def _matching(self, resource_type: ResourceType, name: str) -> list[AclEntry]:
        """Every entry whose pattern covers the resource, whoever it is about."""
        found = list(self._literal.get((resource_type, name), ()))
        if name != WILDCARD:
            found += self._literal.get((resource_type, WILDCARD), ())
        by_prefix = self._prefixed.get(resource_type)
        if by_prefix:
            for length in self._prefix_lengths[resource_type]:
                if length > len(name):
                    break
                found += by_prefix.get(name[:length], ())
        return found

    def authorize_any(
        self, principal: Principal, host: str, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        """Whether there is any resource of the type on which the operation is allowed (KIP-679)."""
        if principal in self._super_users:
            return True
        allowed: list[ResourcePattern] = []
        denied: set[ResourcePattern] = set()
        for pattern in self.patterns():
            if pattern.resource_type is not resource_type:
                continue
            for entry in self.entries(pattern):
                if not entry.concerns(principal, host):
                    continue
                if entry.operation not in (operation, AclOperation.ALL):
                    continue
                if entry.permission is Permission.DENY:
                    denied.add(pattern)
                else:
                    allowed.append(pattern)
        if ResourcePattern.literal(resource_type, WILDCARD) in denied:
            return False
        if self._allow_if_no_acl_found:
            return True
        return any(not _is_dominated(pattern, denied) for pattern in allowed)


def _is_dominated(pattern: ResourcePattern, denied: set[ResourcePattern]) -> bool:
    """Whether denials leave nothing of what the pattern allows."""
    if pattern.pattern_type is PatternType.LITERAL:
        if pattern.name == WILDCARD:
            return False
        if pattern in denied:
            return True
    return any(
        ResourcePattern.prefixed(pattern.resource_type, pattern.name[:length]) in denied
        for length in range(1, len(pattern.name) + 1)
    )
