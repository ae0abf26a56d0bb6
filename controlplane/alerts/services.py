"""What people do: acknowledge, override, silence. Each leaves an audit row in its transaction."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.alerts import outbox, selectors
from controlplane.alerts.models import Alert, AlertOverride, AlertTransition, Silence
from controlplane.alerts.overrides import Match, Resource, fault
from controlplane.alerts.rules import BY_ID
from controlplane.alerts.silencing import AHEAD_MAX, SILENCE_MAX
from controlplane.alerts.states import ACKNOWLEDGED, FIRING, RESOLVED
from controlplane.audit.services import About, Actor, audit_record
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Scope, Verb
from controlplane.common.problems import Conflict, Forbidden, field_problem
from controlplane.common.times import iso
from controlplane.tenants.models import Tenant

OVERRIDES_MAX = 200
SILENCES_MAX = 200
"""Of one tenant; of silences those that are not over."""
RESOLVED_KEPT = timedelta(days=90)
SILENCES_KEPT = timedelta(days=90)
FORGOTTEN_AT_ONCE = 500
FORGOTTEN_MAX = 20_000
"""Rows that one housekeeping deletes, and those of one statement."""


# -- alerts -------------------------------------------------------------------------------------
@transaction.atomic
def acknowledge(*, tenant: Tenant, alert_id: str, note: str, actor: Actor) -> Alert:
    """Say that somebody is at it.

    Raises:
        NotFound, Forbidden: it is not covered by what the caller may.
        Conflict: it is not firing.
    """
    scope = actor.scope
    alert = selectors.alert_row(tenant, scope, alert_id, locked=True)
    if not selectors.is_allowed(scope, alert, Verb.WRITE):
        raise Forbidden("This needs the role operator on all that the alert is about.")
    return acknowledged(alert, note, actor)


def acknowledged(alert: Alert, note: str, actor: Actor) -> Alert:
    """An alert whose row is held, once it is known that the caller may. Raises Conflict."""
    if alert.state != FIRING:
        raise Conflict(f"The alert is {alert.state}, not firing.", code="alert-not-firing")
    now = timezone.now()
    before = alert.state
    alert.move_to(ACKNOWLEDGED)
    alert.acknowledged_at, alert.acknowledged_by, alert.note = now, actor.name, note
    transition = AlertTransition(
        alert=alert,
        at=now,
        before=before,
        after=alert.state,
        severity=alert.severity,
        by=actor.name,
        why=note or "somebody is at it",
        silence_id=alert.silence_id,
    )
    news = outbox.news_of(alert, transition, now)
    transition.save()
    alert.save()
    outbox.publish([news] if news is not None else [])
    audit_record(
        tenant_id=alert.tenant_id or "",
        actor=actor,
        action="alert.acknowledge",
        resource=f"alert/{alert.id}",
        data={"rule": alert.rule, "subject": alert.subject, "note": note},
        about=_about(alert),
    )
    return alert


def _about(alert: Alert) -> About:
    if not alert.cluster_id:
        return About()
    return About(
        cluster_id=alert.cluster_id,
        cluster_name=alert.cluster_name,
        touches=alert.touches or [["cluster", ""]],
    )


# -- overrides ----------------------------------------------------------------------------------
@transaction.atomic
def override_create(
    *, tenant: Tenant, scope: Scope, given: Mapping[str, Any], actor: Actor
) -> AlertOverride:
    """Raises NotFound of a cluster, field problems, Conflict where there are too many."""
    Tenant.objects.select_for_update().get(pk=tenant.pk)
    if given["cluster_id"] is not None:
        seen_cluster(tenant, scope, given["cluster_id"])
    _check_override(given["rule"], given)
    if bool(given["resource"]) != bool(given["name"]):
        raise field_problem("/name", "A resource and its name are given together, or neither.")
    if selectors.overrides(tenant).count() >= OVERRIDES_MAX:
        raise Conflict(f"There are {OVERRIDES_MAX} overrides.", code="too-many-overrides")
    row = AlertOverride.objects.create(
        tenant=tenant,
        rule=given["rule"],
        cluster_id=given["cluster_id"],
        resource=given["resource"] or str(Resource.ALL),
        match=given["match"] or str(Match.LITERAL),
        name=given["name"],
        **_override_values(given),
        created_by=actor.name,
    )
    _record(tenant, actor, "alert-override.create", row, after=selectors.override_dict(row))
    return row


@transaction.atomic
def override_change(
    *, tenant: Tenant, override_id: str, given: Mapping[str, Any], actor: Actor
) -> AlertOverride:
    row = selectors.override_row(tenant, override_id, locked=True)
    _check_override(row.rule, given)
    before = selectors.override_dict(row)
    for name, value in _override_values(given).items():
        setattr(row, name, value)
    row.save()
    after = selectors.override_dict(row)
    if after != before:
        _record(tenant, actor, "alert-override.change", row, before=before, after=after)
    return row


@transaction.atomic
def override_delete(*, tenant: Tenant, override_id: str, actor: Actor) -> None:
    row = selectors.override_row(tenant, override_id, locked=True)
    before = selectors.override_dict(row)
    _record(tenant, actor, "alert-override.delete", row, before=before)
    row.delete()


def _override_values(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "thresholds": dict(given["thresholds"]),
        "severity": given["severity"] or "",
        "enabled": given["enabled"],
        "note": given["note"],
    }


def _check_override(rule_id: str, given: Mapping[str, Any]) -> None:
    name, why = fault(BY_ID[rule_id], given["thresholds"])
    if why:
        raise field_problem(f"/thresholds/{name}", why)
    if not given["thresholds"] and given["severity"] is None and given["enabled"] is None:
        raise field_problem("/thresholds", "An override sets a threshold, the severity or enabled.")


# -- silences -----------------------------------------------------------------------------------
@transaction.atomic
def silence_create(
    *, tenant: Tenant, scope: Scope, given: Mapping[str, Any], actor: Actor
) -> Silence:
    """Raises NotFound of a cluster, field problems, Conflict where there are too many."""
    Tenant.objects.select_for_update().get(pk=tenant.pk)
    now = timezone.now()
    if given["cluster_id"] is not None:
        seen_cluster(tenant, scope, given["cluster_id"])
    starts_at = given["starts_at"] or now
    is_planned = starts_at > now
    starts_at = max(starts_at, now)
    if starts_at - now > AHEAD_MAX:
        raise field_problem("/starts_at", f"It begins within {AHEAD_MAX.days} days.")
    _check_end(starts_at, given["ends_at"], now)
    if selectors.silences(tenant).filter(ends_at__gt=now).count() >= SILENCES_MAX:
        raise Conflict(f"There are {SILENCES_MAX} silences.", code="too-many-silences")
    row = Silence.objects.create(
        tenant=tenant,
        rule=given["rule"] or "",
        cluster_id=given["cluster_id"],
        match=given["match"] or str(Match.LITERAL),
        subject=given["subject"],
        starts_at=starts_at,
        ends_at=given["ends_at"],
        reason=given["reason"],
        is_planned=is_planned,
        created_by=actor.name,
    )
    _record(tenant, actor, "silence.create", row, after=_silence(row))
    return row


@transaction.atomic
def silence_change(
    *, tenant: Tenant, silence_id: str, ends_at: datetime, reason: str, actor: Actor
) -> Silence:
    """Another end or reason.

    Raises:
        Conflict: it is over.
    """
    row = selectors.silence_row(tenant, silence_id, locked=True)
    now = timezone.now()
    if row.ends_at <= now:
        raise Conflict("The silence is over.", code="silence-over")
    _check_end(row.starts_at, ends_at, now)
    before = _silence(row)
    row.ends_at, row.reason = ends_at, reason
    row.save(update_fields=["ends_at", "reason"])
    _record(tenant, actor, "silence.change", row, before=before, after=_silence(row))
    return row


@transaction.atomic
def silence_end(*, tenant: Tenant, silence_id: str, actor: Actor) -> None:
    """End it now; one that is over stays as it is."""
    row = selectors.silence_row(tenant, silence_id, locked=True)
    now = timezone.now()
    if row.ends_at <= now:
        return
    before = _silence(row)
    row.starts_at, row.ends_at, row.ended_by = min(row.starts_at, now), now, actor.name
    row.save(update_fields=["starts_at", "ends_at", "ended_by"])
    _record(tenant, actor, "silence.end", row, before=before, after=_silence(row))


def _check_end(starts_at: datetime, ends_at: datetime, now: datetime) -> None:
    if ends_at <= max(starts_at, now):
        raise field_problem("/ends_at", "It ends after it begins, and later than now.")
    if ends_at - starts_at > SILENCE_MAX:
        raise field_problem("/ends_at", f"It lasts {SILENCE_MAX.days} days at most.")


def _silence(row: Silence) -> dict[str, Any]:
    return {
        "rule": row.rule,
        "cluster_id": row.cluster_id,
        "subject": row.subject,
        "starts_at": iso(row.starts_at),
        "ends_at": iso(row.ends_at),
        "reason": row.reason,
    }


def _record(
    tenant: Tenant, actor: Actor, action: str, row: AlertOverride | Silence, **data: Any
) -> None:
    what = "alert-override" if isinstance(row, AlertOverride) else "silence"
    audit_record(
        tenant_id=tenant.id,
        actor=actor,
        action=action,
        resource=f"{what}/{row.pk}",
        data={"rule": row.rule, **data},
    )


# -- housekeeping -------------------------------------------------------------------------------
def forget_old(now: datetime) -> int:
    """Resolved alerts and silences past their keep, a bounded number; how many alerts went."""
    gone = 0
    old = Alert.objects.filter(state=RESOLVED, resolved_at__lt=now - RESOLVED_KEPT)
    while gone < FORGOTTEN_MAX:
        batch = list(old.order_by("resolved_at").values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE])
        if not batch:
            break
        with transaction.atomic():
            Alert.objects.filter(pk__in=batch).delete()
        gone += len(batch)
    Silence.objects.filter(ends_at__lt=now - SILENCES_KEPT).delete()
    return gone
