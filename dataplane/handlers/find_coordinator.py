"""FindCoordinator (10), versions 0-6: which broker coordinates a group or a transactional id.

Behaviour: needs Describe on the group or transactional id. The coordinator's topic is created at
the first question; until it has a leader the answer is COORDINATOR_NOT_AVAILABLE, which clients
retry.
Version notes: 1 key types; 4 many keys at once, each with its own error.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dataplane.cluster.topic_names import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from dataplane.handlers.group_access import may_use_group
from dataplane.handlers.transaction_access import may_use_transactional_id
from dataplane.handlers.turns import in_turns
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
        found = [await _find(context, request.key_type, key) async for key in in_turns(keys)]
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
        return await _find_one(context, key_type, key)
    except KafkaError as error:
        return Coordinator(
            key=key,
            node_id=NOBODY,
            host="",
            port=-1,
            error_code=error.code,
            error_message=error.message,
        )


async def _find_one(context: RequestContext, key_type: int, key: str) -> Coordinator:
    if key_type == GROUP_KEY:
        topic = OFFSETS_TOPIC
        if not may_use_group(context, AclOperation.DESCRIBE, key):
            raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    elif key_type == TRANSACTION_KEY:
        topic = TRANSACTIONS_TOPIC
        if not may_use_transactional_id(context, AclOperation.DESCRIBE, key):
            raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    else:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"unknown coordinator key type {key_type}")
    here = context.broker
    if not here.metadata_cache.is_known:
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, "no metadata of the cluster yet")
    if topic not in here.metadata_cache.image.topics:
        await _create(context, topic)
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{topic} is being created")
    coordinator = here.group_coordinator if key_type == GROUP_KEY else here.transaction_coordinator
    partition = coordinator.partition_of(key)
    state = here.metadata_cache.image.partition(*partition)
    broker = here.metadata_cache.image.brokers.get(state.leader) if state is not None else None
    endpoint = broker.listeners.get(context.connection.listener_name) if broker else None
    if broker is None or endpoint is None:
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{partition} has no leader")
    return Coordinator(
        key=key, node_id=broker.id, host=endpoint.host, port=endpoint.port, error_code=0
    )


async def _create(context: RequestContext, topic: str) -> None:
    """Ask the controller; whatever it answers, the client asks again."""
    try:
        await context.broker.internal_topics.create(topic)
    except KafkaError as error:
        if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
            _log.warning("cannot create %s: %s", topic, error)
