"""The bases of every view under `/api/v1`: what each request is checked for and answered with."""

import functools
from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from controlplane.audit.services import refusal_record
from controlplane.common import etags
from controlplane.common.grants import NOTHING, Area, Scope, Verb
from controlplane.common.idempotency import Caller, carry_out_once, key_of
from controlplane.common.metrics import PRECONDITIONS_FAILED
from controlplane.common.openapi import IDEMPOTENCY, IF_MATCH, IF_NONE_MATCH
from controlplane.common.parsers import is_storable
from controlplane.common.problems import NotFound, field_problem
from controlplane.common.ratelimit import network_of
from controlplane.gateway.patience import patience
from controlplane.tenants.context import AccessContext, actor_of, principal_of
from controlplane.tenants.models import Tenant

RECORDED = frozenset({401, 403, 404, 409, 412, 422, 428, 429})
"""Refusals that say what somebody tried; what cannot be read at all says nothing."""
PATH_MAX = 300
WRITES = ("post", "put", "patch", "delete")
LIST = "data"
"""The field of an answer that is a list, which as a rule has no tag."""


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


Handler = Callable[..., Response]


def _carefully(handler: Handler) -> Handler:
    """The handler of a write under what its request's headers ask for."""

    @functools.wraps(handler)
    def carried_out(view: "CheckedView", request: Request, **address: str) -> Response:
        return view.carry_out(request, address, lambda: handler(view, request, **address))

    return carried_out


class CheckedView(APIView):
    """Asks who it is, then takes nothing but the query parameters that are documented.

    A POST is carried out once per `Idempotency-Key`; a write with `If-Match` only if the resource
    is still as it was read, which is asked in the transaction of the write.

    Attributes:
        asks_outside: its writes ask brokers or hosts meanwhile. No transaction waits for those, so
            what such a write makes has to be safe to make twice, or refuse it.
        shows_secret: the answers of its POSTs hold a secret that is shown this once.
        tags_list: its list is asked for again and again, and gets a tag as a resource has.
    """

    asks_outside: bool = False
    shows_secret: bool = False
    tags_list: bool = False
    known_tags: etags.Precondition | None = None

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name in WRITES:
            if name in cls.__dict__:
                setattr(cls, name, _carefully(cls.__dict__[name]))

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        is_read = request.method in SAFE_METHODS
        # Whoever is silent, a read answers within it with what is known.
        with patience(settings.READ_PATIENCE_S if is_read else None):
            return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Who asks and for which tenant first; then whether the address makes sense."""
        super().initial(request, *args, **kwargs)
        if not all(is_storable(str(value)) for value in kwargs.values()):
            raise NotFound
        if request.method in SAFE_METHODS:
            self.known_tags = etags.precondition(
                "If-None-Match", request.headers.get("If-None-Match")
            )
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

    def carry_out(
        self, request: Request, address: dict[str, str], work: Callable[[], Response]
    ) -> Response:
        """A write under what its headers ask for: once, and if the resource is as it was read."""
        wanted = etags.precondition("If-Match", request.headers.get("If-Match"))
        guarded = work if wanted is None else functools.partial(self._if, wanted, address, work)
        key = key_of(request) if request.method == "POST" else None
        if key is None:
            return guarded()
        access: AccessContext | None = getattr(request, "access", None)
        return carry_out_once(
            request,
            key,
            Caller(tenant_id=access.tenant.pk if access else "", principal=principal_of(request)),
            guarded,
            in_one_transaction=not self.asks_outside,
            shows_secret=self.shows_secret,
        )

    def _if(
        self, wanted: etags.Precondition, address: dict[str, str], work: Callable[[], Response]
    ) -> Response:
        if self.asks_outside:
            self._require(wanted, address)
            return work()
        with transaction.atomic():
            self._require(wanted, address)
            return work()

    def _require(self, wanted: etags.Precondition, address: dict[str, str]) -> None:
        if not wanted.has(self.held(**address)[etags.FIELD]):
            PRECONDITIONS_FAILED.inc()
            raise etags.PreconditionFailed(
                "Somebody else has changed it meanwhile, and nothing was written. Read it again,"
                " and decide by what it is now."
            )

    def held(self, **address: str) -> dict[str, Any]:
        """What `If-Match` is about here: the resource with its tag, as GET shows it.

        Its row is locked first, so that it stays as it is until the transaction has ended.
        """
        del address
        raise etags.PreconditionFailed(
            "Nothing at this address has a tag that If-Match could name."
        )

    @classmethod
    def documented_headers(cls, method: str) -> list[OpenApiParameter]:
        """Those of its requests that the document names; `method` in capitals."""
        if method in SAFE_METHODS:
            return [IF_NONE_MATCH] if cls.tags_list else []
        conditional = [IF_MATCH] if cls.held is not CheckedView.held else []
        return [*([IDEMPOTENCY] if method == "POST" else []), *conditional]

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """A resource that is read gets its tag, and nothing else when it is known already."""
        if isinstance(response, Response) and isinstance(response.data, dict):
            response = self._tagged(request, response, response.data)
        return super().finalize_response(request, response, *args, **kwargs)

    def _tagged(self, request: Request, response: Response, shown: dict[str, Any]) -> Response:
        own = shown.get(etags.FIELD)
        if response.status_code == 201 and own:
            response["ETag"] = own
        if response.status_code != 200 or request.method not in SAFE_METHODS:
            return response
        if LIST in shown:
            return self._tagged_list(response, shown) if self.tags_list else response
        response["ETag"] = own or etags.tag_of(shown)
        # A tag that leaves out what is observed does not say that all is as it was.
        if not own and self.known_tags is not None and self.known_tags.has_weakly(response["ETag"]):
            return Response(status=304, headers={"ETag": response["ETag"]})
        return response

    def _tagged_list(self, response: Response, shown: dict[str, Any]) -> Response:
        """Compared weakly: a cursor is sealed anew each time and leads to the same place."""
        page = {**shown.get("page", {}), "next": None}
        tag = etags.tag_of({**shown, "page": page})
        response["ETag"] = f"W/{tag}"
        if self.known_tags is not None and self.known_tags.has_weakly(tag):
            return Response(status=304, headers={"ETag": response["ETag"]})
        return response

    def handle_exception(self, exc: Exception) -> Response:
        """A write that is refused leaves a row, whoever it was that asked."""
        response = super().handle_exception(exc)
        if response.status_code in RECORDED and self.request.method not in SAFE_METHODS:
            record_refusal(self.request, response)
        return response


class TenantView(CheckedView):
    """Gives a view its tenant and what the caller may.

    Attributes:
        needs: the verb of its writes.
        reads: that of its reads.
        area: what it is about. Any other than the whole tenant says that the view itself keeps to
            the scope, so that callers with grants over a part are let in.
    """

    needs: Verb = Verb.WRITE
    reads: Verb = Verb.READ
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
