"""Reads, one tenant at a time and cut to what a scope covers; what the evaluator needs of all."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone

from controlplane.alerts.conditions.brokers import started
from controlplane.alerts.fact_types import points_of
from controlplane.alerts.host_rules import EVERY_BY_ID
from controlplane.alerts.models import (
    Alert,
    AlertOverride,
    AlertTransition,
    BrokerTrack,
    Evaluator,
    Silence,
)
from controlplane.alerts.overrides import Match, Resource, Tuning, Tweak
from controlplane.alerts.rules import BY_ID, RULES, Rule, Severity
from controlplane.alerts.silencing import Mute
from controlplane.alerts.states import ACKNOWLEDGED, ALERT_MOVES, FIRING, OPEN_STATES, PENDING
from controlplane.common.etags import with_tag
from controlplane.common.grants import Area, Scope, Verb
from controlplane.common.problems import NotFound, field_problem
from controlplane.common.times import iso
from controlplane.tenants.models import Tenant

HISTORY_SHOWN = 200
LOOKED_AT_MAX = 20_000
"""Open alerts among which those of a reader of a part are looked for."""
LOOKED_AT_ONCE = 500
RESTARTING = "broker-restarting"
OBSERVED = (
    *("summary", "values", "members", "member_count", "consequences"),
    *("unknown", "clearing", "silenced_by"),
)
"""What of an alert is nobody's decision."""


# -- alerts -------------------------------------------------------------------------------------
def alerts(tenant: Tenant) -> QuerySet[Alert]:
    """All but those that have not held for long enough to be told."""
    return Alert.objects.filter(tenant=tenant).exclude(state=PENDING)


def filtered(
    rows: QuerySet[Alert], asked: dict[str, str], known_rules: Iterable[str] = tuple(BY_ID)
) -> QuerySet[Alert]:
    """By `state` (several by comma, or `open`), `rule`, `severity`, `cluster_id`."""
    states = asked.get("state", "")
    if states == "open":
        rows = rows.filter(state__in=(FIRING, ACKNOWLEDGED))
    elif states:
        known = [state for state in ALERT_MOVES.states if state not in {"none", PENDING}]
        rows = rows.filter(state__in=_known("state", states, known))
    if rules := asked.get("rule"):
        rows = rows.filter(rule__in=_known("rule", rules, known_rules))
    if severities := asked.get("severity"):
        rows = rows.filter(severity__in=_known("severity", severities, list(Severity)))
    if cluster_id := asked.get("cluster_id"):
        rows = rows.filter(cluster_id=cluster_id)
    return rows


def _known(name: str, given: str, known: Iterable[str]) -> list[str]:
    wanted = given.split(",")
    for each in wanted:
        if each not in known:
            raise field_problem(f"/{name}", f"{each!r} is no {name}; known: {', '.join(known)}.")
    return wanted


def is_allowed(scope: Scope, alert: Alert, verb: Verb) -> bool:
    """Whether all that the alert names is covered; without names, the whole cluster or tenant."""
    if not alert.cluster_id:
        return scope.allows(verb, Area.TENANT)
    if not alert.touches:
        return scope.allows(verb, Area.CLUSTER, alert.cluster_name)
    return all(
        scope.allows(verb, Area(area), alert.cluster_name, name) for area, name in alert.touches
    )


def shown(scope: Scope) -> Callable[[Alert], dict[str, Any] | None]:
    def show(alert: Alert) -> dict[str, Any] | None:
        return alert_dict(alert) if is_allowed(scope, alert, Verb.READ) else None

    return show


def open_alerts(tenant: Tenant, scope: Scope, cluster_id: str | None, limit: int) -> list[Alert]:
    """Those that fire or somebody is at, the newest `limit` of the tenant or of one cluster.

    However many there are that the scope does not cover: they hide none that it does.
    """
    rows = alerts(tenant).filter(state__in=(FIRING, ACKNOWLEDGED))
    if cluster_id is not None:
        rows = rows.filter(cluster_id=cluster_id)
    newest = rows.order_by("-pk")
    if scope.sees_all:
        return list(newest[:limit])
    found = newest[:LOOKED_AT_MAX].iterator(chunk_size=LOOKED_AT_ONCE)
    return list(islice((row for row in found if is_allowed(scope, row, Verb.READ)), limit))


