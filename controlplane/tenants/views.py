"""The bases of every view under `/api/v1`."""

from typing import Any, cast

from rest_framework.request import Request
from rest_framework.views import APIView

from controlplane.common.grants import Area, Scope, Verb
from controlplane.common.parsers import is_storable
from controlplane.common.problems import NotFound, field_problem
from controlplane.tenants.context import AccessContext
from controlplane.tenants.models import Tenant


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
