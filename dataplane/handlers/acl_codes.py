"""ACLs between the wire's numbers and the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import (
    CLUSTER_NAME,
    AclBinding,
    AclEntry,
    AclFilter,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from dataplane.security.principal import Principal

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.wire.messages.create_acls import AclCreation
    from dataplane.wire.messages.delete_acls import DeleteAclsFilter
    from dataplane.wire.messages.describe_acls import DescribeAclsRequest


def require_cluster(context: RequestContext, operation: AclOperation) -> None:
    if not context.authorize(operation, ResourceType.CLUSTER, CLUSTER_NAME):
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)


def filter_from(asked: DescribeAclsRequest | DeleteAclsFilter) -> AclFilter:
    """KafkaError(INVALID_REQUEST) when a number is not of this release."""
    try:
        wanted = AclFilter(
            resource_type=ResourceType(asked.resource_type_filter),
            name=asked.resource_name_filter,
            pattern_type=PatternType(asked.pattern_type_filter),
            principal=asked.principal_filter,
            host=asked.host_filter,
            operation=AclOperation(asked.operation),
            permission=Permission(asked.permission_type),
        )
    except ValueError as error:
        raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from error
    if 0 in (wanted.resource_type, wanted.pattern_type, wanted.operation, wanted.permission):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "the filter contains unknown elements")
    return wanted


def binding_from(asked: AclCreation) -> AclBinding:
    """KafkaError(INVALID_REQUEST) names the field that cannot be stored."""
    try:
        pattern = ResourcePattern(
            ResourceType(asked.resource_type),
            asked.resource_name,
            PatternType(asked.resource_pattern_type),
        )
        entry = AclEntry(
            Principal.parse(asked.principal),
            asked.host,
            AclOperation(asked.operation),
            Permission(asked.permission_type),
        )
    except ValueError as error:
        raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from error
    problem = _problem_of(pattern, entry)
    if problem:
        raise KafkaError(ErrorCode.INVALID_REQUEST, problem)
    return AclBinding(pattern, entry)


def _problem_of(pattern: ResourcePattern, entry: AclEntry) -> str | None:
    checks = (
        (pattern.resource_type <= ResourceType.ANY, "resource type must name one type"),
        (
            pattern.pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED),
            "pattern type must be LITERAL or PREFIXED",
        ),
        (entry.operation <= AclOperation.ANY, "operation must name one operation, or ALL"),
        (entry.permission <= Permission.ANY, "permission must be ALLOW or DENY"),
        (not pattern.name, "Invalid empty resource name"),
        (not entry.host, "Invalid empty host"),
        ("/" in pattern.name, "a resource name with a slash cannot be stored in ZooKeeper"),
        (
            pattern.resource_type is ResourceType.CLUSTER and pattern.name != CLUSTER_NAME,
            f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}",
        ),
    )
    return next((message for is_wrong, message in checks if is_wrong), None)
