"""One permission class for all of `/api/v1`: resolves the tenant, then checks the role.

No credential → 401. A tenant the caller is no member of → 404 (never 403, which would show
that it exists). A write without the right role or scope → 403.
"""

from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from controlplane.common.problems import Forbidden, NotFound
from controlplane.tenants.context import AccessContext, actor_of
from controlplane.tenants.models import (
    CLOSED,
    OPERATOR,
    OWNER,
    VIEWER,
    WRITE,
    ApiKey,
    Membership,
    Tenant,
)

if TYPE_CHECKING:
    from rest_framework.views import APIView

TENANT_HEADER = "X-Penstock-Tenant"
SESSION_TENANT = "penstock_tenant"


class OperatorPermission(BasePermission):
    """Operators of the platform, signed in; to everybody else there is nothing at the address.

    Sets `request.operator`, the actor. Keys are a tenant's, so none is an operator.
    """

    def has_permission(self, request: Request, view: "APIView") -> bool:  # noqa: ARG002 - a hook
        user = request.user
        if isinstance(request.auth, ApiKey):
            raise NotFound("There is no such resource in the API.")
        if not isinstance(user, User) or not user.is_active:
            raise NotAuthenticated
        if not user.is_staff:
            raise NotFound("There is no such resource in the API.")
        request.operator = actor_of(  # type: ignore[attr-defined] # OperatorView.actor reads it
            request, f"user:{user.get_username()}"
        )
        return True


class TenantPermission(BasePermission):
    """Sets `request.access`; a view may say `needs = "administer"` for owners' endpoints."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        access = access_of(request)
        request.access = access  # type: ignore[attr-defined] # TenantView.access reads it
        if request.method in SAFE_METHODS:
            return True
        if access.is_suspended:
            raise Forbidden(
                "The tenant is suspended: it can be read, and nothing in it changed.",
                code="tenant-suspended",
            )
        needs = getattr(view, "needs", "write")
        allowed, needed = {
            "write": (access.may_write, "the role operator, or a key with scope write"),
            "administer": (access.may_administer, "the role owner, signed in"),
        }[needs]
        if not allowed:
            raise Forbidden(f"This needs {needed}.")
        return True


def access_of(request: Request) -> AccessContext:
    if isinstance(request.auth, ApiKey):
        return _key_access(request, request.auth)
    user = request.user
    if not isinstance(user, User) or not user.is_active:
        raise NotAuthenticated
    return user_access(request, user)


def _key_access(request: Request, key: ApiKey) -> AccessContext:
    asked = request.headers.get(TENANT_HEADER)
    if asked and asked != key.tenant.slug:
        raise NotFound("There is no such tenant.")
    return AccessContext(
        tenant=key.tenant,
        actor=actor_of(request, f"key:{key.name}"),
        role=OPERATOR if key.scope == WRITE else VIEWER,
        is_key=True,
    )


def user_access(request: Any, user: User) -> AccessContext:
    """The tenant of the header, else of the session, else the first one of the user."""
    asked = request.headers.get(TENANT_HEADER) or request.session.get(SESSION_TENANT)
    memberships = Membership.objects.select_related("tenant").filter(user=user)
    memberships = memberships.exclude(tenant__state=CLOSED)
    if asked:
        memberships = memberships.filter(tenant__slug=asked)
    membership = memberships.order_by("pk").first()
    if membership is not None:
        tenant, role = membership.tenant, membership.role
    else:
        tenant, role = _staff_tenant(user, asked), OWNER
    return AccessContext(
        tenant=tenant,
        actor=actor_of(request, f"user:{user.get_username()}"),
        role=role,
        is_staff=user.is_staff,
    )


def _staff_tenant(user: User, asked: str | None) -> Tenant:
    """A platform operator may act for any tenant, one at a time."""
    found = None
    if user.is_staff:
        tenants = Tenant.objects.exclude(state=CLOSED).order_by("pk")
        found = (tenants.filter(slug=asked) if asked else tenants).first()
    if found is None:
        raise NotFound("There is no such tenant.")
    return found
