"""JSON doors of the console: problems as problem+json, like the REST API."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase, JsonResponse

from controlplane.common.problems import Problem
from controlplane.common.views import problem_response
from controlplane.tenants.context import AccessContext
from controlplane.tenants.permissions import user_access

BODY_BYTES_MAX = 16 * 1024


class SignedOut(Problem):
    status, code, title = 401, "signed-out", "You are not signed in"


View = Callable[..., HttpResponseBase]


def json_door(*methods: str) -> Callable[[View], View]:
    """Only these methods; refusals as problems."""

    def wrap(view: View) -> View:
        @wraps(view)
        def door(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method not in methods:
                refusal = Problem(
                    f"Use {' or '.join(methods)}.", status=405, code="method-not-allowed"
                )
                response: HttpResponseBase = problem_response(request, refusal)
                response["Allow"] = ", ".join(methods)
                return response
            try:
                return view(request, *args, **kwargs)
            except Problem as problem:
                return problem_response(request, problem)

        return door

    return wrap


def access_of(request: HttpRequest) -> AccessContext:
    """Who asks and for which tenant.

    Raises:
        SignedOut: no live session.
        NotFound: the session's tenant is none of the user's.
    """
    user = request.user
    if not isinstance(user, User) or not user.is_active:
        raise SignedOut
    return user_access(request, user)


def json_body(request: HttpRequest) -> dict[str, Any]:
    """The request's JSON object, bounded."""
    if len(request.body) > BODY_BYTES_MAX:
        raise Problem("The body is too large.", status=413, code="too-large")
    try:
        body = json.loads(request.body or b"{}")
    except ValueError as error:
        raise Problem("The body is not JSON.", code="malformed") from error
    if not isinstance(body, dict):
        raise Problem("The body has to be a JSON object.", code="malformed")
    return body


def answer(data: Any, status: int = 200) -> JsonResponse:
    response = JsonResponse(data, status=status)
    response["Cache-Control"] = "no-store"
    return response
