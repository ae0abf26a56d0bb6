"""CreateTopics (19), versions 0-7: make topics.

Behaviour: the controller only (NOT_CONTROLLER elsewhere). Needs Create on the cluster or on the
topic. All topics of a request are written together and sent in one command per broker; the answer
waits until the brokers have heard, so that metadata is the same everywhere by then.
Each topic's partitions are taken from the client's mutation quota before it is made (KIP-599).
Version notes: 5 adds counts and settings to the answer; from 6 a topic is refused that is over the
quota, before the client has to wait; 7 topic ids.
Skipped: creation policies.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dataplane.cluster.config_changes import check_topic
from dataplane.cluster.config_entries import topic_entries
from dataplane.cluster.topic_plans import TopicRequest
from dataplane.handlers.controller_access import (
    mutation_quota,
    require_controller,
    wait_until_known,
)
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType
from dataplane.wire.messages.create_topics import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext
    from dataplane.cluster.topic_plans import NewTopic
    from dataplane.wire.messages.create_topics import CreatableTopic


STRICT_FROM = 6


async def handle(context: RequestContext, request: CreateTopicsRequest) -> CreateTopicsResponse:
    require_controller(context)
    counts = Counter(topic.name for topic in request.topics)
    on_cluster = context.sees(AclOperation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME)
    outcomes: dict[str, NewTopic | KafkaError] = {}
    accepted: list[TopicRequest] = []
    for topic in request.topics:
        try:
            if counts[topic.name] > 1:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST,
                    f"The request contains multiple entries for the topic {topic.name}.",
                )
            if not on_cluster and not context.authorize(
                AclOperation.CREATE, ResourceType.TOPIC, topic.name
            ):
                raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            accepted.append(_checked(context, topic))
        except KafkaError as refusal:
            outcomes[topic.name] = refusal
    quota = mutation_quota(context, strict_from=STRICT_FROM)
    if accepted:
        outcomes |= await context.broker.controller.submit(
            lambda term: term.topic_creation.create_topics(
                accepted, validate_only=request.validate_only, spend=quota.spend
            )
        )
    known = True
    if not request.validate_only and any(not _failed(item) for item in outcomes.values()):
        known = await wait_until_known(context, request.timeout_ms)
    return CreateTopicsResponse(
        throttle_time_ms=quota.answered(),
        topics=[_result(context, name, outcomes[name], known) for name in counts],
    )


def _failed(outcome: NewTopic | KafkaError) -> bool:
    return isinstance(outcome, KafkaError)


def _checked(context: RequestContext, topic: CreatableTopic) -> TopicRequest:
    """The request in the controller's words, with valid settings. Raises KafkaError."""
    configs: dict[str, str] = {}
    for item in topic.configs:
        if item.value is None:
            raise KafkaError(
                ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {item.name}"
            )
        configs[item.name] = item.value
    check_topic(configs, context.broker.configs.broker_config)
    assignments: dict[int, list[int]] = {}
    for assignment in topic.assignments:
        if assignment.partition_index in assignments:
            raise KafkaError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Partition {assignment.partition_index} is assigned twice.",
            )
        assignments[assignment.partition_index] = assignment.broker_ids
    return TopicRequest(
        topic.name, topic.num_partitions, topic.replication_factor, assignments, configs
    )


def _result(
    context: RequestContext, name: str, outcome: NewTopic | KafkaError, known: bool
) -> CreatableTopicResult:
    if isinstance(outcome, KafkaError):
        return CreatableTopicResult(
            name=name, error_code=outcome.code, error_message=outcome.message, configs=None
        )
    if not known:
        return CreatableTopicResult(
            name=name,
            topic_id=outcome.topic_id,
            error_code=ErrorCode.REQUEST_TIMED_OUT,
            error_message=ErrorCode.REQUEST_TIMED_OUT.message,
            configs=None,
        )
    result = CreatableTopicResult(
        name=name,
        topic_id=outcome.topic_id,
        num_partitions=len(outcome.replicas),
        replication_factor=outcome.replication_factor,
        configs=None,
    )
    if not context.sees(AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, name):
        result.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        result.num_partitions = result.replication_factor = -1
        return result
    broker = context.broker.configs.broker_config
    result.configs = [
        CreatableTopicConfigs(
            name=entry.key.name,
            value=entry.value,
            read_only=entry.read_only,
            config_source=entry.source,
            is_sensitive=entry.key.is_sensitive,
        )
        for entry in topic_entries(check_topic(outcome.configs, broker), broker, None)
    ]
    return result
