"""Service accounts are changed here and keys exchanged; both are made in `tenants.services`."""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from controlplane.audit.services import Actor, audit_record
from controlplane.common.problems import Conflict, NotFound
from controlplane.common.times import iso
from controlplane.tenants.authentication import PREFIX, secret_hash
from controlplane.tenants.models import KEY_ROLES, ApiKey, ServiceAccount, Tenant, new_api_key_id
from controlplane.tenants.services import account_of, check_within, new_secret


@transaction.atomic
def service_account_update(
    *, tenant: Tenant, account_id: str, description: str, is_disabled: bool, actor: Actor
) -> ServiceAccount:
    """Disabled, the account's keys open nothing from the next request on; enabled, again."""
    mine = ServiceAccount.objects.select_for_update().filter(tenant=tenant, pk=account_id)
    account = mine.first()
    if account is None:
        raise NotFound("Service account not found.")
    was_disabled = account.disabled_at is not None
    before = {"description": account.description, "disabled": was_disabled}
    after = {"description": description, "disabled": is_disabled}
    if before == after:
        return account
    account.description = description
    if is_disabled != was_disabled:
        account.disabled_at = timezone.now() if is_disabled else None
    account.save(update_fields=["description", "disabled_at"])
    audit_record(
        tenant_id=tenant.id,
        actor=actor,
        action="service-account.change",
        resource=f"service-account/{account.id}",
        data={"name": account.name, "before": before, "after": after},
    )
    return account


@transaction.atomic
def api_key_rotate(
    *,
    tenant: Tenant,
    key_id: str,
    overlap_s: int,
    expires_at: datetime | None,
    actor: Actor,
    maker_id: int | None = None,
) -> tuple[ApiKey, str, datetime]:
    """A key with the rights of `key_id`, its text, and when the old one ends.

    `expires_at` of None: as long from now as the old key was given, without end if it had none.
    The new key is bounded by what the user `maker_id` may, as one that they made; the old one
    stays its own maker's.

    Raises:
        NotFound: the key is revoked or over.
        Conflict, Forbidden: as `api_key_create`.
    """
    now = timezone.now()
    mine = ApiKey.objects.select_for_update().filter(tenant=tenant, pk=key_id, revoked_at=None)
    old = mine.first()
    if old is None or (old.expires_at is not None and old.expires_at <= now):
        raise NotFound("API key not found.")
    if ApiKey.objects.filter(replaces=old, revoked_at=None).exists():
        raise Conflict("The key was rotated already: its successor is listed.", code="rotated")
    check_within(
        actor.scope, KEY_ROLES[old.scope], old.grants, "A key may do no more than who rotates it."
    )
    account_of(tenant, old.service_account_id, old.name, actor)
    ends_at = now + timedelta(seconds=overlap_s)
    if old.expires_at is not None:
        ends_at = min(ends_at, old.expires_at)
    if expires_at is None and old.expires_at is not None:
        expires_at = now + (old.expires_at - old.created_at)
    new, text = _like(old, expires_at, maker_id, actor)
    if overlap_s == 0:
        old.revoked_at = now
    else:
        old.expires_at = ends_at
    old.save(update_fields=["revoked_at", "expires_at"])
    audit_record(
        tenant_id=tenant.id,
        actor=actor,
        action="api-key.rotate",
        resource=f"api-key/{old.id}",
        data={"name": old.name, "successor": new.id, "ends_at": iso(ends_at)},
    )
    return new, text, ends_at


def _like(
    old: ApiKey, expires_at: datetime | None, maker_id: int | None, actor: Actor
) -> tuple[ApiKey, str]:
    """Every right is copied, whatever columns hold them; what identifies a key is not."""
    own = {"id", "lookup", "secret_hash", "created_by", "created_at", "last_used_at", "revoked_at"}
    rights = {
        field.attname: getattr(old, field.attname)
        for field in ApiKey._meta.concrete_fields
        if field.name not in own | {"expires_at", "maker_id", "replaces"}
    }
    lookup, secret = new_secret()
    new = ApiKey.objects.create(
        **rights,
        id=new_api_key_id(),
        lookup=lookup,
        secret_hash=secret_hash(secret),
        created_by=actor.name,
        expires_at=expires_at,
        maker_id=maker_id,
        replaces=old,
    )
    return new, f"{PREFIX}{lookup}_{secret}"
