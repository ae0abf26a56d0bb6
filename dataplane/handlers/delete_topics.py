"""DeleteTopics (20), versions 0-6: delete topics by name, from version 6 also by id.

Behaviour: the controller only. Needs Delete on the topic. The topic leaves the metadata of every
broker at once; the answer waits until its data and its nodes are gone, at most `timeout_ms`. With
a replica's broker down the deletion halts, the answer is success once the metadata is gone, and
the rest follows when the broker is back, as in Kafka. A topic's partitions are taken from the
client's mutation quota (KIP-599).
Version notes: from 5 a topic is refused that is over the quota, before the client has to wait.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dataplane.cluster.image import ZERO_UUID
from dataplane.handlers.controller_access import (
    mutation_quota,
    require_controller,
    wait_until_known,
)
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)

if TYPE_CHECKING:
    import uuid

    from dataplane.broker.context import RequestContext
    from dataplane.broker.controller.term import ControllerTerm
    from dataplane.broker.quotas.mutation_quota import MutationQuota

HALTED_MS_MAX = 10_000
"""How long an answer waits for the data to go; a deletion may be halted by a dead broker."""


STRICT_FROM = 5


async def handle(context: RequestContext, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    require_controller(context)
    by_id = await context.broker.controller.submit(_names_by_id)
    results: list[DeletableTopicResult] = []
    named: dict[str, DeletableTopicResult] = {}
    for name, topic_id in _asked(context, request):
        result = DeletableTopicResult(name=name, topic_id=topic_id)
        results.append(result)
        try:
            result.name = _resolve(context, by_id, name, topic_id)
            if result.name in named:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic in the request.")
            named[result.name] = result
        except KafkaError as refusal:
            result.error_code, result.error_message = refusal.code, refusal.message
    quota = mutation_quota(context, strict_from=STRICT_FROM)
    affordable = _affordable(context, quota, named)
    if affordable:
        await _delete(context, affordable, request.timeout_ms)
    return DeleteTopicsResponse(throttle_time_ms=quota.answered(), responses=results)


def _affordable(
    context: RequestContext, quota: MutationQuota, named: dict[str, DeletableTopicResult]
) -> dict[str, DeletableTopicResult]:
    """Those that the client's quota allows; the others' results say that it does not.

    A topic that is not there costs nothing: the controller refuses it.
    """
    topics = context.broker.metadata_cache.image.topics
    found = {}
    for name, result in named.items():
        topic = topics.get(name)
        try:
            if topic is not None:
                quota.spend(len(topic.partitions))
            found[name] = result
        except KafkaError as refusal:
            result.error_code, result.error_message = refusal.code, refusal.message
    return found


async def _names_by_id(term: ControllerTerm) -> dict[uuid.UUID, str]:
    return dict(term.context.names_by_id)


def _asked(
    context: RequestContext, request: DeleteTopicsRequest
) -> list[tuple[str | None, uuid.UUID]]:
    if context.header.api_version >= 6:
        return [(topic.name, topic.topic_id) for topic in request.topics]
    return [(name, ZERO_UUID) for name in request.topic_names]


def _resolve(
    context: RequestContext, by_id: dict[uuid.UUID, str], name: str | None, topic_id: uuid.UUID
) -> str:
    """The topic's name, if the client may delete it. Raises KafkaError."""
    if name is not None and topic_id != ZERO_UUID:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Topic name and topic ID can not both be set.")
    if name is None:
        if topic_id == ZERO_UUID:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "Neither topic name nor id were specified.")
        name = by_id.get(topic_id)
        if name is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
    if not context.authorize(AclOperation.DELETE, ResourceType.TOPIC, name):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    if not context.broker.configs.broker_config.get_bool("delete.topic.enable"):
        old = context.header.api_version < 3
        raise KafkaError(ErrorCode.INVALID_REQUEST if old else ErrorCode.TOPIC_DELETION_DISABLED)
    return name


async def _delete(
    context: RequestContext, named: dict[str, DeletableTopicResult], timeout_ms: int
) -> None:
    outcomes = await context.broker.controller.submit(
        lambda term: term.topic_deletion.delete_topics(
            {name: result.topic_id for name, result in named.items()}
        )
    )
    waits: list[asyncio.Future[None]] = []
    for name, outcome in outcomes.items():
        if isinstance(outcome, KafkaError):
            named[name].error_code = outcome.code
            named[name].error_message = outcome.message
        else:
            waits.append(outcome)
    if not waits:
        return
    await asyncio.wait(waits, timeout=min(max(timeout_ms, 0), HALTED_MS_MAX) / 1000)
    known = await wait_until_known(context, timeout_ms)
    for name, outcome in outcomes.items():
        if not known and not isinstance(outcome, KafkaError):
            named[name].error_code = ErrorCode.REQUEST_TIMED_OUT
            named[name].error_message = ErrorCode.REQUEST_TIMED_OUT.message
