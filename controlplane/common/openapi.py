"""How every operation is documented: its tag, its answers, its problems."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from controlplane.common.serializers import ProblemSerializer

PROBLEM = OpenApiResponse(ProblemSerializer, description="A problem (RFC 9457)")
CURSOR = OpenApiParameter("cursor", str, description="From page.next of the page before.")
PAGE_SIZE = OpenApiParameter("page_size", int, description="1 to 500, 50 by default.")
IDEMPOTENCY = OpenApiParameter(
    "Idempotency-Key",
    str,
    location=OpenApiParameter.HEADER,
    description=(
        "1 to 200 printable ASCII characters. The same key and body gets the first answer again,"
        " for a day; one with a secret for 15 minutes, after which it is 410. A request that is"
        " refused frees its key."
    ),
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    location=OpenApiParameter.HEADER,
    description=(
        "The `etag` that was read: if the resource has changed since, nothing is written and the"
        " answer is 412. Without it the last writer wins."
    ),
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    description="Tags that are known: an answer with one of them is 304 and empty.",
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


class HeaderSchema(AutoSchema):  # type: ignore[misc] # untyped base
    """Names the request headers that a view takes beside those of its handlers."""

    def get_override_parameters(self) -> list[OpenApiParameter]:
        headers = getattr(self.view, "documented_headers", None)
        found: list[OpenApiParameter] = super().get_override_parameters()
        return found + (headers(self.method) if headers is not None else [])


def describe_headers(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Says what is answered because of a request header, and which headers answers have."""
    for path, methods in result["paths"].items():
        for method, spec in methods.items():
            taken = {row["name"] for row in spec.get("parameters", ()) if row["in"] == "header"}
            if IDEMPOTENCY.name in taken:
                _may_refuse(spec, 400, 409, 410, 422, 429)
                _has_header(spec, "Idempotency-Replayed", "`true`: an answer given before.")
            if IF_MATCH.name in taken:
                _may_refuse(spec, 400, 412)
            if IF_NONE_MATCH.name in taken:
                _is_tagged(spec, "Of the list as it is shown, but for where its cursor leads.")
            if method == "get" and path.startswith("/api/v1/") and _is_single(result, spec):
                spec.setdefault("parameters", []).append(_known_tags())
                _is_tagged(spec, "Of the resource as it is shown.")
    return result


def _is_single(result: dict[str, Any], spec: dict[str, Any]) -> bool:
    """Of one resource: JSON, and no list."""
    content = spec["responses"].get("200", {}).get("content", {}).get("application/json")
    if content is None or "$ref" not in content["schema"]:
        return False
    shape = result["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
    return "data" not in shape.get("properties", {})


def _known_tags() -> dict[str, Any]:
    """`IF_NONE_MATCH` as the document has it."""
    return {
        "in": "header",
        "name": IF_NONE_MATCH.name,
        "schema": {"type": "string"},
        "description": IF_NONE_MATCH.description,
    }


def _is_tagged(spec: dict[str, Any], of: str) -> None:
    _has_header(spec, "ETag", of)
    spec["responses"]["304"] = {"description": HTTPStatus(304).phrase}
    _may_refuse(spec, 400)


def _may_refuse(spec: dict[str, Any], *statuses: int) -> None:
    schema = {"$ref": "#/components/schemas/Problem"}
    for status in statuses:
        spec["responses"].setdefault(
            str(status),
            {
                "content": {"application/problem+json": {"schema": schema}},
                "description": PROBLEM.description,
            },
        )


def _has_header(spec: dict[str, Any], name: str, description: str) -> None:
    """Of the answers that are no refusals."""
    for status, answer in spec["responses"].items():
        if status.startswith("2"):
            shown = {"schema": {"type": "string"}, "description": description}
            answer.setdefault("headers", {})[name] = shown


def refuse_unknown_fields(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Says in the document what `Shape` does: a body may hold nothing but what is named."""
    for name, schema in result["components"]["schemas"].items():
        if name.endswith("Request") and schema.get("type") == "object":
            schema.setdefault("additionalProperties", False)
    return result
