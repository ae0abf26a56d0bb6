"""Sign-in for people: who am I, sign in, sign out, switch tenant.

Guessing is slowed down per user name and address: after `FREE_ATTEMPTS` wrong passwords each
further try has to wait, at most `WAIT_MAX_S`.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.middleware.csrf import get_token

from controlplane.audit.services import Actor, audit_record
from controlplane.common.problems import NotFound, Problem
from controlplane.tenants.context import AccessContext
from controlplane.tenants.models import Membership
from controlplane.tenants.permissions import SESSION_TENANT, user_access
from controlplane.tenants.selectors import tenant_dict, user_tenants

FREE_ATTEMPTS = 5
WAIT_MAX_S = 60.0
REMEMBERED = 4096
USERNAME_MAX = 150


class WrongCredentials(Problem):
    status, code, title = 401, "wrong-credentials", "User name or password is wrong"


class SignedOut(Problem):
    status, code, title = 401, "unauthenticated", "Nobody is signed in"


class Attempts:
    """Failed sign-ins by (user name, address), bounded, in memory: one web process."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._failed: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()

    def wait_s(self, key: tuple[str, str]) -> float:
        """Seconds until this pair may try again."""
        count, at = self._failed.get(key, (0, 0.0))
        if count < FREE_ATTEMPTS:
            return 0.0
        pause_s = min(WAIT_MAX_S, 2.0 ** (count - FREE_ATTEMPTS))
        return max(0.0, at + pause_s - self._monotonic())

    def failed(self, key: tuple[str, str]) -> None:
        count, _ = self._failed.get(key, (0, 0.0))
        self._failed[key] = (count + 1, self._monotonic())
        self._failed.move_to_end(key)
        while len(self._failed) > REMEMBERED:
            self._failed.popitem(last=False)

    def succeeded(self, key: tuple[str, str]) -> None:
        self._failed.pop(key, None)


ATTEMPTS = Attempts()


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
    base: dict[str, Any] = {"csrf_token": get_token(request)}
    user = request.user
    if not isinstance(user, User):
        return {**base, "user": None, "tenant": None, "tenants": [], "can_write": False}
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
        return {**base, "tenant": None, "can_write": False}
    return {
        **base,
        "tenant": tenant_dict(access.tenant, access.role),
        "can_write": access.may_write,
    }


def sign_in(request: HttpRequest, username: str, password: str) -> None:
    """Open a session.

    Raises:
        WrongCredentials: and the next try may have to wait.
        Problem: 429, this try has to wait.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    key = (username[:USERNAME_MAX].lower(), address)
    wait_s = ATTEMPTS.wait_s(key)
    if wait_s > 0:
        raise Problem(
            f"Too many wrong passwords. Try again in {wait_s:.0f} s.",
            status=429,
            code="slow-down",
        )
    user = authenticate(request, username=username, password=password)
    if user is None:
        ATTEMPTS.failed(key)
        _audit_failed(request, username, address)
        raise WrongCredentials("Check both and try again.")
    ATTEMPTS.succeeded(key)
    login(request, user)
    _audit(request, "session.login")


def sign_out(request: HttpRequest) -> None:
    if isinstance(request.user, User):
        _audit(request, "session.logout")
    logout(request)


def choose_tenant(request: HttpRequest, user: User, slug: str) -> None:
    """Raises NotFound for a tenant that is none of the user's."""
    if slug not in {tenant["slug"] for tenant in user_tenants(user)}:
        raise NotFound("There is no such tenant.")
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
    )
    for tenant_id in list(tenants) or [""]:
        audit_record(
            tenant_id=tenant_id,
            actor=actor,
            action="session.login_failed",
            resource=f"user/{shown}",
            outcome="refused",
            data={"username": shown},
        )


def _audit(request: HttpRequest, action: str) -> None:
    """A sign-in belongs to the tenant that it leads to; a user without one leaves no row."""
    user = request.user
    if not isinstance(user, User):
        return
    try:
        access = user_access(request, user)
    except NotFound:
        return
    actor = Actor(
        name=access.actor.name,
        remote_address=access.actor.remote_address,
        user_agent=access.actor.user_agent,
    )
    audit_record(
        tenant_id=access.tenant.id,
        actor=actor,
        action=action,
        resource=f"user/{user.get_username()}",
    )
