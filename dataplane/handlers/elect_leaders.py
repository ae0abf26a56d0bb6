"""ElectLeaders (43), versions 0-2: elect preferred leaders, or (type 1) any live replica.

Behaviour: the controller only; needs Alter on the cluster. An unclean election may lose records
and is therefore only done where a partition has no live leader. Null partitions ask for all that
need it; then those that need none are not mentioned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.cluster.election import ElectionType
from dataplane.handlers.controller_access import (
    require_controller,
    require_on_cluster,
    wait_until_known,
)
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.security.acl import AclOperation
from dataplane.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

if TYPE_CHECKING:
    from dataplane.broker.context import RequestContext


async def handle(context: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
    require_on_cluster(context, AclOperation.ALTER)
    require_controller(context)
    if request.election_type not in list(ElectionType):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}."
        )
    election = ElectionType(request.election_type)
    asked = None
    if request.topic_partitions is not None:
        asked = [
            TopicPartition(topic.topic, index)
            for topic in request.topic_partitions
            for index in topic.partitions
        ]
    outcomes = await context.broker.controller.submit(
        lambda term: term.elections.elect_leaders(election, asked)
    )
    await wait_until_known(context, request.timeout_ms)
    topics: dict[str, ReplicaElectionResult] = {}
    for partition, refusal in outcomes.items():
        topic = topics.setdefault(partition.topic, ReplicaElectionResult(topic=partition.topic))
        topic.partition_result.append(
            PartitionResult(
                partition_id=partition.partition,
                error_code=refusal.code if refusal else ErrorCode.NONE,
                error_message=refusal.message if refusal else None,
            )
        )
    return ElectLeadersResponse(replica_election_results=list(topics.values()))
