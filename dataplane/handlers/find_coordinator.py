"""FindCoordinator (10), versions 0-6: which broker coordinates a group.

Behaviour: needs Describe on the group. The offsets topic is created at the first question; until
it has a leader the answer is COORDINATOR_NOT_AVAILABLE, which clients retry.
Version notes: 1 key types; 4 many keys at once, each with its own error.
Skipped: transactional ids (type 1), which are not served: UNSUPPORTED_VERSION, and a message.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.cluster.topic_names import OFFSETS_TOPIC
from dataplane.handlers.group_access import may_use_group
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext

GROUP_KEY = 0
TRANSACTION_KEY = 1
BATCHED_SINCE = 4
NOBODY = -1

_log = logging.getLogger(__name__)


async def handle(
    context: RequestContext, request: FindCoordinatorRequest
) -> FindCoordinatorResponse:
    if context.header.api_version >= BATCHED_SINCE:
        keys = request.coordinator_keys
        found = [await _find(context, request.key_type, key) for key in keys]
        return FindCoordinatorResponse(coordinators=found)
    one = await _find(context, request.key_type, request.key)
    response = FindCoordinatorResponse(
        error_code=one.error_code, node_id=one.node_id, host=one.host, port=one.port
    )
    if one.error_code:
        response.error_message = one.error_message
    return response


async def _find(context: RequestContext, key_type: int, key: str) -> Coordinator:
    try:
        return await _find_group(context, key_type, key)
    except KafkaError as error:
        return Coordinator(
            key=key,
            node_id=NOBODY,
            host="",
            port=-1,
            error_code=error.code,
            error_message=error.message,
        )


async def _find_group(context: RequestContext, key_type: int, key: str) -> Coordinator:
    if key_type == TRANSACTION_KEY:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, "transactions are not served yet")
    if key_type != GROUP_KEY:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"unknown coordinator key type {key_type}")
    if not may_use_group(context, AclOperation.DESCRIBE, key):
        raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    here = context.broker
    if OFFSETS_TOPIC not in here.metadata_cache.image.topics:
        await _create_offsets_topic(context)
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{OFFSETS_TOPIC} is being created")
    partition = here.group_coordinator.partition_of(key)
    state = here.metadata_cache.image.partition(*partition)
    broker = here.metadata_cache.image.brokers.get(state.leader) if state is not None else None
    endpoint = broker.listeners.get(context.connection.listener_name) if broker else None
    if broker is None or endpoint is None:
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{partition} has no leader")
    return Coordinator(
        key=key, node_id=broker.id, host=endpoint.host, port=endpoint.port, error_code=0
    )


async def _create_offsets_topic(context: RequestContext) -> None:
    """Ask the controller; whatever it answers, the client asks again."""
    try:
        await context.broker.internal_topics.create(OFFSETS_TOPIC)
    except KafkaError as error:
        if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
            _log.warning("cannot create %s: %s", OFFSETS_TOPIC, error)
