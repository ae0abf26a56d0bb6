"""Who belongs to a tenant, with which role. A tenant that has an owner never loses its last one."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from controlplane.administration.selectors import live_keys_made_by
from controlplane.audit.services import Actor, audit_record
from controlplane.common.grants import OWNER
from controlplane.common.problems import Conflict, NotFound
from controlplane.tenants.models import Invitation, Membership, Tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """What a member leaves: `keys_made` go on, since they are their service accounts'."""

    invitations_revoked: int
    keys_made: list[str]


@transaction.atomic
def member_add(*, tenant: Tenant, user: User, role: str, actor: Actor) -> Membership:
    """Raises Conflict: the user is a member already; another role is another request."""
    present = Membership.objects.filter(tenant=tenant, user=user).first()
    if present is not None:
        raise Conflict(
            f"{user.get_username()} is a member already, as {present.role}.", code="already-member"
        )
    try:
        with transaction.atomic():
            made = Membership.objects.create(tenant=tenant, user=user, role=role)
    except IntegrityError as error:  # somebody was quicker
        raise Conflict(
            f"{user.get_username()} is a member already.", code="already-member"
        ) from error
    _record(tenant, actor, "member.add", user.get_username(), {"after": role})
    return made


@transaction.atomic
def member_change(*, tenant: Tenant, username: str, role: str, actor: Actor) -> Membership:
    """Give a member another role, from the next request on. Grants of before end with the role.

    Raises:
        NotFound: no such member.
        Conflict: it is the last owner.
    """
    member = _locked(tenant, username)
    if member.role == role:
        return member
    if member.role == OWNER:
        _check_other_owner(tenant, member)
        _revoke_invitations_of(tenant, username)
    ended = {"grants_ended": len(member.grants)} if member.grants else {}
    change = {"before": member.role, "after": role, **ended}
    _record(tenant, actor, "member.change", username, change)
    member.role, member.grants = role, []
    member.save(update_fields=["role", "grants"])
    return member


@transaction.atomic
def member_remove(*, tenant: Tenant, username: str, actor: Actor) -> Departure:
    """Raises as `member_change`. Live streams of the member end within a second."""
    member = _locked(tenant, username)
    if member.role == OWNER:
        _check_other_owner(tenant, member)
    departure = Departure(
        invitations_revoked=_revoke_invitations_of(tenant, username),
        keys_made=live_keys_made_by(tenant, username),
    )
    data = {"before": member.role, "keys_made": departure.keys_made}
    _record(tenant, actor, "member.remove", username, data)
    member.delete()
    return departure


def _locked(tenant: Tenant, username: str) -> Membership:
    """The membership, with the tenant locked: two owners cannot remove each other at once."""
    Tenant.objects.select_for_update().get(pk=tenant.pk)
    found = Membership.objects.select_related("user", "tenant")
    member = found.filter(tenant=tenant, user__username=username).first()
    if member is None:
        raise NotFound("There is no such member.")
    return member


def _check_other_owner(tenant: Tenant, member: Membership) -> None:
    """Somebody who cannot sign in owns nothing."""
    owners = Membership.objects.filter(tenant=tenant, role=OWNER, user__is_active=True)
    if not owners.exclude(pk=member.pk).exists():
        raise Conflict(
            f"{member.user.get_username()} is the last owner: make another one first.",
            code="last-owner",
        )


def _revoke_invitations_of(tenant: Tenant, username: str) -> int:
    """An invitation holds no longer than the right of who gave it: it would be a way back in."""
    given = Invitation.objects.filter(
        tenant=tenant, created_by=f"user:{username}", accepted_at=None, revoked_at=None
    )
    return given.update(revoked_at=timezone.now())


def _record(tenant: Tenant, actor: Actor, action: str, username: str, data: dict[str, Any]) -> None:
    audit_record(
        tenant_id=tenant.id, actor=actor, action=action, resource=f"user/{username}", data=data
    )
