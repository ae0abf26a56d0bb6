"""Metadata (3), versions 0-12: brokers, controller, topics and who leads their partitions.

Behaviour: topics that may not be described are left out of "all", and are an error when named.
A missing topic is UNKNOWN_TOPIC_OR_PARTITION, or, when it may be created automatically, is created
and answered with LEADER_NOT_AVAILABLE until it is there. Endpoints are those of the listener that
was asked. Encoded topics are kept until an update changes them, or the brokers that are alive.
Before the controller's first update nothing is missing: LEADER_NOT_AVAILABLE, which clients retry.
Version notes: 0 takes an empty list for "all", later ones null; 4 may forbid automatic creation;
8-10 answer cluster operations; 10 has topic ids, 12 lets a client look up by id: an id that is not
zero decides, whatever the name holds (Java's admin client sends an empty one beside it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataplane.cluster.topic_names import INTERNAL_TOPICS
from dataplane.handlers.authorized_operations import authorized_operations
from dataplane.handlers.turns import TURN_ITEMS, answer_in_turns
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import NO_LEADER
from dataplane.security.acl import CLUSTER_NAME, AclOperation, ResourceType
from dataplane.wire.codec import decode
from dataplane.wire.messages.metadata import MetadataRequest
from dataplane.wire.metadata_codec import (
    NO_OPERATIONS,
    MetadataBroker,
    encode_metadata_response,
    encode_topic,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.broker.context import RequestContext
    from dataplane.cluster.image import TopicImage
    from dataplane.model.partition import PartitionState
    from dataplane.wire.messages.metadata import MetadataRequestTopic

IDS_ASKED_FROM = 12  # 10 and 11 have the field in the request, but may not use it


def handle_frame(context: RequestContext, frame: memoryview, position: int) -> Any:
    header = context.header
    version = header.api_version
    request, _end = decode(MetadataRequest, version, frame, position)
    if request.topics is None or (version == 0 and not request.topics):
        return _answer(context, request, _all_topics(context, request))
    # Once each, as in Kafka.
    named = list({(topic.name, topic.topic_id): topic for topic in request.topics}.values())
    if len(named) <= TURN_ITEMS:
        topics = [_named_topic(context, request, topic) for topic in named]
        return _answer(context, request, topics)
    found: list[bytes] = []
    return answer_in_turns(
        context,
        named,
        lambda topic: found.append(_named_topic(context, request, topic)),
        lambda: _answer(context, request, found),
        lambda: _answer(context, request, [_failed(version, topic) for topic in named]),
    )


def _failed(version: int, wanted: MetadataRequestTopic) -> bytes:
    return encode_topic(version, ErrorCode.UNKNOWN_SERVER_ERROR, wanted.name, wanted.topic_id)


def _answer(context: RequestContext, request: MetadataRequest, topics: list[bytes]) -> list[Any]:
    header = context.header
    here = context.broker
    listener = context.connection.listener_name
    operations = NO_OPERATIONS
    if request.include_cluster_authorized_operations:
        allowed = context.sees(AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)
        operations = authorized_operations(context, ResourceType.CLUSTER) if allowed else 0
    return [
        encode_metadata_response(
            header.api_version,
            header.correlation_id,
            brokers=[
                MetadataBroker(broker.id, endpoint.host, endpoint.port, broker.rack)
                for broker in here.metadata_cache.image.brokers.values()
                if (endpoint := broker.listeners.get(listener)) is not None
            ],
            cluster_id=here.cluster_id,
            controller_id=here.controller_client.controller_id,
            topics=topics,
            throttle_time_ms=context.throttle_time_ms,
            cluster_authorized_operations=operations,
        )
    ]


def _all_topics(context: RequestContext, request: MetadataRequest) -> list[bytes]:
    return [
        _known_topic(context, request, topic)
        for topic in context.broker.metadata_cache.image.topics.values()
        if context.sees(AclOperation.DESCRIBE, ResourceType.TOPIC, topic.name)
    ]


def _named_topic(
    context: RequestContext, request: MetadataRequest, wanted: MetadataRequestTopic
) -> bytes:
    version = context.header.api_version
    image = context.broker.metadata_cache.image
    name = wanted.name
    if name is None or wanted.topic_id.int:
        return _topic_by_id(context, request, wanted)
    if not context.authorize(AclOperation.DESCRIBE, ResourceType.TOPIC, name):
        return encode_topic(version, ErrorCode.TOPIC_AUTHORIZATION_FAILED, name)
    topic = image.topics.get(name)
    if topic is not None:
        return _known_topic(context, request, topic)
    return encode_topic(
        version,
        _missing(context, request, name),
        name,
        is_internal=name in INTERNAL_TOPICS,
    )


def _topic_by_id(
    context: RequestContext, request: MetadataRequest, wanted: MetadataRequestTopic
) -> bytes:
    """An id is no secret, the name behind it is: it is left out where Describe is lacking."""
    version = context.header.api_version
    if version < IDS_ASKED_FROM:
        refused = ErrorCode.INVALID_REQUEST
        return encode_topic(version, refused, wanted.name, wanted.topic_id)
    topic = context.broker.metadata_cache.image.topic_by_id(wanted.topic_id)
    if topic is None:
        is_known = context.broker.metadata_cache.is_known
        code = ErrorCode.UNKNOWN_TOPIC_ID if is_known else ErrorCode.LEADER_NOT_AVAILABLE
        return encode_topic(version, code, None, wanted.topic_id)
    if not context.authorize(AclOperation.DESCRIBE, ResourceType.TOPIC, topic.name):
        return encode_topic(version, ErrorCode.TOPIC_AUTHORIZATION_FAILED, None, wanted.topic_id)
    return _known_topic(context, request, topic)


def _missing(context: RequestContext, request: MetadataRequest, name: str) -> ErrorCode:
    """Have a missing topic created if that is allowed; the error to answer meanwhile."""
    here = context.broker
    version = context.header.api_version
    if not here.metadata_cache.is_known:
        return ErrorCode.LEADER_NOT_AVAILABLE
    if version >= 4 and not request.allow_auto_topic_creation:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if not here.configs.broker_config.get_bool("auto.create.topics.enable"):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if not (
        context.sees(AclOperation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME)
        or context.authorize(AclOperation.CREATE, ResourceType.TOPIC, name)
    ):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return here.controller_client.create_in_background(name)


def _known_topic(context: RequestContext, request: MetadataRequest, topic: TopicImage) -> bytes:
    version = context.header.api_version
    if version >= 8 and request.include_topic_authorized_operations:
        return _encode(
            context,
            topic,
            authorized_operations(context, ResourceType.TOPIC, topic.name),
        )
    encoded = context.broker.metadata_cache.encoded.setdefault(topic.name, {})
    key = (version, context.connection.listener_name)
    fragment = encoded.get(key)
    if fragment is None:
        fragment = encoded[key] = _encode(context, topic, NO_OPERATIONS)
    return fragment


def _encode(context: RequestContext, topic: TopicImage, operations: int) -> bytes:
    return encode_topic(
        context.header.api_version,
        ErrorCode.NONE,
        topic.name,
        topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=partitions_of(context, topic),
        authorized_operations=operations,
    )


def partitions_of(
    context: RequestContext, topic: TopicImage
) -> Iterable[tuple[int, PartitionState]]:
    """Each partition's state, with the error that clients on this listener are answered."""
    brokers = context.broker.metadata_cache.image.brokers
    listener = context.connection.listener_name
    for state in topic.partitions:
        if state.leader == NO_LEADER or state.leader not in brokers:
            yield ErrorCode.LEADER_NOT_AVAILABLE, state
        elif listener not in brokers[state.leader].listeners:
            yield ErrorCode.LISTENER_NOT_FOUND, state
        else:
            yield ErrorCode.NONE, state
