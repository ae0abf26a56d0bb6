"""The bases of every view under `/api/v1`."""

from typing import Any, cast

from django.contrib.auth.models import User
from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from controlplane.audit.services import refusal_record
from controlplane.common.grants import NOTHING, Area, Scope, Verb
from controlplane.common.parsers import is_storable
from controlplane.common.problems import NotFound, field_problem
from controlplane.common.ratelimit import network_of
from controlplane.tenants.context import AccessContext, actor_of
from controlplane.tenants.models import Tenant

RECORDED = frozenset({401, 403, 404, 409, 412, 422, 428, 429})
"""Refusals that say what somebody tried; what cannot be read at all says nothing."""
PATH_MAX = 300


def record_refusal(request: Any, response: Response) -> None:
    access: AccessContext | None = getattr(request, "access", None)
    actor = access.actor if access else actor_of(request, _claimed(request), NOTHING)
    refused = response.data if isinstance(response.data, dict) else {}
    path = request.path[:PATH_MAX]
    refusal_record(
        # Nobody's tenant before it is known who asks: such rows are the platform's own.
        tenant_id=access.tenant.pk if access else "",
        actor=actor,
        who=actor.credential or network_of(actor.remote_address),
        action=f"refused.{response.status_code}",
        resource=path,
        data={
            "method": request.method,
            "path": path,
            "status": response.status_code,
            "code": refused.get("code"),
            "detail": refused.get("detail"),
            **(_asked_for(request) if access else {}),
        },
    )


def _asked_for(request: Any) -> dict[str, Any]:
    """Of the body only what names the thing; whoever came this far may have it parsed."""
    try:
        body = request.data
    except APIException:
        return {}
    names = ("kind", "cluster_id", "plan_id")
    return {name: body[name] for name in names if isinstance(body, dict) and name in body}


def _claimed(request: Any) -> str:
    """Who is signed in without any right here, else nobody: what a caller says is not believed."""
    user = getattr(request, "user", None)
    return f"user:{user.get_username()}" if isinstance(user, User) else "nobody"


class CheckedView(APIView):
    """Asks who it is, then takes nothing but the query parameters that are documented."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Who asks and for which tenant first; then whether the address makes sense."""
        super().initial(request, *args, **kwargs)
        if not all(is_storable(str(value)) for value in kwargs.values()):
            raise NotFound
        handler = getattr(self, (request.method or "").lower(), None)
        known: frozenset[str] = getattr(handler, "query_names", frozenset())
        for name, values in request.query_params.lists():
            if name not in known:
                offered = ", ".join(sorted(known)) or "none"
                raise field_problem(
                    f"/{name}", f"There is no query parameter {name!r} here; known: {offered}."
                )
            if not is_storable("".join(values)):
                raise field_problem(f"/{name}", f"{name} holds a null or half a character.")

    def handle_exception(self, exc: Exception) -> Response:
        """A write that is refused leaves a row, whoever it was that asked."""
        response = super().handle_exception(exc)
        if response.status_code in RECORDED and self.request.method not in SAFE_METHODS:
            record_refusal(self.request, response)
        return response


class TenantView(CheckedView):
    """Gives a view its tenant and what the caller may.

    Attributes:
        needs: the verb of its writes; reads need `read`.
        area: what it is about. Any other than the whole tenant says that the view itself keeps to
            the scope, so that callers with grants over a part are let in.
    """

    needs: Verb = Verb.WRITE
    area: Area = Area.TENANT

    @property
    def access(self) -> AccessContext:
        return cast("AccessContext", self.request.access)  # type: ignore[attr-defined] # set by TenantPermission

    @property
    def scope(self) -> Scope:
        return self.access.scope

    @property
    def tenant(self) -> Tenant:
        return self.access.tenant
