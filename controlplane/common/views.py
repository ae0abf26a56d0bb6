"""Views that belong to no app: refusals outside DRF."""

import functools
import sys
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.common.exception_handler import MEDIA_TYPE
from controlplane.common.problems import DatabaseAway, Forbidden, NotFound, Problem


class DocumentView(SpectacularJSONAPIView):  # type: ignore[misc] # untyped base
    """The OpenAPI document: made once, since whoever asks for it need not be signed in."""

    permission_classes = ()

    def _get_schema_response(self, request: Request) -> Response:  # noqa: ARG002 - a hook
        return Response(_document())


@functools.cache
def _document() -> Any:
    return SpectacularJSONAPIView.generator_class().get_schema(request=None, public=True)


def csrf_failure(request: HttpRequest, reason: str = "") -> JsonResponse:
    problem = Forbidden(f"The CSRF check failed: {reason}", code="csrf-failed")
    return problem_response(request, problem)


@csrf_exempt  # nothing is carried out; 404 for every method
def no_such_api(request: HttpRequest, **_: Any) -> JsonResponse:
    return problem_response(request, NotFound("The API has nothing at this address."))


@csrf_exempt  # nothing is carried out; 405 for what is no reading
def api_index(request: HttpRequest) -> JsonResponse:
    """Where the API begins: the addresses that need no id, relative to this host."""
    if request.method not in {"GET", "HEAD"}:
        refusal = Problem("Use GET.", status=405, code="method-not-allowed")
        response = problem_response(request, refusal)
        response["Allow"] = "GET, HEAD"
        return response
    links = {name: f"/api/v1/{path}" for name, path in API_LINKS.items()}
    return JsonResponse({"name": "Penstock", "version": "v1", "links": links})


API_LINKS = {
    "openapi": "openapi.json",
    "me": "me",
    "clusters": "clusters",
    "plans": "plans",
    "operations": "operations",
}


def bad_request(request: HttpRequest, exception: Exception) -> JsonResponse:
    """What Django refuses by itself: an unknown Host, an unreadable form, too many fields."""
    del exception  # it quotes what was sent
    return problem_response(request, Problem("The request cannot be read.", code="bad-request"))


def forbidden(request: HttpRequest, exception: Exception) -> JsonResponse:
    del exception
    return problem_response(request, Forbidden())


def not_found(request: HttpRequest, exception: Exception) -> JsonResponse:
    del exception
    return problem_response(request, NotFound("There is nothing at this address."))


def server_error(request: HttpRequest) -> JsonResponse:
    """Django asks for it while it handles the error; those of middleware come by here alone."""
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        return problem_response(request, DatabaseAway())
    return problem_response(
        request, Problem("The service failed on its side.", status=500, code="internal")
    )


def problem_response(request: HttpRequest, problem: Problem) -> JsonResponse:
    body = problem.as_dict()
    body["request_id"] = getattr(request, "request_id", None)
    body["instance"] = request.path
    response = JsonResponse(body, status=problem.status, content_type=MEDIA_TYPE)
    if problem.retry_after_s is not None:
        response["Retry-After"] = str(problem.retry_after_s)
    return response
