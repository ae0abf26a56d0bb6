"""The record that a group would read first at an offset: a page of one message, and as secret."""

from typing import Any

from controlplane.audit.services import Actor
from controlplane.clusters.connections import gateway_for
from controlplane.common.grants import Verb
from controlplane.common.problems import Unavailable, field_problem
from controlplane.messages.query import From, Order, Query
from controlplane.messages.reading import END, LIMIT, reading
from controlplane.messages.selectors import topic_cluster
from controlplane.messages.services import SAMPLE, read_begin
from controlplane.tenants.models import Tenant


def sample(
    *, tenant: Tenant, actor: Actor, cluster_id: str, topic: str, partition: int, offset: int
) -> dict[str, Any] | None:
    """The record at the offset, or the first one after it, as this reader sees messages.

    None: the log ends there.

    Raises:
        NotFound, Forbidden, GatewayError: as `read_begin`.
        Invalid: the topic has no such partition.
        TooManyRequests: no seat.
        Unavailable: nobody knows what is there.
    """
    cluster = topic_cluster(tenant, actor.scope, Verb.BROWSE, cluster_id, topic)
    described = gateway_for(cluster).describe_topics([topic]).get(topic)
    if described is not None and all(part.partition != partition for part in described.partitions):
        raise field_problem("/partition", f"{topic} has no partition {partition}.")
    query = Query(
        partitions=frozenset({partition}),
        start=From.OFFSET,
        order=Order.OLDEST,
        offset=offset,
        limit=1,
    )
    asked = read_begin(
        tenant=tenant, actor=actor, cluster_id=cluster_id, topic=topic, query=query, how=SAMPLE
    )
    found: dict[str, Any] | None = None
    done: dict[str, Any] = {}
    for frames in reading(asked):
        for name, data in frames:
            if name == "message":
                found = data
            elif name == "done":
                done = data
    is_known = done.get("ended_by") in {LIMIT, END}
    if not is_known or done["silent"] or done["unavailable"]:
        raise Unavailable(f"Partition {partition} of {topic} did not bring its record in time.")
    return found
