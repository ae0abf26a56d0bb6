"""Whether a topic or group that somebody names is one: rows know it, or else the brokers.

Whoever is in a computed or an observed row is known without a question.
"""

from __future__ import annotations

from controlplane.analytics.models import (
    GoldGroupExpiry,
    GoldGroupLag,
    GoldGroupRollup,
    GoldTopicRetention,
    GoldTopicRollup,
)
from controlplane.clusters.connections import gateway_for
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import NotFound
from controlplane.observed.sections import GROUPS, TOPICS
from controlplane.observed.selectors import row_of
from controlplane.tenants.models import Tenant

NOT_THERE = "Dead"
"""The state in which a coordinator describes a group that it does not know."""


def require_topic(tenant: Tenant, scope: Scope, cluster_id: str, topic: str) -> None:
    """Pass for a topic with rows, also a deleted one, and for one that is not computed yet.

    Raises:
        NotFound: neither rows nor brokers know it, or no grant covers it.
        GatewayError: there are no rows and the brokers cannot be asked.
    """
    cluster = seen_cluster(tenant, scope, cluster_id, with_brokers=False)
    missing = NotFound(f"There is no topic {topic} on the cluster {cluster.name}.")
    if not scope.sees(Area.TOPIC, cluster.name, topic):
        raise missing
    for model in (GoldTopicRetention, GoldGroupLag, GoldTopicRollup):
        if model.objects.filter(cluster_id=cluster_id, topic=topic).exists():
            return
    if row_of(reader_of(cluster, scope), TOPICS, topic) is not None:
        return
    if not gateway_for(cluster).describe_topics([topic]):
        raise missing


def require_all(
    tenant: Tenant, scope: Scope, cluster_id: str, *, topic: str | None, group: str | None
) -> None:
    """As those two, of what is named."""
    if topic is not None:
        require_topic(tenant, scope, cluster_id, topic)
    if group is not None:
        require_group(tenant, scope, cluster_id, group)


def require_group(tenant: Tenant, scope: Scope, cluster_id: str, group: str) -> None:
    """As `require_topic`, for a consumer group."""
    cluster = seen_cluster(tenant, scope, cluster_id, with_brokers=False)
    missing = NotFound(f"There is no group {group} on the cluster {cluster.name}.")
    if not scope.sees(Area.GROUP, cluster.name, group):
        raise missing
    for model in (GoldGroupLag, GoldGroupExpiry, GoldGroupRollup):
        if model.objects.filter(cluster_id=cluster_id, group=group).exists():
            return
    if row_of(reader_of(cluster, scope), GROUPS, group) is not None:
        return
    found = gateway_for(cluster).describe_groups([group]).get(group)
    if found is None or found.state == NOT_THERE:
        raise missing
