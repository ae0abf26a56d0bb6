"""Reads: who I am, my tenants, a tenant's keys."""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet

from controlplane.common.etags import with_tag
from controlplane.common.grants import OWNER
from controlplane.common.problems import NotFound
from controlplane.common.times import iso
from controlplane.tenants.context import AccessContext
from controlplane.tenants.models import CLOSED, ApiKey, Membership, Tenant


def tenant_dict(tenant: Tenant, role: str) -> dict[str, Any]:
    return {
        "id": tenant.id,
        "slug": tenant.slug,
        "name": tenant.name,
        "role": role,
        "state": tenant.state,
    }


def user_tenants(user: User) -> list[dict[str, Any]]:
    """The tenants a user may act for; a platform operator sees all, as owner."""
    roles = {
        membership.tenant_id: membership.role for membership in Membership.objects.filter(user=user)
    }
    tenants = Tenant.objects.exclude(state=CLOSED).order_by("slug")
    if not user.is_staff:
        tenants = tenants.filter(pk__in=list(roles))
    return [tenant_dict(tenant, roles.get(tenant.pk, OWNER)) for tenant in tenants]


def tenant_by_slug(slug: str) -> Tenant:
    """For those who may know all tenants."""
    found = Tenant.objects.filter(slug=slug).first()
    if found is None:
        raise NotFound(f"There is no tenant {slug}.")
    return found


def me(access: AccessContext, user: Any) -> dict[str, Any]:
    person = user if isinstance(user, User) else None
    return {
        "actor": access.actor.name,
        "user": None
        if person is None
        else {
            "id": person.pk,
            "username": person.get_username(),
            "is_staff": person.is_staff,
        },
        "tenant": tenant_dict(access.tenant, access.role),
        "role": access.role,
        "grants": access.grants,
        "may_write": access.may_write,
    }


def api_keys(tenant: Tenant) -> QuerySet[ApiKey]:
    return ApiKey.objects.filter(tenant=tenant).select_related("service_account")


def ending_keys(now: datetime) -> QuerySet[ApiKey]:
    """Of all tenants: keys that open something and have an end, and that nothing has replaced."""
    successors = ApiKey.objects.filter(replaces=OuterRef("pk"), revoked_at=None)
    return ApiKey.objects.filter(
        ~Exists(successors),
        revoked_at=None,
        expires_at__gt=now,
        service_account__disabled_at=None,
    )


def api_key_row(tenant: Tenant, key_id: str, *, locked: bool = False) -> ApiKey:
    """Revoked ones too. Raises NotFound."""
    rows = api_keys(tenant)
    found = (rows.select_for_update(of=("self",)) if locked else rows).filter(pk=key_id).first()
    if found is None:
        raise NotFound("API key not found.")
    return found


def api_key_dict(key: ApiKey) -> dict[str, Any]:
    shown = {
        "id": key.id,
        "name": key.name,
        "service_account": {"id": key.service_account_id, "name": key.service_account.name},
        "scope": key.scope,
        "grants": key.grants,
        "prefix": f"psk_{key.lookup}",
        "created_by": key.created_by,
        "created_at": iso(key.created_at),
        "last_used_at": iso(key.last_used_at),
        "expires_at": iso(key.expires_at),
        "revoked_at": iso(key.revoked_at),
    }
    return with_tag(shown, observed=("last_used_at",))
