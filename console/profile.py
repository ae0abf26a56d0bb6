"""What a person does about their own login: change the password, open a one-time link."""

import math
from typing import Any

from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.models import User
from django.http import HttpRequest

from console.session import SignedOut, TooManyAttempts, audit_session, check_passwords_on
from console.throttle import login_throttles
from controlplane.administration.services import invitations
from controlplane.administration.services.users import password_change
from controlplane.audit.services import Actor
from controlplane.common.problems import Invalid
from controlplane.common.times import iso
from controlplane.tenants.models import Invitation
from controlplane.tenants.permissions import SESSION_TENANT

LOGIN_BACKEND = "django.contrib.auth.backends.ModelBackend"


def change_password(request: HttpRequest, old: str, new: str) -> None:
    """Sessions that are open elsewhere end; this one goes on.

    Raises:
        SignedOut: nobody is signed in.
        TooManyAttempts: guesses of the old password count like attempts to sign in.
        Invalid: the old password is wrong, or the new one too weak.
    """
    user = request.user
    if not isinstance(user, User):
        raise SignedOut
    check_passwords_on()
    throttles = login_throttles(user.get_username())
    for throttle in throttles:
        if not throttle.allow_request(request):
            wait_s = math.ceil(throttle.wait())
            raise TooManyAttempts(f"Try again in {wait_s} s.", retry_after_s=wait_s)
    try:
        changed = password_change(user=user, old=old, new=new, actor=actor_of(request))
    except Invalid as refused:
        if refused.errors[0]["code"] != "wrong-password":
            _forget(request, user)
        raise
    _forget(request, user)
    update_session_auth_hash(request, changed)


def invitation_dict(token: str) -> dict[str, Any]:
    """What a link leads to. Raises NotFound and Gone."""
    found = invitations.find_invitation(token)
    tenant = found.tenant
    return {
        "leads_to": "tenant" if tenant is not None else "password",
        "tenant": tenant.name if tenant is not None else None,
        "role": found.role or None,
        "username": found.user.get_username() if found.user is not None else None,
        "expires_at": iso(found.expires_at),
    }


def open_invitation(request: HttpRequest, token: str, username: str, password: str) -> None:
    """Join the tenant as who is signed in, or with a new login; or set a password. Then signed in.

    Raises NotFound, Gone, Conflict and Invalid as the services.
    """
    found = invitations.find_invitation(token)
    user = request.user
    by = actor_of(request)
    if found.user is not None or not isinstance(user, User) or username:
        check_passwords_on()
    if found.user is not None:
        invitation, user = invitations.accept_password(token=token, password=password, actor=by)
    elif isinstance(user, User) and not username:
        invitation = invitations.accept_as_member(token=token, user=user, actor=by)
    else:
        invitation, user = invitations.accept_as_new_user(
            token=token, username=username, password=password, actor=by
        )
    if user != request.user or invitation.user is not None:
        login(request, user, backend=LOGIN_BACKEND)
        audit_session(request, "session.login")
    _act_for(request, invitation)


def actor_of(request: HttpRequest) -> Actor:
    user = request.user
    return Actor(
        name=f"user:{user.get_username()}" if isinstance(user, User) else "nobody",
        remote_address=str(request.META.get("REMOTE_ADDR", "")),
        user_agent=str(request.META.get("HTTP_USER_AGENT", "")),
    )


def _act_for(request: HttpRequest, invitation: Invitation) -> None:
    """The tenant that one has joined is the one that is shown next."""
    if invitation.tenant is not None:
        request.session[SESSION_TENANT] = invitation.tenant.slug


def _forget(request: HttpRequest, user: User) -> None:
    for throttle in login_throttles(user.get_username()):
        throttle.forget(request)
