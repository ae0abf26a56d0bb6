"""Sign-in for people: who am I, sign in, sign out, switch tenant."""

import math
from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.middleware.csrf import get_token

from console.throttle import USERNAME_MAX, login_throttles
from controlplane.audit.services import Actor, audit_record, refusal_record
from controlplane.common.grants import Verb
from controlplane.common.problems import NotFound, Problem
from controlplane.common.ratelimit import SIGN_IN, network_of, seconds_to_wait
from controlplane.tenants.context import AccessContext
from controlplane.tenants.models import Membership
from controlplane.tenants.permissions import SESSION_TENANT, user_access
from controlplane.tenants.selectors import tenant_dict, user_tenants

NO_TENANT: dict[str, Any] = {
    "tenant": None,
    "can_write": False,
    "can_write_tenant": False,
    "writes": [],
    "browses": [],
}


class WrongCredentials(Problem):
    status, code, title = 401, "wrong-credentials", "User name or password is wrong"


class TooManyAttempts(Problem):
    status, code, title = 429, "slow-down", "Too many attempts to sign in"


class PasswordsOff(Problem):
    status, code, title = 403, "passwords-off", "Passwords are switched off here"


class SignedOut(Problem):
    status, code, title = 401, "unauthenticated", "Not signed in"


def access_of(request: HttpRequest) -> AccessContext:
    """Who asks and for which tenant, where no view of the REST API's kind says so.

    Raises:
        SignedOut: no live session.
        NotFound: the session's tenant is none of the user's.
    """
    user = request.user
    if not isinstance(user, User) or not user.is_active:
        raise SignedOut
    return user_access(request, user)


def session_dict(request: HttpRequest) -> dict[str, Any]:
    """Who is signed in, for which tenant; also plants the CSRF cookie."""
    base: dict[str, Any] = {
        "csrf_token": get_token(request),
        "sign_in": {
            "passwords": settings.PASSWORD_SIGN_IN,
            "provider": settings.OIDC_NAME if settings.OIDC_ISSUER else None,
        },
    }
    user = request.user
    if not isinstance(user, User):
        return {**base, **NO_TENANT, "user": None, "tenants": []}
    base["user"] = {
        "username": user.get_username(),
        "email": user.email,
        "is_staff": user.is_staff,
    }
    base["tenants"] = user_tenants(user)
    try:
        access = user_access(request, user)
    except NotFound:
        request.session.pop(SESSION_TENANT, None)
        return {**base, **NO_TENANT}
    return {
        **base,
        "tenant": tenant_dict(access.tenant, access.role),
        "can_write": access.may_write,
        "can_write_tenant": access.may_write_tenant,
        "writes": [] if access.is_suspended else granted(access, Verb.WRITE),
        "browses": granted(access, Verb.BROWSE),
    }


def granted(access: AccessContext, verb: Verb) -> list[dict[str, Any]]:
    """Where the session may do this, as patterns: so that nothing is offered that ends in 403.

    It is said to whom it concerns and decides nothing: each request is asked for itself. A session
    has one layer of grants; of several no single one would say what is allowed.
    """
    if len(access.scope.layers) != 1:
        return []
    return [
        {name: value for name, value in grant.as_row().items() if name != "role"}
        for grant in access.scope.layers[0]
        if verb in grant.verbs
    ]


def sign_in(request: HttpRequest, username: str, password: str) -> None:
    """Open a session.

    Raises:
        PasswordsOff: nobody signs in by a password here.
        WrongCredentials: and the attempt counts.
        TooManyAttempts: this one has to wait.
    """
    check_passwords_on()
    slow_down(request)
    throttles = login_throttles(username)
    for throttle in throttles:
        if not throttle.allow_request(request):
            wait_s = math.ceil(throttle.wait())
            raise TooManyAttempts(f"Try again in {wait_s} s.", retry_after_s=wait_s)
    user = authenticate(request, username=username, password=password)
    if user is None:
        _audit_failed(request, username, str(request.META.get("REMOTE_ADDR", "")))
        raise WrongCredentials("Check both and try again.")
    for throttle in throttles:
        throttle.forget(request)
    login(request, user)
    audit_session(request, "session.login")


def check_passwords_on() -> None:
    """Raises PasswordsOff."""
    if not settings.PASSWORD_SIGN_IN:
        raise PasswordsOff("Sign in by the OpenID provider.")


def slow_down(request: HttpRequest) -> None:
    """One address attempts so much in all: names are for the asking, and each costs a hash.

    Raises:
        TooManyAttempts: it has had its share.
    """
    address = network_of(str(request.META.get("REMOTE_ADDR", "")))
    wait_s = seconds_to_wait(SIGN_IN, address)
    if wait_s is not None:
        raise TooManyAttempts(f"Try again in {wait_s} s.", retry_after_s=wait_s)


def sign_out(request: HttpRequest) -> None:
    if isinstance(request.user, User):
        audit_session(request, "session.logout")
    logout(request)


def choose_tenant(request: HttpRequest, user: User, slug: str) -> None:
    """Raises NotFound for a tenant that is none of the user's."""
    if slug not in {tenant["slug"] for tenant in user_tenants(user)}:
        raise NotFound("Tenant not found.")
    request.session[SESSION_TENANT] = slug


def _audit_failed(request: HttpRequest, username: str, address: str) -> None:
    """A wrong password shows in each tenant that the login belongs to.

    A name that nobody has belongs to no tenant: its row is the platform's own (empty tenant).
    """
    shown = username[:USERNAME_MAX]
    user = User.objects.filter(username=username).first() if shown == username else None
    tenants = Membership.objects.filter(user=user).values_list("tenant_id", flat=True)
    actor = Actor(
        name=f"user:{shown}",
        remote_address=address,
        user_agent=str(request.META.get("HTTP_USER_AGENT", "")),
        request_id=str(getattr(request, "request_id", "")),
    )
    for tenant_id in list(tenants) or [""]:
        refusal_record(
            tenant_id=tenant_id,
            actor=actor,
            who=network_of(address),
            action="session.login_failed",
            resource=f"user/{shown}",
            data={"username": shown},
        )


def audit_session(request: HttpRequest, action: str) -> None:
    """A sign-in belongs to the tenant that it leads to; a user without one leaves no row."""
    user = request.user
    if not isinstance(user, User):
        return
    try:
        access = user_access(request, user)
    except NotFound:
        return
    audit_record(
        tenant_id=access.tenant.id,
        actor=access.actor,
        action=action,
        resource=f"user/{user.get_username()}",
    )
