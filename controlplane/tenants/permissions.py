"""One permission class for all of `/api/v1`: resolves the tenant, then checks what the caller may.

No credential → 401. A tenant the caller is no member of → 404 (never 403, which would show
that it exists). What no grant of the caller can allow → 403. Whether a grant covers the very
thing is asked where it is named: by selectors (404) and by the engine for plans (403).
"""

from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from controlplane.common.grants import OWNER, Area, Scope, Verb, scope_of
from controlplane.common.problems import Forbidden, NotFound
from controlplane.tenants.context import AccessContext, actor_of
from controlplane.tenants.models import CLOSED, KEY_ROLES, ApiKey, Membership, Tenant
from controlplane.tenants.standing import SignedIn, live_key, session_scope_now

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
            raise NotFound("The API has nothing at this address.")
        if not isinstance(user, User) or not user.is_active:
            raise NotAuthenticated
        if not user.is_staff:
            raise NotFound("The API has nothing at this address.")
        request.operator = actor_of(  # type: ignore[attr-defined] # OperatorView.actor reads it
            request, f"user:{user.get_username()}", scope_of(OWNER, [])
        )
        return True


NEEDED = {
    Verb.READ: "a role that reads this",
    Verb.WRITE: "the role operator, or a key with scope write",
    Verb.ADMINISTER: "the role owner, signed in",
    Verb.BROWSE: "a role that reads messages: message-reader, operator or owner",
    Verb.PRODUCE: "a role that writes messages: message-writer, operator or owner",
}


class TenantPermission(BasePermission):
    """Sets `request.access`, and refuses what no grant of the caller can allow."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        access = access_of(request)
        request.access = access  # type: ignore[attr-defined] # TenantView.access reads it
        verb, area = need_of(view, request.method or "")
        if request.method not in SAFE_METHODS and access.is_suspended:
            raise Forbidden(
                "The tenant is suspended: it can be read, and nothing in it changed.",
                code="tenant-suspended",
            )
        allowed = access.scope.may_touch(verb, area)
        if verb is Verb.ADMINISTER:
            allowed = access.may_administer
        if not allowed:
            wider = " on the whole tenant" if area is Area.TENANT and access.is_limited else ""
            raise Forbidden(f"This needs {NEEDED[verb]}{wider}.")
        return True


def need_of(view: Any, method: str) -> tuple[Verb, Area]:
    """What a view asks for: its `needs` for writes, its `reads` for reads, its `area`.

    A view without an area of its own is about the whole tenant: who has grants over a part does
    not come in before somebody has said how the view keeps to that part.
    """
    area = Area(getattr(view, "area", Area.TENANT))
    if method in SAFE_METHODS:
        return Verb(getattr(view, "reads", Verb.READ)), area
    return Verb(getattr(view, "needs", Verb.WRITE)), area


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
        raise NotFound("Tenant not found.")
    role = KEY_ROLES.get(key.scope, "")
    return AccessContext(
        tenant=key.tenant,
        actor=actor_of(
            request,
            f"key:{key.name}",
            key_scope(key),
            lambda: key_scope(live_key(key.pk)),
        ),
        role=role,
        grants=key.grants,
        is_key=True,
    )


def key_scope(key: ApiKey) -> Scope:
    """What both the key's own grants and its maker's present ones allow.

    Keys that `manage.py` made, and those of before makers were kept, have nobody's to keep to.

    Raises:
        Forbidden: the maker may do nothing in the tenant any more.
    """
    own = scope_of(KEY_ROLES.get(key.scope, ""), key.grants)
    if key.maker_id is None:
        return own
    makers = maker_scope(key.tenant_id, key.maker_id)
    if makers is None:
        raise Forbidden(
            "Whoever made this API key may do nothing in the tenant any more. An owner who"
            " rotates the key becomes its maker.",
            code="key-maker-left",
        )
    return own.within(makers)


def maker_scope(tenant_id: str, user_id: int) -> Scope | None:
    """What a user may do in the tenant now, as `user_access` has it; None: nothing at all."""
    members = Membership.objects.select_related("user")
    member = members.filter(tenant_id=tenant_id, user_id=user_id, user__is_active=True).first()
    if member is not None:
        return scope_of(member.role, member.grants)
    operators = User.objects.filter(pk=user_id, is_active=True, is_staff=True)
    return scope_of(OWNER, []) if operators.exists() else None


def user_access(request: Any, user: User) -> AccessContext:
    """The tenant of the header, else of the session, else the first one of the user."""
    asked = request.headers.get(TENANT_HEADER) or request.session.get(SESSION_TENANT)
    memberships = Membership.objects.select_related("tenant").filter(user=user)
    memberships = memberships.exclude(tenant__state=CLOSED)
    if asked:
        memberships = memberships.filter(tenant__slug=asked)
    membership = memberships.order_by("pk").first()
    if membership is not None:
        tenant, role, grants = membership.tenant, membership.role, membership.grants
    else:
        tenant, role, grants = _staff_tenant(user, asked), OWNER, []
    signed_in = SignedIn(request.session.session_key or "", user.pk, tenant.pk)
    return AccessContext(
        tenant=tenant,
        actor=actor_of(
            request,
            f"user:{user.get_username()}",
            scope_of(role, grants),
            lambda: session_scope_now(signed_in),
        ),
        role=role,
        grants=grants,
        is_staff=user.is_staff,
    )


def _staff_tenant(user: User, asked: str | None) -> Tenant:
    """A platform operator may act for any tenant, one at a time."""
    found = None
    if user.is_staff:
        tenants = Tenant.objects.exclude(state=CLOSED).order_by("pk")
        found = (tenants.filter(slug=asked) if asked else tenants).first()
    if found is None:
        raise NotFound("Tenant not found.")
    return found
