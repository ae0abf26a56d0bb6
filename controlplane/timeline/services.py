"""Writes: what was observed to change, deployments that somebody marks, and forgetting."""

import unicodedata
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from controlplane.audit.selectors import done_since
from controlplane.audit.services import About, Actor, audit_record
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import names_by_id, seen_cluster
from controlplane.common.grants import Area, Scope, Verb
from controlplane.common.problems import Forbidden, NotFound, TooManyRequests, field_problem
from controlplane.common.times import iso
from controlplane.observed.changes import Changes
from controlplane.tenants.models import Tenant
from controlplane.timeline import rules, selectors
from controlplane.timeline.models import TimelineEvent, new_event_id

EVENTS_KEPT_MAX = 20_000
"""Of one cluster, observed and marked each: what flaps for weeks does not fill the database."""
DEPLOYMENTS_AN_HOUR = 200
"""Of one tenant; what was taken back counts, too."""
DEPLOYMENTS_AN_HOUR_OF_ONE = 100
"""Of these, by one person or key: nobody's marks keep the others' out."""
MARKED = "deployment.mark"
FORGOTTEN_AT_ONCE = 1_000
FORGOTTEN_MAX = 50_000
"""Rows that one housekeeping deletes, and those of one statement."""


def record(cluster_id: str, changes: Changes, *, not_before: datetime | None, at: datetime) -> None:
    """What one reading of a cluster has found, in its transaction."""
    tenant_id = Cluster.objects.values_list("tenant_id", flat=True).get(pk=cluster_id)
    found = rules.noted(changes)
    # Lists are newest first, and of one moment by id: the first of these has the greatest.
    ids = sorted((new_event_id() for _ in found), reverse=True)
    TimelineEvent.objects.bulk_create(
        TimelineEvent(
            id=id_,
            tenant_id=tenant_id,
            cluster_id=cluster_id,
            kind=each.kind,
            area=str(each.area),
            name=each.name,
            subject=each.subject,
            before=dict(each.before),
            after=dict(each.after),
            count=each.count,
            more=each.more,
            not_before=not_before,
            at=at,
        )
        for id_, each in zip(ids, found, strict=True)
    )


# -- deployments ------------------------------------------------------------------------------
@transaction.atomic
def deployment_mark(
    *,
    tenant: Tenant,
    scope: Scope,
    actor: Actor,
    text: str,
    cluster_id: str | None,
    topic: str | None,
    group: str | None,
    at: datetime | None,
) -> TimelineEvent:
    """Say on the timeline that something was deployed. The topic or group need not be there yet.

    Raises:
        NotFound: of a cluster, or of a topic or group that no grant shows.
        Forbidden: it may be seen, but not written.
        Invalid: names a field.
        TooManyRequests: the tenant has marked `DEPLOYMENTS_AN_HOUR`, or this one their share.
    """
    now = timezone.now()
    line = _one_line(text)
    if not line:
        raise field_problem("/text", "The text has no sign that anybody could read.")
    _check_about(cluster_id, topic, group)
    moment = _moment(at, now)
    cluster = seen_cluster(tenant, scope, cluster_id) if cluster_id else None
    area, name = _what(cluster, topic, group)
    _check_right(scope, area, cluster.name if cluster else "", name)
    Tenant.objects.select_for_update().get(pk=tenant.pk)
    _check_rate(tenant, actor, now)
    row = TimelineEvent.objects.create(
        tenant=tenant,
        cluster_id=cluster_id or "",
        kind=rules.DEPLOYMENT,
        area=str(area),
        name=name,
        subject=f"{area}/{name}" if name else "",
        text=line,
        by=actor.name,
        at=moment,
    )
    _audit(tenant, actor, MARKED, row, cluster.name if cluster else "")
    return row


def _check_about(cluster_id: str | None, topic: str | None, group: str | None) -> None:
    if topic and group:
        raise field_problem("/group", "A deployment is about a topic or a group, not both.")
    for field, value in (("topic", topic), ("group", group)):
        if value and not cluster_id:
            raise field_problem("/cluster_id", f"A {field} is named together with its cluster.")


def _moment(at: datetime | None, now: datetime) -> datetime:
    if at is None:
        return now
    if at > now + rules.CLOCKS_APART:
        raise field_problem(
            "/at", "A deployment is marked when it has happened: not later than now."
        )
    if at < now - rules.BACKDATED_MAX:
        hours = round(rules.BACKDATED_MAX / timedelta(hours=1))
        raise field_problem("/at", f"A deployment is marked within {hours} hours.")
    return min(at, now)


def _what(cluster: Cluster | None, topic: str | None, group: str | None) -> tuple[Area, str]:
    if cluster is None:
        return Area.TENANT, ""
    if topic:
        return Area.TOPIC, topic
    return (Area.GROUP, group) if group else (Area.CLUSTER, "")


