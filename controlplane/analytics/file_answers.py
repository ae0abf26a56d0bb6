"""An answer as a file, and how the OpenAPI document says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from controlplane.analytics import files
from spark_analytics.contracts.gold import Column

FORMAT = OpenApiParameter("format", str, enum=list(files.FORMATS))
FILES: dict[Any, Any] = {
    (200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, "Rows after their names."),
    (200, files.CONTENT_TYPES[files.PARQUET]): OpenApiResponse(
        OpenApiTypes.BINARY, "With the types of the contract."
    ),
}


def file_answer(
    name: str, wanted: str, columns: Sequence[Column], batches: Iterable[list[dict[str, Any]]]
) -> HttpResponse:
    """The rows to keep, as `name`.csv or `name`.parquet."""
    body: str | bytes
    if wanted == files.CSV:
        body = "".join(files.as_csv(columns, batches))
    else:
        body = files.as_parquet(columns, batches)
    answer = HttpResponse(body, content_type=files.CONTENT_TYPES[wanted])
    answer["Content-Disposition"] = f'attachment; filename="{name}.{wanted}"'
    answer["Cache-Control"] = "no-store"
    return answer
