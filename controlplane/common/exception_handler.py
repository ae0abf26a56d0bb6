"""Every refusal of the REST API in one shape, whoever raised it."""

import logging
import math
from typing import Any, Protocol, runtime_checkable

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions
from rest_framework.response import Response

from controlplane.common.problems import (
    DatabaseAway,
    Forbidden,
    Invalid,
    NotFound,
    Problem,
    TooManyRequests,
    pointer_of,
)

log = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"


@runtime_checkable
class HasProblem(Protocol):
    """An error of an app above that knows how it reads over REST."""

    def as_problem(self) -> Problem: ...


def problem_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception hook. Returns None only for programmer errors, which become a 500."""
    problem = to_problem(error)
    if problem is None:
        log.error("unhandled error in %s", type(context.get("view")).__name__, exc_info=error)
        problem = Problem(
            "The service failed on its side; the request id finds it in the log.",
            status=500,
            code="internal",
            retryable=True,
        )
    request = context.get("request")
    body = problem.as_dict()
    body["request_id"] = getattr(request, "request_id", None)
    body["instance"] = getattr(request, "path", None)
    response = Response(body, status=problem.status, content_type=MEDIA_TYPE)
    if isinstance(error, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        response["WWW-Authenticate"] = "Bearer"
    if problem.retry_after_s is not None:
        response["Retry-After"] = str(problem.retry_after_s)
    return response


def to_problem(error: Exception) -> Problem | None:
    if isinstance(error, Problem):
        return error
    if isinstance(error, HasProblem):
        return error.as_problem()
    if isinstance(error, exceptions.APIException):
        return _from_api_exception(error)
    return _from_django(error)


def _from_django(error: Exception) -> Problem | None:
    if isinstance(error, Http404):
        return NotFound()
    if isinstance(error, PermissionDenied):
        return Forbidden(str(error))
    if isinstance(error, SuspiciousOperation | BadRequest | MultiPartParserError):
        return Problem("The request cannot be read.")  # its own words quote what was sent
    if isinstance(error, OperationalError | InterfaceError):
        return DatabaseAway()
    return None


def _from_api_exception(error: exceptions.APIException) -> Problem:
    if isinstance(error, exceptions.ValidationError):
        rows = list(_flatten(error.get_full_details(), ""))
        return Invalid(_summary(rows), errors=rows)
    status, code, title = _REFUSALS.get(
        type(error), (error.status_code, "bad-request", Problem.title)
    )
    if isinstance(error, exceptions.Throttled):
        wait_s = math.ceil(getattr(error, "wait", None) or 1)
        return TooManyRequests(f"Try again in {wait_s} s.", retry_after_s=wait_s)
    problem = Problem(str(error.detail), status=status, code=code)
    problem.title = title
    return problem


_REFUSALS: dict[type[exceptions.APIException], tuple[int, str, str]] = {
    exceptions.NotAuthenticated: (401, "unauthenticated", "Not signed in"),
    exceptions.AuthenticationFailed: (401, "unauthenticated", "The credentials are not valid"),
    exceptions.PermissionDenied: (403, "forbidden", Forbidden.title),
    exceptions.ParseError: (400, "malformed", "The body cannot be read"),
    exceptions.MethodNotAllowed: (405, "method-not-allowed", "Method not allowed"),
    exceptions.UnsupportedMediaType: (
        415,
        "unsupported-media-type",
        "Unsupported media type",
    ),
    exceptions.NotAcceptable: (406, "not-acceptable", "Not acceptable"),
}


def _summary(rows: list[dict[str, str]]) -> str:
    """The first few rows in one sentence each, for people who read only the detail."""
    lines = [f"{_field(row['pointer'])}: {row['detail']}" for row in rows[:3]]
    more = f" And {len(rows) - 3} more." if len(rows) > 3 else ""
    return " ".join(lines) + more


def _field(pointer: str) -> str:
    """What people call the field of a JSON pointer: its own name; an item's with its number."""
    names = pointer.split("/")[1:]
    if not names:
        return "The body"
    if names[-1].isdigit():
        return " ".join([*names[-2:-1], str(int(names[-1]) + 1)])
    return names[-1].replace("~1", "/").replace("~0", "~")


def _flatten(details: Any, pointer: str) -> Any:
    """DRF's nested details as RFC 9457 style rows {pointer, code, detail}."""
    if isinstance(details, dict) and "message" in details and "code" in details:
        yield {"pointer": pointer, "code": details["code"], "detail": str(details["message"])}
    elif isinstance(details, dict):
        for key, value in details.items():
            yield from _flatten(
                value, pointer if key == "non_field_errors" else pointer + pointer_of(key)
            )
    elif isinstance(details, list):
        leaf = all(isinstance(item, dict) and "message" in item for item in details)
        for index, value in enumerate(details):
            yield from _flatten(value, pointer if leaf else f"{pointer}/{index}")