def last_asked_at() -> datetime | None:
    """When all rules were asked last; null: never."""
    return Evaluator.objects.values_list("finished_at", flat=True).first()


def alert_row(tenant: Tenant, scope: Scope, alert_id: str, *, locked: bool = False) -> Alert:
    """Raises NotFound, also for one that no grant covers."""
    rows = alerts(tenant)
    found = (rows.select_for_update() if locked else rows).filter(pk=alert_id).first()
    if found is None or not is_allowed(scope, found, Verb.READ):
        raise NotFound("Alert not found.")
    return found


def alert_dict(alert: Alert) -> dict[str, Any]:
    found = {
        "cluster_id": alert.cluster_id or None,
        "cluster": alert.cluster_name or None,
        "subject": alert.subject,
        "consequences": alert.consequences,
        "silenced_by": alert.silence_id or None,
        **common_dict(alert),
    }
    return with_tag(found, observed=OBSERVED)


def common_dict(alert: Alert) -> dict[str, Any]:
    """What tenants' and operators' alerts have alike."""
    rule = EVERY_BY_ID.get(alert.rule)
    return {
        "id": alert.id,
        "rule": alert.rule,
        "title": rule.title if rule is not None else alert.rule,
        "runbook": rule.runbook if rule is not None else "",
        "state": alert.state,
        "severity": alert.severity,
        "summary": alert.summary,
        "values": alert.values,
        "members": alert.members,
        "member_count": alert.member_count,
        "unit": alert.unit,
        "unknown": alert.unknown_since is not None,
        "clearing": alert.clear_since is not None,
        "times_fired": alert.times_fired,
        "started_at": iso(alert.started_at),
        "fired_at": iso(alert.fired_at),
        "acknowledged_at": iso(alert.acknowledged_at),
        "acknowledged_by": alert.acknowledged_by or None,
        "note": alert.note,
        "resolved_at": iso(alert.resolved_at),
    }


def alert_detail(alert: Alert) -> dict[str, Any]:
    return {**alert_dict(alert), "history": history(alert)}


def history(alert: Alert) -> list[dict[str, Any]]:
    """The newest last; of a very long one the newest part."""
    rows = list(AlertTransition.objects.filter(alert=alert).order_by("-pk")[:HISTORY_SHOWN])
    return [_transition(row) for row in reversed(rows)]


def _transition(row: AlertTransition) -> dict[str, Any]:
    return {
        "at": iso(row.at),
        "before": row.before,
        "after": row.after,
        "severity": row.severity,
        "by": row.by or None,
        "why": row.why,
        "silenced_by": row.silence_id or None,
        "event_id": row.event_id or None,
    }


def moves(tenant: Tenant, states: Iterable[str]) -> QuerySet[AlertTransition]:
    """Moves into these states, each with its alert; what may be read is asked of that."""
    rows = AlertTransition.objects.filter(alert__tenant=tenant, after__in=list(states))
    return rows.exclude(before=F("after")).select_related("alert")


# -- rules and overrides ------------------------------------------------------------------------
def rule_list(tenant: Tenant) -> list[dict[str, Any]]:
    """Every rule as it is for the whole tenant, and how many overrides are about a part."""
    rows = list(overrides(tenant).order_by("pk"))
    tuning = Tuning(tweak_of(row) for row in rows if row.cluster_id is None and not row.resource)
    return [rule_dict(rule, tuning, rows) for rule in RULES]


def rule_dict(rule: Rule, tuning: Tuning, rows: Iterable[AlertOverride]) -> dict[str, Any]:
    setting = tuning.of(rule.id)
    mine = [row for row in rows if row.rule == rule.id]
    return {
        "id": rule.id,
        "title": rule.title,
        "severity": str(setting.severity or rule.severity),
        "runbook": rule.runbook,
        "reach": str(rule.reach),
        "for_s": rule.for_s,
        "clear_s": rule.clear_s,
        "enabled": setting.enabled,
        "thresholds": [
            {
                "name": each.name,
                "unit": each.unit,
                "what": each.what,
                "default": each.default,
                "value": setting.thresholds[each.name],
                "least": each.least,
                "most": each.most,
            }
            for each in rule.thresholds
        ],
        "overrides": [row.id for row in mine],
    }


def overrides(tenant: Tenant) -> QuerySet[AlertOverride]:
    return AlertOverride.objects.filter(tenant=tenant)


