"""Logins: made, ended and let in again by operators; a password changed by its own user.

An operator of the platform is a user with Django's `is_staff`. Only another operator, or whoever
runs `manage.py`, makes one: no role in a tenant does.

A session is bound to its password. So ending a login also makes its password unusable: sessions
that were open stay closed when the login is let in again, by a new link.
"""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from controlplane.administration.inputs import check_password
from controlplane.administration.selectors import memberships_of, tenants_owned_by_nobody_else
from controlplane.administration.services.invitations import Link, password_link, revoke_links_of
from controlplane.administration.services.logins import login_create
from controlplane.audit.services import Actor, audit_record
from controlplane.common.problems import Conflict, NotFound, field_problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a change of a login leaves; `link` is there when it was let in again."""

    user: User
    tenants_without_owner: list[str]
    link: Link | None = None


@transaction.atomic
def user_create(
    *, username: str, is_operator: bool, actor: Actor, email: str = ""
) -> tuple[User, Link]:
    """A login and the link by which its user chooses a password.

    Raises Invalid: the name is taken, or none.
    """
    user = login_create(username=username, email=email, is_operator=is_operator)
    _record(user, actor, "user.create", {"email": email, "is_operator": is_operator})
    return user, password_link(user=user, actor=actor)


@transaction.atomic
def user_update(
    *, username: str, email: str, is_active: bool, is_operator: bool, actor: Actor
) -> Change:
    """Change a login. Ended, its sessions and live streams end: at once, and within a second.

    Raises:
        NotFound: no such user.
        Conflict: nobody would be left who runs the platform.
    """
    user = user_row(username, locked=True)
    if (user.is_staff and user.is_active) and not (is_operator and is_active):
        _check_other_operator(user)
    before = {"email": user.email, "is_active": user.is_active, "is_operator": user.is_staff}
    after = {"email": email, "is_active": is_active, "is_operator": is_operator}
    if before == after:
        return Change(user=user, tenants_without_owner=[])
    ends, begins = user.is_active and not is_active, is_active and not user.is_active
    without_owner = tenants_owned_by_nobody_else(user) if ends else []
    user.email, user.is_active, user.is_staff = email, is_active, is_operator
    if ends or begins:
        user.set_unusable_password()
        revoke_links_of(user)
    user.save()
    _record(user, actor, "user.change", {"before": before, "after": after})
    link = password_link(user=user, actor=actor) if begins else None
    return Change(user=user, tenants_without_owner=without_owner, link=link)


@transaction.atomic
def user_link(*, username: str, actor: Actor) -> Link:
    """Another link to a password, for who lost the first or forgot it; the present one stays
    until it is used.

    Raises NotFound, or Conflict: the login has ended.
    """
    user = user_row(username, locked=True)
    if not user.is_active:
        raise Conflict(f"The login {username} has ended: let it in again first.", code="inactive")
    return password_link(user=user, actor=actor)


@transaction.atomic
def password_change(*, user: User, old: str, new: str, actor: Actor) -> User:
    """Sessions of the old password end; the caller keeps its own by `update_session_auth_hash`.

    Raises Invalid: the old one is wrong, or the new one too weak.
    """
    user = user_row(user.get_username(), locked=True)
    if not user.check_password(old):
        raise field_problem("/old_password", "This is not your password.", "wrong-password")
    check_password(new, user, pointer="/new_password")
    if new == old:
        raise field_problem("/new_password", "This is the password that you have.")
    user.set_password(new)
    user.save(update_fields=["password"])
    revoke_links_of(user)
    _record(user, actor, "user.password-change", {})
    return user


def user_row(username: str, *, locked: bool = False) -> User:
    rows = User.objects.select_for_update() if locked else User.objects.all()
    found = rows.filter(username=username).first()
    if found is None:
        raise NotFound("User not found.")
    return found


def _check_other_operator(user: User) -> None:
    operators = User.objects.select_for_update().filter(is_staff=True, is_active=True)
    if not any(operator.pk != user.pk for operator in operators.order_by("pk")):
        raise Conflict(
            f"{user.get_username()} is the last operator: make another one first.",
            code="last-operator",
        )


def _record(user: User, actor: Actor, action: str, data: dict[str, Any]) -> None:
    """In each tenant of the user, and in the platform's own rows (empty tenant)."""
    tenants = [membership.tenant_id for membership in memberships_of(user)]
    for tenant_id in ["", *tenants]:
        audit_record(
            tenant_id=tenant_id,
            actor=actor,
            action=action,
            resource=f"user/{user.get_username()}",
            data=data,
        )
