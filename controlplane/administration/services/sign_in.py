"""Who somebody is whom an OpenID provider has signed in, and what the provider's word grants them.

A login is found by (issuer, subject) and by nothing else: a mail address or a user name that
happens to be the same is somebody's claim, not proof. Nobody becomes an operator of the platform
by claims.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction

from controlplane.administration.inputs import USERNAME
from controlplane.administration.services.logins import login_create
from controlplane.administration.services.members import member_add, member_change, member_remove
from controlplane.audit.services import Actor, audit_record
from controlplane.common.problems import Conflict, Forbidden
from controlplane.tenants.models import CLOSED, ROLE_CHOICES, Membership, OidcIdentity, Tenant

SUBJECT_MAX = 255
EMAIL_DOMAIN = "email_domain"
"""Instead of a claim's name: the domain of a mail address that the provider has verified."""
NAME_KEPT = 100
ROLES = [role for role, _ in ROLE_CHOICES]
"""The strongest first."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Whoever has `value` in `claim` is a member of `tenant` with `role`."""

    claim: str
    value: str
    tenant: str
    role: str


def configured_grants() -> list[Grant]:
    """Raises ImproperlyConfigured: a row of PENSTOCK_OIDC_GRANTS is none."""
    found = []
    for at, row in enumerate(settings.OIDC_GRANTS):
        fields = {"claim", "value", "tenant", "role"}
        if not isinstance(row, dict) or set(row) != fields or row["role"] not in ROLES:
            raise ImproperlyConfigured(
                f"PENSTOCK_OIDC_GRANTS[{at}] is an object of claim, value, tenant and role, with"
                f" one of the roles {', '.join(ROLES)}"
            )
        found.append(Grant(**{name: str(row[name]) for name in fields}))
    return found


def user_of_claims(*, issuer: str, claims: Mapping[str, Any], actor: Actor) -> User:
    """The user of an ID token that has been verified; made when claims grant something.

    Memberships of tenants that grants name follow the claims at every sign-in.
    Raises Forbidden: the mail domain is not allowed, nothing is granted, or the login has ended.
    """
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= SUBJECT_MAX:
        raise Forbidden("The provider names nobody.", code="oidc-subject")
    domain = verified_domain(claims)
    if settings.OIDC_DOMAINS and domain not in settings.OIDC_DOMAINS:
        raise Forbidden("Your mail domain is not allowed here.", code="oidc-domain")
    user = _found_or_made(issuer, subject, claims, actor)
    # What is no longer granted has been taken away by now, whether or not this refuses.
    if not user.is_staff and not Membership.objects.filter(user=user).exists():
        raise nothing_granted()
    return user


def nothing_granted() -> Forbidden:
    return Forbidden("Nothing here is granted to you.", code="oidc-nothing-granted")


@transaction.atomic
def _found_or_made(issuer: str, subject: str, claims: Mapping[str, Any], actor: Actor) -> User:
    """The user, with the memberships that the claims grant now."""
    wanted = granted_roles(claims)
    known = OidcIdentity.objects.select_related("user").select_for_update(of=("self",))
    identity = known.filter(issuer=issuer, subject=subject).first()
    if identity is not None:
        user = identity.user
        if not user.is_active:
            raise Forbidden("This login has ended.", code="oidc-ended")
    elif wanted:
        user = _first_sign_in(issuer, subject, claims)
    else:
        raise nothing_granted()
    _follow(user, wanted, actor)
    return user


def granted_roles(claims: Mapping[str, Any]) -> dict[str, str]:
    """The strongest role per tenant's slug."""
    found: dict[str, str] = {}
    for grant in configured_grants():
        if grant.value not in _values(claims, grant.claim):
            continue
        present = found.get(grant.tenant)
        if present is None or ROLES.index(grant.role) < ROLES.index(present):
            found[grant.tenant] = grant.role
    return found


def verified_domain(claims: Mapping[str, Any]) -> str:
    """Empty when the provider has not verified the address: anybody can claim one."""
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str):
        return ""
    return email.rpartition("@")[2].lower()


def link_identity(*, user: User, issuer: str, subject: str, actor: Actor) -> OidcIdentity:
    """Let an existing login be opened by the provider. Raises Conflict: it is somebody's."""
    if OidcIdentity.objects.filter(issuer=issuer, subject=subject).exists():
        raise Conflict("This subject is linked to a login already.", code="name-taken")
    made = OidcIdentity.objects.create(user=user, issuer=issuer, subject=subject)
    audit_record(
        tenant_id="",
        actor=actor,
        action="user.link-oidc",
        resource=f"user/{user.get_username()}",
        data={"issuer": issuer, "subject": subject},
    )
    return made


def _values(claims: Mapping[str, Any], name: str) -> list[str]:
    if name == EMAIL_DOMAIN:
        domain = verified_domain(claims)
        return [domain] if domain else []
    value = claims.get(name)
    rows = value if isinstance(value, list) else [value]
    return [row for row in rows if isinstance(row, str)]


def _first_sign_in(issuer: str, subject: str, claims: Mapping[str, Any]) -> User:
    name = _free_name(issuer, subject, claims)
    user = login_create(username=name, email=_email(claims))
    link_identity(user=user, issuer=issuer, subject=subject, actor=Actor(name="oidc"))
    return user


def _email(claims: Mapping[str, Any]) -> str:
    email = claims.get("email")
    return email if verified_domain(claims) and isinstance(email, str) and len(email) < 255 else ""


def _free_name(issuer: str, subject: str, claims: Mapping[str, Any]) -> str:
    """What the provider calls them; somebody who has that name here is somebody else."""
    given = claims.get("preferred_username")
    plain = re.sub(r"[^A-Za-z0-9._@+-]", "-", given if isinstance(given, str) else "")[:NAME_KEPT]
    if not USERNAME.fullmatch(plain):
        plain = "oidc"
    if plain != "oidc" and not User.objects.filter(username__iexact=plain).exists():
        return plain
    digest = hashlib.sha256(f"{issuer}\n{subject}".encode()).hexdigest()
    return f"{plain}-{digest[:12]}"


def _follow(user: User, wanted: Mapping[str, str], actor: Actor) -> None:
    """Make the memberships of every tenant that grants name what the claims say now."""
    slugs = {grant.tenant for grant in configured_grants()}
    present = {row.tenant_id: row for row in Membership.objects.filter(user=user)}
    for tenant in Tenant.objects.filter(slug__in=slugs).exclude(state=CLOSED).order_by("pk"):
        role, member = wanted.get(tenant.slug), present.get(tenant.pk)
        username = user.get_username()
        try:
            if role is None and member is not None:
                member_remove(tenant=tenant, username=username, actor=actor)
            elif role is not None and member is None:
                member_add(tenant=tenant, user=user, role=role, actor=actor)
            elif role is not None:
                member_change(tenant=tenant, username=username, role=role, actor=actor)
        except Conflict as refused:
            # The last owner stays one, whatever the provider says; that stands in the audit.
            audit_record(
                tenant_id=tenant.id,
                actor=actor,
                action="member.change",
                resource=f"user/{username}",
                outcome="refused",
                reason=refused.detail,
                data={"granted": role},
            )
