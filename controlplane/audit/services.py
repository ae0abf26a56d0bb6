"""Writes: actions in the transaction that they record, refusals on their own, and retention."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import DatabaseError, transaction

from controlplane.audit.models import AuditEvent, AuditRetention
from controlplane.audit.rules import kept, storable
from controlplane.common.grants import EVERYTHING, Scope
from controlplane.common.metrics import AUDIT_REFUSALS_LEFT_OUT
from controlplane.common.ratelimit import REFUSALS, REFUSALS_OF_ALL, seconds_to_wait

log = logging.getLogger(__name__)
REFUSED = "refused"
TOUCHES_MAX = 100
"""Names kept of what a row is about; with more it is shown to readers of the whole cluster."""
WHOLE_CLUSTER = [["cluster", ""]]
DELETE_BATCH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who asks: `user:<name>`, `key:<name>` or `system`, from where, and what they may.

    Every write takes its actor, so none can go without a scope; only the service itself has all.

    Attributes:
        scope: what they might when their request was let in.
        renewed: asks again; raises Problem when what let them in has ended.
    """

    name: str
    remote_address: str = ""
    user_agent: str = ""
    request_id: str = ""
    credential: str = ""
    scope: Scope = EVERYTHING
    renewed: Callable[[], Scope] | None = field(default=None, compare=False, repr=False)

    def scope_now(self) -> Scope:
        """For whatever goes on for longer than a moment. Raises Problem, DatabaseError."""
        return self.scope if self.renewed is None else self.renewed()


SYSTEM = Actor(name="system")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What an action is about, for who may read of it: pairs [area, name] on a cluster."""

    cluster_id: str | None = None
    cluster_name: str = ""
    touches: Sequence[Sequence[str]] = ()


TENANT_WIDE = About()


def audit_record(
    *,
    tenant_id: str,
    actor: Actor,
    action: str,
    resource: str,
    outcome: str = "ok",
    reason: str = "",
    data: dict[str, Any] | None = None,
    about: About = TENANT_WIDE,
) -> AuditEvent:
    """One row, in the transaction of what it records. `data` is cut to what may be kept."""
    touches = [list(pair) for pair in about.touches]
    return AuditEvent.objects.create(
        tenant_id=tenant_id,
        actor=actor.name[:200],
        action=action[:100],
        resource=storable(resource[:400]),
        outcome=outcome,
        reason=reason,
        remote_address=actor.remote_address[:64],
        user_agent=storable(actor.user_agent[:300]),
        request_id=actor.request_id[:64],
        credential=actor.credential[:60],
        cluster_id=about.cluster_id,
        cluster_name=about.cluster_name[:100],
        touches=touches if len(touches) <= TOUCHES_MAX else WHOLE_CLUSTER,
        data=kept(data or {}),
    )


def refusal_record(
    *,
    tenant_id: str,
    actor: Actor,
    who: str,
    action: str,
    resource: str,
    data: dict[str, Any],
    reason: str = "",
) -> None:
    """A write or a sign-in that was refused; never in the way of the refusal itself.

    `who` is counted: `settings.RATE_LIMITS` bounds the rows of one caller and of all together, so
    that nobody fills the table. What is left out is in the metric.
    """
    if seconds_to_wait(REFUSALS, who) or seconds_to_wait(REFUSALS_OF_ALL, "all"):
        AUDIT_REFUSALS_LEFT_OUT.labels("rate").inc()
        return
    try:
        with transaction.atomic():
            audit_record(
                tenant_id=tenant_id,
                actor=actor,
                action=action,
                resource=resource,
                outcome=REFUSED,
                reason=reason,
                data=data,
            )
    except DatabaseError:
        AUDIT_REFUSALS_LEFT_OUT.labels("database").inc()
        log.exception("a refusal could not be recorded")


def events_forget(*, until: datetime, actor: Actor) -> int:
    """Delete the rows of before `until`, and record that; how many went.

    The triggers let them go while the row of `AuditRetention` is there, which no other transaction
    ever sees.
    """
    with transaction.atomic():
        opened = AuditRetention.objects.create(until=until)
        gone = 0
        rows = AuditEvent.objects.filter(created_at__lt=until)
        while batch := list(rows.values_list("pk", flat=True)[:DELETE_BATCH]):
            gone += AuditEvent.objects.filter(pk__in=batch).delete()[0]
        opened.delete()
        audit_record(
            tenant_id="",
            actor=actor,
            action="audit.forget",
            resource="audit",
            data={"until": until.isoformat(), "rows": gone},
        )
    return gone
