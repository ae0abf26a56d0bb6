"""How every operation is documented: its tag, its answers, its problems."""

from collections.abc import Callable
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
    responses: dict[Any, Any] = dict(answers)
    refusals = [401, 403, 404]
    if body is not None:
        refusals += [400, 413, 415]
    if body is not None or parameters:
        refusals.append(422)
    for status in refusals:
        responses.setdefault((status, "application/problem+json"), PROBLEM)
    described: Callable[[Any], Any] = extend_schema(
        operation_id=operation_id,
        request=body,
        responses=responses,
        parameters=parameters or [],
        tags=[tag],
        summary=summary,
    )
    query = frozenset(
        parameter.name
        for parameter in parameters or []
        if parameter.location == OpenApiParameter.QUERY
    )

    def applied(handler: Any) -> Any:
        handler = described(handler)
        handler.query_names = query
        return handler

    return applied
