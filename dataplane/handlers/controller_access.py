"""What the handlers that command the controller share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.broker.quotas.mutation_quota import MutationQuota


def require_controller(context: RequestContext) -> None:
    """Raises KafkaError(NOT_CONTROLLER): the client looks for the controller and asks it."""
    if not context.broker.controller.is_active:
        raise KafkaError(ErrorCode.NOT_CONTROLLER)


def may_on_cluster(context: RequestContext, operation: AclOperation) -> bool:
    return context.authorize(operation, ResourceType.CLUSTER, CLUSTER_NAME)


def require_on_cluster(context: RequestContext, operation: AclOperation) -> None:
    if not may_on_cluster(context, operation):
        raise KafkaError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)


def mutation_quota(context: RequestContext, *, strict_from: int) -> MutationQuota:
    """What this request may make and delete; strict for versions whose clients know the error."""
    header = context.header
    return context.broker.quotas.mutation_quota(
        context.principal.name,
        header.client_id or "",
        is_strict=header.api_version >= strict_from,
    )


async def wait_until_known(context: RequestContext, timeout_ms: int) -> bool:
    """Let a change reach the brokers before the client is answered.

    False when not even this broker has heard of it within `timeout_ms`: then the answer is
    REQUEST_TIMED_OUT, though the change stands.
    """
    if timeout_ms <= 0:
        return False
    return await context.broker.controller.propagated(timeout_ms)
