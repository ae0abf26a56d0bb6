"""CreatePartitions (37), versions 0-3: raise the partition count of topics.

Behaviour: the controller only. Needs Alter on the topic. Counts can only grow. What is added is
taken from the client's mutation quota (KIP-599).
Version notes: from 3 a topic is refused that is over the quota, before the client has to wait.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dataplane.handlers.controller_access import (
    mutation_quota,
    require_controller,
    wait_until_known,
)
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import AclOperation, ResourceType
from dataplane.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.broker.controller.term import ControllerTerm
    from dataplane.broker.quotas.mutation_quota import MutationQuota
    from dataplane.wire.messages.create_partitions import CreatePartitionsTopic


STRICT_FROM = 3


async def handle(
    context: RequestContext, request: CreatePartitionsRequest
) -> CreatePartitionsResponse:
    require_controller(context)
    counts = Counter(topic.name for topic in request.topics)
    quota = mutation_quota(context, strict_from=STRICT_FROM)
    response = CreatePartitionsResponse()
    made = []
    for topic in {topic.name: topic for topic in request.topics}.values():
        result = CreatePartitionsTopicResult(name=topic.name)
        response.results.append(result)
        try:
            if counts[topic.name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic in request.")
            if not context.authorize(AclOperation.ALTER, ResourceType.TOPIC, topic.name):
                raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            await _grow(context, topic, quota, validate_only=request.validate_only)
            made.append(result)
        except KafkaError as refusal:
            result.error_code, result.error_message = refusal.code, refusal.message
    if made and not request.validate_only:
        known = await wait_until_known(context, request.timeout_ms)
        for result in made:
            result.error_code = ErrorCode.NONE if known else ErrorCode.REQUEST_TIMED_OUT
    response.throttle_time_ms = quota.answered()
    return response


async def _grow(
    context: RequestContext,
    topic: CreatePartitionsTopic,
    quota: MutationQuota,
    *,
    validate_only: bool,
) -> None:
    assignments = topic.assignments
    wanted = None if assignments is None else [item.broker_ids for item in assignments]

    async def step(term: ControllerTerm) -> None:
        await term.topic_creation.create_partitions(
            topic.name, topic.count, wanted, validate_only=validate_only, spend=quota.spend
        )

    await context.broker.controller.submit(step)