_NEEDED = {
    Area.TENANT: "everything of the tenant; name a cluster, topic or group instead",
    Area.CLUSTER: "the whole cluster; name a topic or group instead",
    Area.TOPIC: "the topic",
    Area.GROUP: "the group",
}


def _check_right(scope: Scope, area: Area, cluster: str, name: str) -> None:
    if scope.allows(Verb.WRITE, area, cluster, name):
        return
    if name and not scope.sees(area, cluster, name):
        raise NotFound(f"The {area} was not found.")
    raise Forbidden(f"This needs the role operator on {_NEEDED[area]}.")


def _check_rate(tenant: Tenant, actor: Actor, now: datetime) -> None:
    """By the record of actions: who takes marks back makes no room by it."""
    since = now - timedelta(hours=1)
    marks = done_since(tenant.id, MARKED, since)
    for who, times, most in (
        ("", marks, DEPLOYMENTS_AN_HOUR),
        (" by you", marks.filter(actor=actor.name), DEPLOYMENTS_AN_HOUR_OF_ONE),
    ):
        # The oldest of them has to be an hour old before there is room again.
        found = list(times.order_by("created_at").values_list("created_at", flat=True)[:most])
        if len(found) >= most:
            wait_s = max(1, round((found[0] - since).total_seconds()))
            raise TooManyRequests(
                f"{most} deployments were marked{who} within an hour.",
                code="too-many-deployments",
                retry_after_s=wait_s,
            )


def _one_line(text: str) -> str:
    """Line breaks and signs that nobody sees would make one mark look like several."""
    plain = "".join(" " if unicodedata.category(sign)[0] == "C" else sign for sign in text)
    return " ".join(plain.split())


@transaction.atomic
def deployment_remove(*, tenant: Tenant, scope: Scope, event_id: str, actor: Actor) -> None:
    """Take back a mark, which the record of actions keeps.

    Raises:
        NotFound: it is not there, or is not covered.
        Forbidden: it may be seen, but not written.
    """
    row = selectors.deployment_row(tenant, scope, event_id, locked=True)
    cluster = names_by_id(tenant.id).get(row.cluster_id, "")
    _check_right(scope, Area(row.area), cluster, row.name)
    _audit(tenant, actor, "deployment.remove", row, cluster)
    row.delete()


def _audit(
    tenant: Tenant, actor: Actor, action: str, row: TimelineEvent, cluster_name: str
) -> None:
    about = About(
        cluster_id=row.cluster_id or None,
        cluster_name=cluster_name,
        touches=[(row.area, row.name)] if row.cluster_id else (),
    )
    data: dict[str, Any] = {"text": row.text, "name": row.subject, "at": iso(row.at)}
    audit_record(
        tenant_id=tenant.id,
        actor=actor,
        action=action,
        resource=f"deployment/{row.id}",
        data=data,
        about=about,
    )


# -- forgetting -------------------------------------------------------------------------------
def forget_old(now: datetime) -> int:
    """Delete events past their days, and the oldest of what is too many; how many went."""
    gone = _forget(TimelineEvent.objects.filter(at__lt=selectors.kept_from(now)), FORGOTTEN_MAX)
    for (tenant_id, cluster_id, is_marked), count in _crowded():
        rows = TimelineEvent.objects.filter(tenant_id=tenant_id, cluster_id=cluster_id)
        rows = (rows.filter if is_marked else rows.exclude)(kind=rules.DEPLOYMENT)
        room = FORGOTTEN_MAX - gone
        gone += _forget(rows, min(count - EVENTS_KEPT_MAX, room))
    return gone


def _crowded() -> list[tuple[tuple[str, str, bool], int]]:
    """(tenant, cluster, whether of deployments) with too many events, and how many it has."""
    found = []
    for is_marked in (False, True):
        rows = TimelineEvent.objects.all()
        rows = (rows.filter if is_marked else rows.exclude)(kind=rules.DEPLOYMENT)
        counts = rows.order_by().values("tenant_id", "cluster_id").annotate(count=Count("pk"))
        found += [
            ((row["tenant_id"], row["cluster_id"], is_marked), row["count"])
            for row in counts.filter(count__gt=EVENTS_KEPT_MAX)
        ]
    return found


def _forget(rows: Any, most: int) -> int:
    """Delete the oldest of `rows`, a bounded number, in statements of a bounded size."""
    gone = 0
    while gone < most:
        size = min(FORGOTTEN_AT_ONCE, most - gone)
        batch = list(rows.order_by("at", "pk").values_list("pk", flat=True)[:size])
        if not batch:
            break
        gone += TimelineEvent.objects.filter(pk__in=batch).delete()[0]
    return gone
