"""What the handlers of transactional APIs share: access to ids, and errors of old versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation, ResourceType

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


def may_use_transactional_id(
    context: RequestContext, operation: AclOperation, transactional_id: str
) -> bool:
    return context.authorize(operation, ResourceType.TRANSACTIONAL_ID, transactional_id)


def require_transactional_id(context: RequestContext, transactional_id: str) -> None:
    """KafkaError(TRANSACTIONAL_ID_AUTHORIZATION_FAILED) unless the caller may write with it."""
    if not may_use_transactional_id(context, AclOperation.WRITE, transactional_id):
        raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)


def spoken(context: RequestContext, error: ErrorCode, *, fenced_since: int) -> ErrorCode:
    """PRODUCER_FENCED is known from version `fenced_since` on; before, it is an old epoch."""
    if error is ErrorCode.PRODUCER_FENCED and context.header.api_version < fenced_since:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return error
