"""Whose messages somebody may see or write, and through which masks."""

from typing import Any

from django.db.models import QuerySet
from django.utils.crypto import salted_hmac

from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.etags import with_tag
from controlplane.common.grants import Area, Match, Pattern, Scope, Verb
from controlplane.common.problems import Forbidden, NotFound
from controlplane.common.times import iso
from controlplane.messages.masking import Act, Mask, Part, header_path, masks_for, path_of
from controlplane.messages.models import MaskRule, SchemaRegistry
from controlplane.tenants.models import Tenant
from controlplane.tenants.permissions import NEEDED


def topic_cluster(tenant: Tenant, scope: Scope, verb: Verb, cluster_id: str, topic: str) -> Cluster:
    """The cluster whose topic's messages are read (`BROWSE`) or written (`PRODUCE`).

    Raises:
        NotFound: no grant shows the cluster or a topic of this name.
        Forbidden: the topic may be seen, its messages not.
    """
    cluster = seen_cluster(tenant, scope, cluster_id)
    if not scope.sees(Area.TOPIC, cluster.name, topic):
        raise NotFound(f"There is no topic {topic}.")
    if not scope.allows(verb, Area.TOPIC, cluster.name, topic):
        raise Forbidden(f"On this topic this needs {NEEDED[verb]}.")
    return cluster


def rights(tenant: Tenant, scope: Scope, cluster: Cluster, topic: str) -> dict[str, bool]:
    """What somebody may do with the messages of a topic that they see."""
    return {
        "browse": scope.allows(Verb.BROWSE, Area.TOPIC, cluster.name, topic),
        "produce": scope.allows(Verb.PRODUCE, Area.TOPIC, cluster.name, topic),
        "masked": bool(applying(tenant, scope, cluster.name, topic)),
    }


def applying(tenant: Tenant, scope: Scope, cluster: str, topic: str) -> tuple[Mask, ...]:
    """The masks between this reader and the topic's messages."""
    rows = MaskRule.objects.filter(tenant=tenant).order_by("pk")
    return masks_for([mask_of(row) for row in rows], scope, cluster, topic)


def mask_of(row: MaskRule) -> Mask:
    part = Part(row.part)
    return Mask(
        topics=Pattern(Match(row.topic_match), row.topic_name),
        part=part,
        path=header_path(row.path) if part is Part.HEADER else path_of(row.path),
        act=Act(row.act),
        see_through=frozenset(row.see_through),
    )


def hash_secret(tenant: Tenant) -> bytes:
    """Equal values of one tenant have equal hashes, those of two tenants have not."""
    return bytes(salted_hmac("penstock.message-masks", str(tenant.pk), algorithm="sha256").digest())


def mask_rows(tenant: Tenant) -> QuerySet[MaskRule]:
    return MaskRule.objects.filter(tenant=tenant)


def mask_row(tenant: Tenant, mask_id: str, *, locked: bool = False) -> MaskRule:
    """Raises NotFound."""
    rows = mask_rows(tenant)
    found = (rows.select_for_update() if locked else rows).filter(pk=mask_id).first()
    if found is None:
        raise NotFound("The mask was not found.")
    return found


def mask_dict(row: MaskRule) -> dict[str, Any]:
    return with_tag(
        {
            "id": row.pk,
            "topics": {"match": row.topic_match, "name": row.topic_name},
            "part": row.part,
            "path": row.path,
            "act": row.act,
            "see_through": row.see_through,
            "note": row.note,
            "created_at": iso(row.created_at),
        }
    )


def registry_cluster(tenant: Tenant, scope: Scope, cluster_id: str) -> Cluster:
    """Raises NotFound, also without a role on the whole cluster."""
    cluster = seen_cluster(tenant, scope, cluster_id)
    if not scope.sees(Area.CLUSTER, cluster.name):
        raise NotFound("The cluster was not found.")
    return cluster


def registry_dict(cluster: Cluster, *, locked: bool = False) -> dict[str, Any]:
    """Where the cluster's schemas are; an empty URL: there is none. No password is in it."""
    rows = SchemaRegistry.objects.all()
    row = (rows.select_for_update() if locked else rows).filter(pk=cluster.pk).first()
    return with_tag(
        {
            "url": row.url if row else "",
            "username": row.username if row else "",
            "ca_pem": row.ca_pem if row else "",
            "has_password": bool(row and row.secrets_token),
            "changed_at": iso(row.changed_at) if row else None,
        }
    )
