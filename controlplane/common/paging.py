"""Cursor paging: `{data: […], page: {next, has_more}}`, newest first, ids as the tie-breaker.

The cursor is the last id seen, signed, so it cannot be made up. Ids sort by creation time.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.core import signing
from django.db.models import Model, QuerySet
from rest_framework.request import Request

from controlplane.common.problems import Problem

PAGE_SIZE_DEFAULT = 50
PAGE_SIZE_MAX = 500
_SALT = "penstock.cursor"


M = TypeVar("M", bound=Model)


def page_of(
    request: Request, rows: QuerySet[M], render: Callable[[M], dict[str, Any]]
) -> dict[str, Any]:
    """One page of `rows` by descending primary key."""
    size = page_size(request)
    cursor = request.query_params.get("cursor")
    if cursor:
        rows = rows.filter(pk__lt=_open(cursor))
    found = list(rows.order_by("-pk")[: size + 1])
    has_more = len(found) > size
    found = found[:size]
    following = signing.dumps(str(found[-1].pk), salt=_SALT) if has_more else None
    return {
        "data": [render(row) for row in found],
        "page": {"next": following, "has_more": has_more},
    }


def page_of_list(request: Request, items: Sequence[dict[str, Any]], key: str) -> dict[str, Any]:
    """One page of dicts held in memory (read from brokers), ascending by `key`."""
    size = page_size(request)
    cursor = request.query_params.get("cursor")
    ordered = sorted(items, key=lambda item: str(item[key]))
    if cursor:
        after = _open(cursor)
        ordered = [item for item in ordered if str(item[key]) > after]
    has_more = len(ordered) > size
    ordered = ordered[:size]
    following = signing.dumps(str(ordered[-1][key]), salt=_SALT) if has_more else None
    return {"data": ordered, "page": {"next": following, "has_more": has_more}}


def page_size(request: Request) -> int:
    raw = request.query_params.get("page_size", str(PAGE_SIZE_DEFAULT))
    if not raw.isdigit() or not 1 <= int(raw) <= PAGE_SIZE_MAX:
        raise Problem(
            f"page_size is a number from 1 to {PAGE_SIZE_MAX}.", status=422, code="invalid"
        )
    return int(raw)


def _open(cursor: str) -> str:
    try:
        return str(signing.loads(cursor, salt=_SALT))
    except signing.BadSignature as error:
        raise Problem("The cursor is not one of ours.", status=422, code="invalid") from error
