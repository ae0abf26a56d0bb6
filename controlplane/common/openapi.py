"""How every operation is documented: its tag, its answers, its problems."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from controlplane.common.serializers import ProblemSerializer

PROBLEM = OpenApiResponse(ProblemSerializer, description="A problem (RFC 9457)")
CURSOR = OpenApiParameter("cursor", str, description="From page.next of the page before.")
PAGE_SIZE = OpenApiParameter("page_size", int, description="1 to 500, 50 by default.")
IDEMPOTENCY = OpenApiParameter(
    "Idempotency-Key",
    str,
    location=OpenApiParameter.HEADER,
    description="The same key and body gets the first answer again, for a day.",
)
SEARCH = OpenApiParameter("q", str, description="A part of the name, in any case.")
PAGED = [CURSOR, PAGE_SIZE]


def documented(
    operation_id: str,
    *,
    answers: dict[Any, Any],
    body: Any = None,
    parameters: list[OpenApiParameter] | None = None,
    tag: str,
    summary: str,
) -> Callable[[Any], Any]:
    """`extend_schema` with the problems that every operation may answer.

    The query parameters named here are the only ones that `TenantView` lets through.
    """
    shown = parameters or []
    query = frozenset(row.name for row in shown if row.location == OpenApiParameter.QUERY)

    def applied(handler: Any) -> Any:
        writes = handler.__name__ != "get"
        described: Callable[[Any], Any] = extend_schema(
            operation_id=operation_id,
            request=body,
            responses=_responses(answers, writes=writes, takes=body is not None, asks=bool(shown)),
            parameters=shown,
            tags=[tag],
            summary=summary,
        )
        handler = described(handler)
        handler.query_names = query
        return handler

    return applied


def _responses(answers: dict[Any, Any], *, writes: bool, takes: bool, asks: bool) -> dict[Any, Any]:
    """The answers in words, and the problems that fit: a write conflicts, a body is malformed."""
    found: dict[Any, Any] = {}
    for status, shape in answers.items():
        described = isinstance(shape, OpenApiResponse) or not isinstance(status, int)
        phrase = "" if described else HTTPStatus(status).phrase
        found[status] = shape if described else OpenApiResponse(shape, description=phrase)
    refusals = [401, 403, 404, 503]
    refusals += [409] if writes else []
    refusals += [400, 413, 415] if takes else []
    refusals += [422] if takes or asks else []
    for status in refusals:
        found.setdefault((status, "application/problem+json"), PROBLEM)
    return found


def refuse_unknown_fields(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Says in the document what `Shape` does: a body may hold nothing but what is named."""
    for name, schema in result["components"]["schemas"].items():
        if name.endswith("Request") and schema.get("type") == "object":
            schema.setdefault("additionalProperties", False)
    return result
