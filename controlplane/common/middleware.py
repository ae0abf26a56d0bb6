"""A request id on every request, taken from the caller when it is a sane one."""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from controlplane.common.ids import new_id

_SANE = re.compile(r"[A-Za-z0-9._-]{8,64}")


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
