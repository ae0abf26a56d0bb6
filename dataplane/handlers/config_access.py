"""What the three configuration handlers share: authorization per resource."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.broker.metadata.config_admin import Resource
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.broker.context import RequestContext


def require(
    context: RequestContext, operation: AclOperation, resource_type: int, name: str
) -> None:
    """Topics need the operation on the topic, brokers on the cluster. Raises KafkaError."""
    if resource_type == Resource.TOPIC:
        if not context.authorize(operation, ResourceType.TOPIC, name):
            raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    elif not context.authorize(operation, ResourceType.CLUSTER, CLUSTER_NAME):
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)


def repeated(resources: Iterable[tuple[int, str]]) -> set[tuple[int, str]]:
    """Resources that a request names more than once."""
    seen: set[tuple[int, str]] = set()
    again: set[tuple[int, str]] = set()
    for resource in resources:
        (again if resource in seen else seen).add(resource)
    return again
