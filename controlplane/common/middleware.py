"""What every request goes through: an id, the headers for browsers, the rate of its address."""

import re
from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin

from controlplane.common.ids import new_id
from controlplane.common.problems import DatabaseAway, TooManyRequests
from controlplane.common.ratelimit import ADDRESS, network_of, seconds_to_wait
from controlplane.common.views import problem_response

_SANE = re.compile(r"[A-Za-z0-9._-]{8,64}")
DATA_SECURITY_POLICY = "default-src 'none'; frame-ancestors 'none'"
LIMITED = ("/api", "/console/", "/healthz", "/readyz", "/metrics")
"""What costs more than a file of the build."""


def request_id_of(given: str) -> str:
    """The caller's own id when it is a sane one, else a fresh one."""
    return given if _SANE.fullmatch(given) else new_id("rq")


@sync_and_async_middleware
def RequestIdMiddleware(  # noqa: N802 - middleware are named like classes in settings
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    from asgiref.sync import iscoroutinefunction

    def mark(request: HttpRequest) -> str:
        request_id = request_id_of(request.headers.get("X-Request-Id", ""))
        request.request_id = request_id  # type: ignore[attr-defined] # read by the handler
        return request_id

    if iscoroutinefunction(get_response):

        async def asynchronous(request: HttpRequest) -> HttpResponseBase:
            request_id = mark(request)
            response: HttpResponseBase = await get_response(request)
            response["X-Request-Id"] = request_id
            return response

        return asynchronous  # type: ignore[return-value] # Django takes both kinds

    def synchronous(request: HttpRequest) -> HttpResponseBase:
        request_id = mark(request)
        response = get_response(request)
        response["X-Request-Id"] = request_id
        return response

    return synchronous


class SecurityHeadersMiddleware(MiddlewareMixin):
    """What Django's own do not set. Data has nothing to load; a page only what is its own."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        is_page = response.headers.get("Content-Type", "").startswith("text/html")
        policy = settings.PAGE_SECURITY_POLICY if is_page else DATA_SECURITY_POLICY
        # A 304 has no type, and its headers replace the kept answer's: that keeps its own policy.
        if response.status_code != HTTPStatus.NOT_MODIFIED:
            response.headers.setdefault("Content-Security-Policy", policy)
        if is_page:
            # Browsers ask it of documents alone, and a first view has many other files.
            permissions = "camera=(), geolocation=(), microphone=()"
            response.headers.setdefault("Permissions-Policy", permissions)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        if request.path.startswith(LIMITED):
            response.headers.setdefault("Cache-Control", "no-store")
        return response


class DatabaseAwayMiddleware(MiddlewareMixin):
    """What views outside DRF say while the database is away; the others' errors are DRF's."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, OperationalError | InterfaceError):
            return None
        return problem_response(request, DatabaseAway())


class AddressLimitMiddleware(MiddlewareMixin):
    """Before anybody is asked who they are; a forwarded address counts if its proxy is trusted."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if not request.path.startswith(LIMITED):
            return None
        wait_s = seconds_to_wait(ADDRESS, network_of(str(request.META.get("REMOTE_ADDR", ""))))
        if wait_s is None:
            return None
        refused = TooManyRequests(f"Try again in {wait_s} s.", retry_after_s=wait_s)
        return problem_response(request, refused)
