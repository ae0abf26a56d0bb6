"""What the handlers of group APIs share: access to groups and topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.groups.requests import CONSUMER
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation, ResourceType

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


def may_use_group(context: RequestContext, operation: AclOperation, group_id: str) -> bool:
    return context.authorize(operation, ResourceType.GROUP, group_id)


def require_group(context: RequestContext, operation: AclOperation, group_id: str) -> None:
    """KafkaError(GROUP_AUTHORIZATION_FAILED) unless the caller may do that with the group."""
    if not may_use_group(context, operation, group_id):
        raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)


def require_consumer_protocol(context: RequestContext) -> None:
    """KafkaError(UNSUPPORTED_VERSION), as Kafka answers, where the protocol is switched off."""
    served = context.broker.configs.broker_config.get_list("group.coordinator.rebalance.protocols")
    if CONSUMER not in served:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)


def topic_errors(
    context: RequestContext, operation: AclOperation, names: set[str], *, must_exist: bool
) -> dict[str, ErrorCode]:
    """Topics that must not be touched, with the reason; the others are absent."""
    known = context.broker.metadata_cache.image.topics
    errors = {}
    for name in names:
        if not context.authorize(operation, ResourceType.TOPIC, name):
            errors[name] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif must_exist and name not in known:
            errors[name] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return errors
