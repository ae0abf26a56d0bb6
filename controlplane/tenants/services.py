"""Writes: tenants, members, API keys."""

import secrets
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from controlplane.audit.services import Actor, audit_record
from controlplane.common.problems import NotFound
from controlplane.common.times import iso
from controlplane.tenants.authentication import PREFIX, secret_hash
from controlplane.tenants.models import ApiKey, Membership, Tenant


def tenant_ensure(*, slug: str, name: str) -> Tenant:
    return Tenant.objects.get_or_create(slug=slug, defaults={"name": name})[0]


def membership_ensure(*, tenant: Tenant, user: User, role: str) -> Membership:
    return Membership.objects.update_or_create(tenant=tenant, user=user, defaults={"role": role})[0]


@transaction.atomic
def api_key_create(
    *, tenant: Tenant, name: str, scope: str, actor: Actor, expires_at: datetime | None = None
) -> tuple[ApiKey, str]:
    """A new key and its full text, which is shown this once."""
    lookup, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    key = ApiKey.objects.create(
        tenant=tenant,
        name=name,
        scope=scope,
        lookup=lookup,
        secret_hash=secret_hash(secret),
        created_by=actor.name,
        expires_at=expires_at,
    )
    audit_record(
        tenant_id=tenant.id,
        actor=actor,
        action="api-key.create",
        resource=f"api-key/{key.id}",
        data={"name": name, "scope": scope, "expires_at": iso(expires_at)},
    )
    return key, f"{PREFIX}{lookup}_{secret}"


@transaction.atomic
def api_key_revoke(*, tenant: Tenant, key_id: str, actor: Actor) -> None:
    changed = ApiKey.objects.filter(tenant=tenant, id=key_id, revoked_at=None).update(
        revoked_at=timezone.now()
    )
    if not changed:
        raise NotFound("There is no such API key.")
    audit_record(
        tenant_id=tenant.id, actor=actor, action="api-key.revoke", resource=f"api-key/{key_id}"
    )
