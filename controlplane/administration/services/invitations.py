"""One-time links: into a tenant, or to a password. The service sends no mail; people pass them on.

The text of a link is shown once and stands behind the `#` of its address, which browsers send to
nobody: it is in no log and no Referer.
"""

import hmac
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from controlplane.administration.inputs import check_password
from controlplane.administration.services.logins import login_create
from controlplane.administration.services.members import member_add
from controlplane.audit.services import Actor, audit_record
from controlplane.common.problems import Conflict, Gone, NotFound
from controlplane.common.times import iso
from controlplane.tenants.authentication import secret_hash
from controlplane.tenants.models import CLOSED, Invitation, Tenant
from controlplane.tenants.services import check_within, new_secret

PREFIX = "psi_"
PATH = "/invitation#"
INVITATION_LIFETIME = timedelta(days=7)
PASSWORD_LINK_LIFETIME = timedelta(days=2)
INVITATIONS_OPEN_MAX = 100
"""Of one tenant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """`path` follows the service's own address."""

    invitation: Invitation
    path: str


@transaction.atomic
def invite(*, tenant: Tenant, role: str, note: str, actor: Actor, lifetime: timedelta) -> Link:
    """A link that makes whoever opens it first a member.

    Nobody is named in it, so that an owner learns nothing of the users of other tenants.

    Raises:
        Conflict: too many are open.
        Forbidden: the actor does not have the role.
    """
    check_within(actor.scope, role, (), "Nobody gives more than they have.")
    Tenant.objects.select_for_update().get(pk=tenant.pk)  # so that the count holds
    if _open(Invitation.objects.filter(tenant=tenant)).count() >= INVITATIONS_OPEN_MAX:
        raise Conflict(
            f"A tenant has at most {INVITATIONS_OPEN_MAX} open invitations.", code="too-many"
        )
    link = _make(actor, lifetime, tenant=tenant, role=role, note=note)
    data = {"role": role, "note": note, "expires_at": iso(link.invitation.expires_at)}
    _record(link.invitation, actor, "invitation.create", data)
    return link


@transaction.atomic
def password_link(
    *, user: User, actor: Actor, lifetime: timedelta = PASSWORD_LINK_LIFETIME
) -> Link:
    """A link by which `user` chooses a password; links given before end."""
    revoke_links_of(user)
    link = _make(actor, lifetime, user=user)
    data = {"username": user.get_username(), "expires_at": iso(link.invitation.expires_at)}
    _record(link.invitation, actor, "user.link", data)
    return link


@transaction.atomic
def invitation_revoke(*, tenant: Tenant, invitation_id: str, actor: Actor) -> None:
    found = Invitation.objects.filter(
        tenant=tenant, pk=invitation_id, accepted_at=None, revoked_at=None
    )
    invitation = found.select_for_update().first()
    if invitation is None:
        raise NotFound("Invitation not found.")
    found.update(revoked_at=timezone.now())
    _record(invitation, actor, "invitation.revoke")


def revoke_links_of(user: User) -> None:
    _open(Invitation.objects.filter(user=user)).update(revoked_at=timezone.now())


def find_invitation(token: str) -> Invitation:
    """The invitation that `token` opens.

    Raises:
        NotFound: there is none, or what it leads to is closed.
        Gone: it was used or revoked, or its time is over.
    """
    if not token.startswith(PREFIX) or not token.isascii() or not token.isprintable():
        raise NotFound("Invitation not found.")
    lookup, _, secret = token[len(PREFIX) :].partition("_")
    found = Invitation.objects.select_related("tenant", "user").filter(lookup=lookup).first()
    if found is None or not hmac.compare_digest(found.secret_hash, secret_hash(secret)):
        raise NotFound("Invitation not found.")
    is_closed = found.tenant is not None and found.tenant.state == CLOSED
    if is_closed or (found.user is not None and not found.user.is_active):
        raise NotFound("Invitation not found.")
    if found.accepted_at or found.revoked_at or found.expires_at <= timezone.now():
        raise Gone("The link was used or revoked, or its time is over: ask for another one.")
    return found


