"""What a cluster's administrator may not do there, and so what the control plane will be unable to.

Kafka says what a user may do with the cluster itself. What it may do with topics and groups it says
of each one; of those only the creation of a topic is asked, which changes nothing.
"""

from collections.abc import Mapping

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.readings import NO_AUTHORIZER
from controlplane.gateway.types import ClusterDescription, NewTopic

NEEDED_ON_CLUSTER: Mapping[str, str] = {
    "DESCRIBE": "see users, ACLs and partitions that move",
    "ALTER": "change users and ACLs, move partitions",
    "DESCRIBE_CONFIGS": "see the brokers' settings",
    "ALTER_CONFIGS": "limit the bandwidth of moves",
}
"""Operation on the resource Cluster, and what cannot be done without it."""


def inabilities(gateway: ClusterGateway, cluster: ClusterDescription, topic: NewTopic) -> list[str]:
    """Each as a clause after "cannot": `see the brokers' settings (no DESCRIBE_CONFIGS …)`.

    Whether `topic`, which is to be made there, could be is asked; it is not made.

    Raises:
        GatewayError: the cluster is away.
    """
    if cluster.operations is None:
        found = _tried(gateway)
    else:
        found = [
            f"{what} (no {operation} on Cluster)"
            for operation, what in NEEDED_ON_CLUSTER.items()
            if operation not in cluster.operations
        ]
    try:
        gateway.create_topic(topic, validate_only=True)
    except GatewayError as error:
        if error.retriable:
            raise
        if error.code != "TOPIC_ALREADY_EXISTS":
            found.append(f"make the topic {topic.name} ({error.code})")
    return found


def _tried(gateway: ClusterGateway) -> list[str]:
    """By asking, where the cluster does not say it: what may be changed stays unknown."""
    try:
        gateway.list_acls()
    except GatewayError as error:
        if error.retriable:
            raise
        if error.code != NO_AUTHORIZER:
            return [f"{NEEDED_ON_CLUSTER['DESCRIBE']} ({error.code})"]
    return []