def override_row(tenant: Tenant, override_id: str, *, locked: bool = False) -> AlertOverride:
    rows = overrides(tenant)
    found = (rows.select_for_update() if locked else rows).filter(pk=override_id).first()
    if found is None:
        raise NotFound("Override not found.")
    return found


def override_dict(row: AlertOverride) -> dict[str, Any]:
    return with_tag(
        {
            "id": row.id,
            "rule": row.rule,
            "cluster_id": row.cluster_id,
            "resource": row.resource or None,
            "match": row.match,
            "name": row.name,
            "thresholds": row.thresholds,
            "severity": row.severity or None,
            "enabled": row.enabled,
            "note": row.note,
            "created_by": row.created_by,
            "created_at": iso(row.created_at),
        }
    )


def tweak_of(row: AlertOverride) -> Tweak:
    return Tweak(
        rule=row.rule,
        cluster_id=row.cluster_id,
        resource=Resource(row.resource),
        match=Match(row.match),
        name=row.name,
        thresholds=row.thresholds,
        severity=Severity(row.severity) if row.severity else None,
        enabled=row.enabled,
    )


def tunings_by_tenant() -> dict[str, Tuning]:
    """Of those that have any override."""
    found: defaultdict[str, list[Tweak]] = defaultdict(list)
    for row in AlertOverride.objects.filter(rule__in=BY_ID):
        found[row.tenant_id].append(tweak_of(row))
    return {tenant_id: Tuning(tweaks) for tenant_id, tweaks in found.items()}


def starts_lately(tenant: Tenant, cluster_id: str, now: datetime) -> tuple[float, dict[int, int]]:
    """(seconds in which the rule counts starts of brokers, how many each had in them)."""
    rows = AlertOverride.objects.filter(tenant=tenant, rule=RESTARTING)
    setting = Tuning(map(tweak_of, rows)).of(RESTARTING, cluster_id)
    tracks = BrokerTrack.objects.filter(cluster_id=cluster_id).values_list("broker_id", "starts")
    starts = {
        broker_id: started(points, setting, now)
        for broker_id, rows in tracks
        if (points := points_of(rows))
    }
    return setting.number("within_s"), starts


# -- silences -----------------------------------------------------------------------------------
def silences(tenant: Tenant) -> QuerySet[Silence]:
    return Silence.objects.filter(tenant=tenant)


def silence_row(tenant: Tenant, silence_id: str, *, locked: bool = False) -> Silence:
    rows = silences(tenant)
    found = (rows.select_for_update() if locked else rows).filter(pk=silence_id).first()
    if found is None:
        raise NotFound("Silence not found.")
    return found


def silence_dict(row: Silence) -> dict[str, Any]:
    shown_row = {
        "id": row.id,
        "rule": row.rule or None,
        "cluster_id": row.cluster_id,
        "match": row.match,
        "subject": row.subject,
        "starts_at": iso(row.starts_at),
        "ends_at": iso(row.ends_at),
        "reason": row.reason,
        "planned": row.is_planned,
        "state": silence_state(row, timezone.now()),
        "created_by": row.created_by,
        "created_at": iso(row.created_at),
        "ended_by": row.ended_by or None,
    }
    return with_tag(shown_row, observed=("state",))


def silence_state(row: Silence, now: datetime) -> str:
    if now >= row.ends_at:
        return "over"
    return "active" if now >= row.starts_at else "planned"


def mutes_by_tenant(now: datetime) -> dict[str, list[Mute]]:
    """Silences that are on now."""
    found: defaultdict[str, list[Mute]] = defaultdict(list)
    for row in Silence.objects.filter(starts_at__lte=now, ends_at__gt=now):
        found[row.tenant_id].append(
            Mute(
                id=row.id,
                starts_at=row.starts_at,
                ends_at=row.ends_at,
                rule=row.rule,
                cluster_id=row.cluster_id,
                match=Match(row.match),
                subject=row.subject,
            )
        )
    return dict(found)


def raised_by_rule() -> dict[tuple[str, str], int]:
    """How many alerts are raised, of all tenants and the operators, by rule and severity."""
    found: defaultdict[tuple[str, str], int] = defaultdict(int)
    rows = Alert.objects.filter(state__in=[each for each in OPEN_STATES if each != PENDING])
    for pair in rows.values_list("rule", "severity"):
        found[pair] += 1
    return dict(found)
