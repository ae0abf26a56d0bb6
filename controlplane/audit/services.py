"""Writes: one function. Called in the transaction of the action that it records."""

from dataclasses import dataclass
from typing import Any

from controlplane.audit.models import AuditEvent
from controlplane.common.grants import EVERYTHING, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who asks: `user:<name>`, `key:<name>` or `system`, from where, and what they may.

    Every write takes its actor, so none can go without a scope; only the service itself has all.
    """

    name: str
    remote_address: str = ""
    user_agent: str = ""
    scope: Scope = EVERYTHING


SYSTEM = Actor(name="system")


def audit_record(
    *,
    tenant_id: str,
    actor: Actor,
    action: str,
    resource: str,
    outcome: str = "ok",
    reason: str = "",
    data: dict[str, Any] | None = None,
) -> AuditEvent:
    return AuditEvent.objects.create(
        tenant_id=tenant_id,
        actor=actor.name[:200],
        action=action,
        resource=resource[:400],
        outcome=outcome,
        reason=reason,
        remote_address=actor.remote_address[:64],
        user_agent=actor.user_agent[:300],
        data=data or {},
    )