@transaction.atomic
def accept_as_member(*, token: str, user: User, actor: Actor) -> Invitation:
    """A signed-in user joins the tenant, with the invitation's role.

    Raises:
        Conflict: they are a member already, whose role no link changes.
        NotFound, Gone: as `find_invitation`; NotFound also for a link to a password.
    """
    invitation = find_invitation(token)
    if invitation.tenant is None:
        raise NotFound("Invitation not found.")
    _take(invitation, user)
    member_add(tenant=invitation.tenant, user=user, role=invitation.role, actor=actor)
    _record(invitation, actor, "invitation.accept", {"username": user.get_username()})
    return invitation


@transaction.atomic
def accept_as_new_user(
    *, token: str, username: str, password: str, actor: Actor
) -> tuple[Invitation, User]:
    """Somebody without a login chooses one and joins.

    Raises:
        Invalid: the user name is taken or none, or the password too weak.
        NotFound, Gone: as `accept_as_member`.
    """
    invitation = find_invitation(token)
    if invitation.tenant is None:
        raise NotFound("Invitation not found.")
    user = login_create(username=username, password=password)
    by = Actor(
        name=f"user:{username}", remote_address=actor.remote_address, user_agent=actor.user_agent
    )
    _take(invitation, user)
    member_add(tenant=invitation.tenant, user=user, role=invitation.role, actor=by)
    _record(invitation, by, "invitation.accept", {"username": username, "is_new": True})
    return invitation, user


@transaction.atomic
def accept_password(*, token: str, password: str, actor: Actor) -> tuple[Invitation, User]:
    """The user whose link it is gets a password; sessions of the one before end.

    Raises:
        Invalid: the password is too weak.
        NotFound, Gone: as `find_invitation`; NotFound also for a link into a tenant.
    """
    invitation = find_invitation(token)
    user = invitation.user
    if user is None:
        raise NotFound("Invitation not found.")
    check_password(password, user)
    _take(invitation, user)
    user.set_password(password)
    user.save(update_fields=["password"])
    revoke_links_of(user)
    by = Actor(
        name=f"user:{user.get_username()}",
        remote_address=actor.remote_address,
        user_agent=actor.user_agent,
    )
    _record(invitation, by, "user.password-set", {"username": user.get_username()})
    return invitation, user


def _take(invitation: Invitation, user: User) -> None:
    """One step, so that of two who open a link at once one gets it."""
    taken = _open(Invitation.objects.filter(pk=invitation.pk)).update(
        accepted_at=timezone.now(), accepted_by=f"user:{user.get_username()}"
    )
    if not taken:
        raise Gone("The link was used or revoked, or its time is over: ask for another one.")


def _open(rows: QuerySet[Invitation]) -> QuerySet[Invitation]:
    return rows.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())


def _make(
    actor: Actor,
    lifetime: timedelta,
    *,
    tenant: Tenant | None = None,
    user: User | None = None,
    role: str = "",
    note: str = "",
) -> Link:
    lookup, secret = new_secret()
    invitation = Invitation.objects.create(
        tenant=tenant,
        user=user,
        role=role,
        note=note,
        lookup=lookup,
        secret_hash=secret_hash(secret),
        created_by=actor.name[:200],
        expires_at=timezone.now() + lifetime,
    )
    return Link(invitation=invitation, path=f"{PATH}{PREFIX}{lookup}_{secret}")


def _record(
    invitation: Invitation, actor: Actor, action: str, data: dict[str, Any] | None = None
) -> None:
    audit_record(
        tenant_id=invitation.tenant_id or "",
        actor=actor,
        action=action,
        resource=f"invitation/{invitation.id}",
        data=data,
    )
