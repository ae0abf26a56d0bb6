"""Writes: who reads what is recorded, never what it says."""

from typing import Any

from controlplane.audit.services import About, Actor, audit_record
from controlplane.common.grants import Verb
from controlplane.messages.lens import Lens
from controlplane.messages.query import Query
from controlplane.messages.reading import Asked, places_of
from controlplane.messages.selectors import applying, hash_secret, topic_cluster
from controlplane.tenants.models import Tenant

PAGE, TAIL, EXPORT = "page", "tail", "export"


def read_begin(
    *, tenant: Tenant, actor: Actor, cluster_id: str, topic: str, query: Query, how: str = PAGE
) -> Asked:
    """Allow a reading and record it.

    The record says who read which topic, from where and how; not the texts of filters, which may
    be as secret as what they find.

    Raises:
        NotFound, Forbidden: as `topic_cluster`.
        NotFound, Invalid, GatewayError: as `places_of`; nothing was read then.
    """
    cluster = topic_cluster(tenant, actor.scope, Verb.BROWSE, cluster_id, topic)
    masks = applying(tenant, actor.scope, cluster.name, topic)
    lens = Lens(query=query, masks=masks, secret=hash_secret(tenant) if masks else b"")
    asked = Asked(
        tenant_id=str(tenant.pk),
        cluster=cluster,
        topic=topic,
        lens=lens,
        places=places_of(cluster, topic, query),
        is_tail=how == TAIL,
    )
    record(
        asked,
        tenant=tenant,
        actor=actor,
        action="messages.read",
        data={
            "how": how,
            "from": query.start.value,
            "order": query.order.value,
            "partitions": sorted(query.partitions)[:50],
            "filtered": query.is_filtered,
            "continued": bool(query.spans),
            "masked": bool(masks),
        },
    )
    return asked


def record(
    asked: Asked, *, tenant: Tenant, actor: Actor, action: str, data: dict[str, Any]
) -> None:
    """Who did what with the messages of a topic; `data` says nothing of what they hold."""
    cluster = asked.cluster
    audit_record(
        tenant_id=str(tenant.pk),
        actor=actor,
        action=action,
        resource=f"cluster/{cluster.pk}/topic/{asked.topic}",
        data=data,
        about=About(
            cluster_id=cluster.pk, cluster_name=cluster.name, touches=[["topic", asked.topic]]
        ),
    )
