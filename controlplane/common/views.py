"""Views that belong to no app: refusals outside DRF."""

from typing import Any

from django.http import HttpRequest, JsonResponse

from controlplane.common.exception_handler import MEDIA_TYPE
from controlplane.common.problems import Forbidden, NotFound, Problem


def csrf_failure(request: HttpRequest, reason: str = "") -> JsonResponse:
    problem = Forbidden(f"The CSRF check failed: {reason}", code="csrf-failed")
    return problem_response(request, problem)


def no_such_api(request: HttpRequest, **_: Any) -> JsonResponse:
    return problem_response(request, NotFound("There is no such resource in the API."))


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


def server_error(request: HttpRequest) -> JsonResponse:
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
