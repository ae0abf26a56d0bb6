"""Writes: tenants and members as the demo makes them, service accounts, API keys."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from controlplane.audit.services import Actor, audit_record
from controlplane.common.grants import GRANTS_MAX, Grant, Scope, grant_of, scope_of
from controlplane.common.problems import Conflict, Forbidden, NotFound, field_problem
from controlplane.common.times import iso
from controlplane.tenants.authentication import PREFIX, secret_hash
from controlplane.tenants.models import KEY_ROLES, ApiKey, Membership, ServiceAccount, Tenant

SERVICE_ACCOUNTS_MAX = 200
"""Of one tenant."""
KEYS_LIVE_MAX = 50
"""Of one service account: not revoked."""


def tenant_ensure(*, slug: str, name: str) -> Tenant:
    return Tenant.objects.get_or_create(slug=slug, defaults={"name": name})[0]


def membership_ensure(
    *, tenant: Tenant, user: User, role: str, grants: Sequence[Grant] = ()
) -> Membership:
    """The member as it should be: a role over all of the tenant, or `limited`, and grants."""
    values = {"role": role, "grants": stored(grants)}
    return Membership.objects.update_or_create(tenant=tenant, user=user, defaults=values)[0]


def stored(grants: Sequence[Grant]) -> list[dict[str, Any]]:
    """The rows that `scope_of` reads; raises as `check_grants`."""
    rows = [grant.as_row() for grant in grants]
    check_grants(rows)
    return rows


def check_grants(rows: Sequence[dict[str, Any]]) -> None:
    """What a member or key may have for grants.

    Raises:
        Invalid: there are too many, or one of them is none or there already.
    """
    if len(rows) > GRANTS_MAX:
        raise field_problem("/grants", f"There are at most {GRANTS_MAX} grants.", "max_length")
    for index, row in enumerate(rows):
        if grant_of(row) is None:
            raise field_problem(f"/grants/{index}", "Grant not found.")
        if row in rows[:index]:
            raise field_problem(f"/grants/{index}", "This grant stands there twice.", "repeated")


def check_within(scope: Scope, role: str, rows: Sequence[dict[str, Any]], why: str) -> None:
    """Raises Forbidden, with the field at fault: `scope` does not have all that is given."""
    faults = [] if scope.spans(scope_of(role, []).layers[0]) else ["/role"]
    given = [(f"/grants/{index}", grant_of(row)) for index, row in enumerate(rows)]
    faults += [where for where, grant in given if grant and not scope.spans([grant])]
    if faults:
        errors = [{"pointer": where, "code": "beyond-own", "detail": why} for where in faults]
        raise Forbidden(why, errors=errors)


@transaction.atomic
def service_account_create(
    *, tenant: Tenant, name: str, actor: Actor, description: str = ""
) -> ServiceAccount:
    """Raises Conflict: the name is taken, or there are too many."""
    Tenant.objects.select_for_update().get(pk=tenant.pk)  # so that the count holds
    mine = ServiceAccount.objects.filter(tenant=tenant)
    if mine.filter(name=name).exists():
        raise Conflict(f"There is a service account called {name}.", code="name-taken")
    if mine.count() >= SERVICE_ACCOUNTS_MAX:
        raise Conflict(
            f"A tenant has at most {SERVICE_ACCOUNTS_MAX} service accounts.", code="too-many"
        )
    account = ServiceAccount.objects.create(
        tenant=tenant, name=name, description=description, created_by=actor.name
    )
    audit_record(
        tenant_id=tenant.id,
        actor=actor,
        action="service-account.create",
        resource=f"service-account/{account.id}",
        data={"name": name, "description": description},
    )
    return account


@transaction.atomic
def api_key_create(
    *,
    tenant: Tenant,
    name: str,
    scope: str,
    actor: Actor,
    expires_at: datetime | None = None,
    service_account_id: str | None = None,
    grants: Sequence[dict[str, Any]] = (),
    maker_id: int | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its full text, which is shown this once.

    Without an account it is one of the account that is called like the key, made if need be.
    `grants` are of a key with the scope `limited`, as they are stored. The user `maker_id` bounds
    it by what they may at the time that it is used; without one nobody does.

    Raises:
        NotFound: the tenant has no such service account.
        Conflict: the account is disabled, or has its share of keys.
        Forbidden: it would be allowed more than the actor.
        Invalid: as `check_grants`.
    """
    check_grants(grants)
    check_within(actor.scope, KEY_ROLES[scope], grants, "A key may do no more than who makes it.")
    account = account_of(tenant, service_account_id, name, actor)
    lookup, secret = new_secret()
    key = ApiKey.objects.create(
        tenant=tenant,
        service_account=account,
        name=name,
        scope=scope,
        grants=list(grants),
        maker_id=maker_id,
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
        data={"before": None, "after": _recorded(key)},
    )
    return key, f"{PREFIX}{lookup}_{secret}"


def new_secret() -> tuple[str, str]:
    """A fresh (lookup, secret): 48 bits to find a row by, 256 that open it."""
    return secrets.token_hex(6), secrets.token_urlsafe(32)


def account_of(tenant: Tenant, account_id: str | None, name: str, actor: Actor) -> ServiceAccount:
    """The account that a new key may belong to, locked; raises as `api_key_create`."""
    mine = ServiceAccount.objects.select_for_update().filter(tenant=tenant)
    if account_id is not None:
        account = mine.filter(pk=account_id).first()
        if account is None:
            raise NotFound("Service account not found.")
    else:
        account = mine.filter(name=name).first() or service_account_create(
            tenant=tenant, name=name, actor=actor
        )
    if account.disabled_at is not None:
        raise Conflict(f"The service account {account.name} is disabled.", code="disabled")
    if account.keys.filter(revoked_at=None).count() >= KEYS_LIVE_MAX:
        raise Conflict(
            f"The service account {account.name} has {KEYS_LIVE_MAX} keys: revoke some first.",
            code="too-many",
        )
    return account


@transaction.atomic
def api_key_revoke(*, tenant: Tenant, key_id: str, actor: Actor) -> None:
    found = ApiKey.objects.filter(tenant=tenant, id=key_id, revoked_at=None)
    key = found.first()
    if key is None or not found.update(revoked_at=timezone.now()):
        raise NotFound("API key not found.")
    audit_record(
        tenant_id=tenant.id,
        actor=actor,
        action="api-key.revoke",
        resource=f"api-key/{key_id}",
        data={"before": _recorded(key), "after": None},
    )


def _recorded(key: ApiKey) -> dict[str, Any]:
    return {
        "name": key.name,
        "scope": key.scope,
        "grants": key.grants,
        "service_account": key.service_account.name,
        "expires_at": iso(key.expires_at),
    }


def export_record(actor: Actor, tenant: Tenant, wanted: str) -> None:
    """Who takes the record away is in it."""
    audit_record(
        tenant_id=tenant.pk,
        actor=actor,
        action="audit.export",
        resource="audit",
        data={"format": wanted},
    )
