"""Writes: masks, records, and the record of who read what, which never says what it said."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import DatabaseError, transaction

from controlplane.audit.services import About, Actor, audit_record
from controlplane.clusters.connections import gateway_for, write_record
from controlplane.clusters.models import Cluster
from controlplane.common.crypto import seal
from controlplane.common.grants import Pattern, Verb
from controlplane.common.problems import (
    Conflict,
    NotFound,
    Problem,
    Unavailable,
    field_problem,
)
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.record_port import NewRecord, Written
from controlplane.gateway.schema_registry import first_answer
from controlplane.messages.bounds import PRODUCE_TIMEOUT_S
from controlplane.messages.lens import Lens
from controlplane.messages.models import MaskRule, SchemaRegistry
from controlplane.messages.query import Query
from controlplane.messages.reading import Asked, places_of, silence_now_s
from controlplane.messages.schemas import from_schema_of, registry_spec
from controlplane.messages.selectors import applying, hash_secret, mask_row, topic_cluster
from controlplane.tenants.models import Tenant
from controlplane.topics.rules import refuse_internal

MASKS_MAX = 100
"""Of one tenant: each is asked of every message."""

PAGE, TAIL, EXPORT, SAMPLE = "page", "tail", "export", "sample"


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
    lens = Lens(
        query=query,
        masks=masks,
        secret=hash_secret(tenant) if masks else b"",
        from_schema=from_schema_of(cluster),
    )
    places = places_of(cluster, topic, query)
    asked = Asked(
        tenant_id=str(tenant.pk),
        cluster=cluster,
        topic=topic,
        lens=lens,
        places=places,
        silence_s=silence_now_s(),
        is_tail=how == TAIL,
        renewed=lambda: _renewed(lens, tenant, actor, cluster.pk, topic),
    )
    record(
        cluster,
        topic,
        actor=actor,
        action="messages.read",
        data={
            "how": how,
            "start": query.start.value,
            "order": query.order.value,
            "partitions": sorted(query.partitions)[:50],
            "filtered": query.is_filtered,
            "isolation": query.isolation.value,
            "continued": bool(query.spans),
            "masked": bool(masks),
        },
    )
    return asked


def _renewed(lens: Lens, tenant: Tenant, actor: Actor, cluster_id: str, topic: str) -> Lens:
    """The lens by the masks of now, while the actor may read the topic's messages.

    Raises:
        AccessEnded: their key or session is no more.
        NotFound, Forbidden: as `topic_cluster`.
        Unavailable: nobody can say; so nothing more is read.
    """
    try:
        scope = actor.scope_now()
        cluster = topic_cluster(tenant, scope, Verb.BROWSE, cluster_id, topic)
        masks = applying(tenant, scope, cluster.name, topic)
    except DatabaseError as error:
        raise Unavailable("Whether these messages may be read cannot be looked up.") from error
    return replace(lens, masks=masks, secret=hash_secret(tenant) if masks else b"")


def record(
    cluster: Cluster,
    topic: str,
    *,
    actor: Actor,
    action: str,
    data: dict[str, Any],
    outcome: str = "ok",
) -> None:
    """Who did what with the messages of a topic; `data` says nothing of what they hold."""
    audit_record(
        tenant_id=str(cluster.tenant_id),
        actor=actor,
        action=action,
        outcome=outcome,
        resource=f"cluster/{cluster.pk}/topic/{topic}",
        data=data,
        about=About(cluster_id=cluster.pk, cluster_name=cluster.name, touches=[["topic", topic]]),
    )


# -- writing ------------------------------------------------------------------------------------
class OutcomeUnknown(Problem):
    status, code = 504, "outcome-unknown"
    title = "Whether the record was written is not known"


def message_produce(
    *, tenant: Tenant, actor: Actor, cluster_id: str, topic: str, new: NewRecord
) -> Written:
    """One record, acknowledged by all in-sync replicas, and who wrote it.

    Raises:
        NotFound, Forbidden: as `topic_cluster`; NotFound: the brokers have no such topic.
        Conflict: the topic is the cluster's own.
        Invalid: it has no such partition.
        GatewayError: refused, away or busy: nothing was written.
        OutcomeUnknown: no acknowledgement came in time.
    """
    cluster = topic_cluster(tenant, actor.scope, Verb.PRODUCE, cluster_id, topic)
    described = gateway_for(cluster).describe_topics([topic]).get(topic)
    if described is None:
        raise NotFound(f"There is no topic {topic}.")
    refuse_internal(topic, "nothing is written to it by hand", flagged=described.internal)
    there = {part.partition for part in described.partitions}
    if new.partition is not None and new.partition not in there:
        raise field_problem("/partition", f"{topic} has no partition {new.partition}.")
    sizes = {
        "key_bytes": len(new.key or b""),
        "value_bytes": len(new.value or b""),
        "headers": len(new.headers),
    }
    try:
        written = write_record(cluster, topic, new, timeout_s=PRODUCE_TIMEOUT_S)
    except GatewayError as error:
        if not error.unknown_outcome:
            raise
        record(
            cluster, topic, actor=actor, action="messages.produce", data=sizes, outcome="unknown"
        )
        raise OutcomeUnknown(
            "No acknowledgement came in time. It may have been written, or may be yet: look at the"
            " end of the topic before it is sent again."
        ) from error
    where = {"partition": written.partition, "offset": written.offset}
    record(cluster, topic, actor=actor, action="messages.produce", data={**sizes, **where})
    return written


# -- masks --------------------------------------------------------------------------------------
def mask_create(*, tenant: Tenant, actor: Actor, values: Mapping[str, Any]) -> MaskRule:
    """Raises Conflict: the tenant has as many as may be."""
    with transaction.atomic():
        locked = Tenant.objects.select_for_update().get(pk=tenant.pk)
        if MaskRule.objects.filter(tenant=locked).count() >= MASKS_MAX:
            raise Conflict(f"A tenant has at most {MASKS_MAX} masks.", code="too-many-masks")
        row = MaskRule.objects.create(tenant=locked, **_columns(values))
        _mask_record(tenant, actor, "create", row)
    return row


def mask_update(
    *, tenant: Tenant, actor: Actor, mask_id: str, values: Mapping[str, Any]
) -> MaskRule:
    """All of it. Raises NotFound."""
    with transaction.atomic():
        row = mask_row(tenant, mask_id, locked=True)
        for name, value in _columns(values).items():
            setattr(row, name, value)
        row.save()
        _mask_record(tenant, actor, "update", row)
    return row


def mask_delete(*, tenant: Tenant, actor: Actor, mask_id: str) -> None:
    """Raises NotFound."""
    with transaction.atomic():
        row = mask_row(tenant, mask_id, locked=True)
        _mask_record(tenant, actor, "delete", row)
        row.delete()


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    pattern: Pattern = values["topics"]
    return {
        "topic_match": pattern.match.value,
        "topic_name": pattern.name,
        **{name: values[name] for name in ("part", "path", "act", "see_through", "note")},
    }


def _mask_record(tenant: Tenant, actor: Actor, verb: str, row: MaskRule) -> None:
    audit_record(
        tenant_id=str(tenant.pk),
        actor=actor,
        action=f"message_mask.{verb}",
        resource=f"message-mask/{row.pk}",
        data={
            "match": row.topic_match,
            "topic": row.topic_name,
            **{name: getattr(row, name) for name in ("part", "path", "act", "see_through")},
        },
    )


# -- schema registries --------------------------------------------------------------------------
def registry_set(*, cluster: Cluster, actor: Actor, values: Mapping[str, Any]) -> None:
    """All of it; a password that is left out stays, at the same address and at no other.

    Raises:
        Invalid: a password over plain http.
    """
    with transaction.atomic():
        before = SchemaRegistry.objects.select_for_update().filter(pk=cluster.pk).first()
        token = _registry_token(before, values)
        SchemaRegistry.objects.update_or_create(
            cluster=cluster,
            defaults={
                "url": values["url"],
                "username": values["username"],
                "ca_pem": values["ca_pem"],
                "secrets_token": token,
            },
        )
        _registry_record(cluster, actor, "set", values["url"])


def registry_check(*, cluster: Cluster, actor: Actor, values: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a registry answers there and lets us in; nothing is set by it.

    The password that is kept goes along where none is given, to the address that it is for alone.

    Raises:
        Invalid: a password over plain http.
    """
    row = SchemaRegistry(
        cluster=cluster,
        url=values["url"],
        username=values["username"],
        ca_pem=values["ca_pem"],
        secrets_token=_registry_token(SchemaRegistry.objects.filter(pk=cluster.pk).first(), values),
    )
    try:
        first_answer(registry_spec(row))
    except GatewayError as error:
        found = {"answers": False, "detail": error.said}
    else:
        found = {"answers": True, "detail": ""}
    _registry_record(cluster, actor, "check", row.url)
    return found


def _registry_token(before: SchemaRegistry | None, values: Mapping[str, Any]) -> str:
    """The sealed password: a new one, or that of before at the same address."""
    token = before.secrets_token if before and before.url == values["url"] else ""
    if values.get("password") is not None:
        token = seal({"password": values["password"]}) if values["password"] else ""
    if token and not values["url"].startswith("https://"):
        raise field_problem("/url", "A password goes over https alone.")
    return token


def registry_remove(*, cluster: Cluster, actor: Actor) -> None:
    """Done as well where there is none."""
    with transaction.atomic():
        row = SchemaRegistry.objects.select_for_update().filter(pk=cluster.pk).first()
        if row is not None:
            _registry_record(cluster, actor, "remove", row.url)
            row.delete()


def _registry_record(cluster: Cluster, actor: Actor, verb: str, url: str) -> None:
    audit_record(
        tenant_id=str(cluster.tenant_id),
        actor=actor,
        action=f"schema_registry.{verb}",
        resource=f"cluster/{cluster.pk}/schema-registry",
        data={"url": url},
        about=About(cluster_id=cluster.pk, cluster_name=cluster.name, touches=[["cluster", ""]]),
    )
