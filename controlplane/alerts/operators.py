"""Alerts about hosts, for the operators, whose they are: reads, and saying that somebody is at it.

Tenants' alerts are not among them, and these are in no read of `selectors`, which asks by tenant.
"""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from controlplane.alerts import selectors, services
from controlplane.alerts.conditions.hosts import subject_of
from controlplane.alerts.host_rules import HOST_RULES
from controlplane.alerts.models import Alert, host_of
from controlplane.alerts.states import PENDING
from controlplane.audit.services import Actor
from controlplane.common.etags import with_tag
from controlplane.common.problems import NotFound

HOST_RULE_IDS = tuple(rule.id for rule in HOST_RULES)
OBSERVED = ("summary", "values", "members", "member_count", "unknown", "clearing")
"""What of an alert is nobody's decision."""


def host_alerts(host_id: str = "") -> QuerySet[Alert]:
    """Those that were told, of all hosts or of one."""
    rows = Alert.objects.filter(tenant__isnull=True).exclude(state=PENDING)
    return rows.filter(subject=subject_of(host_id)) if host_id else rows


def host_alert_row(alert_id: str, *, locked: bool = False) -> Alert:
    """Raises NotFound, for a tenant's as for one that is not there."""
    rows = host_alerts()
    found = (rows.select_for_update() if locked else rows).filter(pk=alert_id).first()
    if found is None:
        raise NotFound("Alert not found.")
    return found


def host_alert_dict(alert: Alert) -> dict[str, Any]:
    shown = {**selectors.common_dict(alert), "host_id": host_of(alert) or None}
    return with_tag(shown, observed=OBSERVED)


def host_alert_detail(alert: Alert) -> dict[str, Any]:
    return {**host_alert_dict(alert), "history": selectors.history(alert)}


@transaction.atomic
def host_alert_acknowledge(*, alert_id: str, note: str, actor: Actor) -> Alert:
    """Raises NotFound; Conflict: it is not firing."""
    return services.acknowledged(host_alert_row(alert_id, locked=True), note, actor)
