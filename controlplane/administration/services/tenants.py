"""Tenants: made, renamed, suspended, closed, opened again. Only operators of the platform do it."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from controlplane.administration.selectors import remains
from controlplane.audit.services import Actor, audit_record
from controlplane.common.problems import Conflict, field_problem
from controlplane.tenants.models import (
    ACTIVE,
    CLOSED,
    TENANT_MOVES,
    ApiKey,
    Invitation,
    Tenant,
)


@transaction.atomic
def tenant_create(*, slug: str, name: str, actor: Actor) -> Tenant:
    """Raises Conflict: a tenant has that slug, closed ones too."""
    if Tenant.objects.filter(slug=slug).exists():
        raise Conflict(f"There is a tenant {slug} already.", code="name-taken")
    tenant = Tenant.objects.create(slug=slug, name=name)
    _record(tenant, actor, "tenant.create", {"slug": slug, "name": name})
    return tenant


@transaction.atomic
def tenant_update(*, tenant: Tenant, name: str, state: str, actor: Actor) -> Tenant:
    """Rename the tenant and take it to `state`.

    Raises:
        Invalid: that state does not follow the present one.
        Conflict: something is left that would go on without its tenant; `remains` names it.
    """
    tenant = Tenant.objects.select_for_update().get(pk=tenant.pk)
    if name != tenant.name:
        _record(tenant, actor, "tenant.rename", {"before": tenant.name, "after": name})
        tenant.name = name
    if state != tenant.state:
        _check_move(tenant, state)
        revoked = _end_access(tenant) if state == CLOSED else {}
        action = {ACTIVE: "tenant.resume", CLOSED: "tenant.close"}.get(state, "tenant.suspend")
        _record(tenant, actor, action, {"before": tenant.state, "after": state, **revoked})
        tenant.move_to(state)
    tenant.save(update_fields=["name", "state"])
    return tenant


def _check_move(tenant: Tenant, state: str) -> None:
    if state not in TENANT_MOVES.table[tenant.state]:
        possible = " or ".join(sorted(TENANT_MOVES.table[tenant.state]))
        raise field_problem("/state", f"A tenant that is {tenant.state} can become {possible}.")
    left = remains(tenant) if state == CLOSED else []
    if left:
        names = ", ".join(f"{row['kind']} {row['name']}" for row in left[:5])
        more = f" and {len(left) - 5} more" if len(left) > 5 else ""
        raise Conflict(
            f"Something of the tenant would go on without it: {names}{more}.",
            code="tenant-not-empty",
            remains=left,
        )


def _end_access(tenant: Tenant) -> dict[str, int]:
    """Keys and open invitations end for good: a tenant that is opened again hands out others."""
    now = timezone.now()
    keys = ApiKey.objects.filter(tenant=tenant, revoked_at=None).update(revoked_at=now)
    open_ones = Invitation.objects.filter(tenant=tenant, accepted_at=None, revoked_at=None)
    return {"keys_revoked": keys, "invitations_revoked": open_ones.update(revoked_at=now)}


def _record(tenant: Tenant, actor: Actor, action: str, data: dict[str, Any]) -> None:
    audit_record(
        tenant_id=tenant.id, actor=actor, action=action, resource=f"tenant/{tenant.slug}", data=data
    )
