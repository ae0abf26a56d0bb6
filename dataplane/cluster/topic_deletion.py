"""Which topics may be deleted, and which of their replicas cannot be deleted now."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dataplane.cluster.context import ControllerContext
from dataplane.cluster.image import ZERO_UUID
from dataplane.cluster.replica_state_machine import PartitionAndReplica
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition


class MarkedTopics(NamedTuple):
    """What marks in `/admin/delete_topics` ask for. `refused` names those whose mark goes;
    `disabled` those among them that exist.
    """

    accepted: list[str]
    refused: list[str]
    disabled: list[str]


def refusals(context: ControllerContext, asked: Mapping[str, uuid.UUID]) -> dict[str, KafkaError]:
    """Why topics cannot be deleted; the others can.

    `asked`: by name; with an id that is not zero only the topic that has it, and not another one
    that was made under the name since the client or its handler looked.
    """
    refused = {}
    for name, topic_id in asked.items():
        topic = context.topics.get(name)
        if topic is None or topic_id not in {ZERO_UUID, topic.topic_id}:
            by_name = topic_id == ZERO_UUID
            refused[name] = KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if by_name else ErrorCode.UNKNOWN_TOPIC_ID
            )
    return refused


def marked_topics(
    context: ControllerContext, names: Iterable[str], *, enabled: bool
) -> MarkedTopics:
    """Judge marks that are not acted upon yet. `enabled`: delete.topic.enable."""
    unmarked = [name for name in sorted(names) if not context.is_queued_for_deletion(name)]
    known = [name for name in unmarked if name in context.topics]
    accepted = known if enabled else []
    refused = [name for name in unmarked if name not in accepted]
    return MarkedTopics(accepted, refused, [] if enabled else known)


def offline_replicas(context: ControllerContext, topic: str) -> set[PartitionAndReplica]:
    """The topic's replicas on live brokers whose log directory has failed."""
    return {
        PartitionAndReplica(partition, broker)
        for partition in (
            TopicPartition(topic, index) for index in context.topics[topic].partitions
        )
        for broker in context.offline_replicas(partition)
    }
