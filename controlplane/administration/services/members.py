"""Who belongs to a tenant, with which role and grants.

A tenant that has an owner never loses its last one, and nobody gives more than they have.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from controlplane.administration.selectors import live_keys_made_by
from controlplane.audit.services import Actor, audit_record
from controlplane.common.grants import LIMITED, OWNER, VIEWER
from controlplane.common.problems import Conflict, NotFound, field_problem
from controlplane.tenants.models import Invitation, Membership, Tenant
from controlplane.tenants.services import check_grants, check_within

Rows = Sequence[dict[str, Any]]
WITH_GRANTS = (LIMITED, VIEWER)
"""The roles beside which a grant adds something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """What a member leaves: `keys_made` go on, since they are their service accounts'."""

    invitations_revoked: int
    keys_made: list[str]


@transaction.atomic
def member_add(
    *, tenant: Tenant, user: User, role: str, actor: Actor, grants: Rows = ()
) -> Membership:
    """`grants` as they are stored.

    Raises:
        Conflict: the user is a member already; another role is another request.
        Invalid, Forbidden: as `member_change`.
    """
    _check_rights(actor, role, grants)
    present = Membership.objects.filter(tenant=tenant, user=user).first()
    if present is not None:
        raise Conflict(
            f"{user.get_username()} is a member already, as {present.role}.", code="already-member"
        )
    try:
        with transaction.atomic():
            made = Membership.objects.create(
                tenant=tenant, user=user, role=role, grants=list(grants)
            )
    except IntegrityError as error:  # somebody was quicker
        raise Conflict(
            f"{user.get_username()} is a member already.", code="already-member"
        ) from error
    change = {"before": None, "after": _rights(made)}
    _record(tenant, actor, "member.add", user.get_username(), change)
    return made


@transaction.atomic
def member_change(
    *, tenant: Tenant, username: str, role: str, actor: Actor, grants: Rows | None = None
) -> Membership:
    """Give a member another role or other grants, from the next request on.

    `grants`, as they are stored, take the place of those of before. With None these stay while the
    role does, and end with it.

    Raises:
        NotFound: no such member.
        Conflict: it is the last owner.
        Invalid: the grants are none, or add nothing to the role.
        Forbidden: the actor does not have all that would be given.
    """
    member = _locked(tenant, username)
    if grants is None:
        grants = member.grants if member.role == role else []
    if (member.role, member.grants) == (role, list(grants)):
        return member
    _check_rights(actor, role, grants)
    if member.role == OWNER:
        _check_other_owner(tenant, member)
        _revoke_invitations_of(tenant, username)
    before = _rights(member)
    member.role, member.grants = role, list(grants)
    member.save(update_fields=["role", "grants"])
    change = {"before": before, "after": _rights(member)}
    _record(tenant, actor, "member.change", username, change)
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
    data = {"before": _rights(member), "after": None, "keys_made": departure.keys_made}
    _record(tenant, actor, "member.remove", username, data)
    member.delete()
    return departure


def _check_rights(actor: Actor, role: str, grants: Rows) -> None:
    """Raises Invalid, Forbidden: as `member_change`."""
    check_grants(grants)
    if grants and role not in WITH_GRANTS:
        raise field_problem(
            "/grants", f"The role {role} is over everything already: a grant adds nothing to it."
        )
    check_within(actor.scope, role, grants, "Nobody gives more than they have.")


def _rights(member: Membership) -> dict[str, Any]:
    return {"role": member.role, "grants": member.grants}


def _locked(tenant: Tenant, username: str) -> Membership:
    """The membership, with the tenant locked: two owners cannot remove each other at once."""
    Tenant.objects.select_for_update().get(pk=tenant.pk)
    found = Membership.objects.select_related("user", "tenant")
    member = found.filter(tenant=tenant, user__username=username).first()
    if member is None:
        raise NotFound("Member not found.")
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
