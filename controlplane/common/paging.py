"""Cursor paging: `{data: […], page: {next, has_more}}`, newest first, ids as the tie-breaker.

The cursor is the last id seen, signed, so it cannot be made up. Ids sort by creation time.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.core import signing
from django.db.models import Model, QuerySet
from rest_framework.request import Request

from controlplane.common.problems import field_problem

PAGE_SIZE_DEFAULT = 50
PAGE_SIZE_MAX = 500
_SALT = "penstock.cursor"


M = TypeVar("M", bound=Model)


def page_of(
    request: Request, rows: QuerySet[M], render: Callable[[M], dict[str, Any] | None]
) -> dict[str, Any]:
    """One page of `rows` by descending primary key.

    A row that `render` gives as None is left out: the page is shorter then, not the last one.
    """
    size = page_size(request)
    cursor = request.query_params.get("cursor")
    if cursor:
        rows = rows.filter(pk__lt=_open(request, cursor))
    found = list(rows.order_by("-pk")[: size + 1])
    has_more = len(found) > size
    found = found[:size]
    following = _seal(request, found[-1].pk) if has_more else None
    rendered = (render(row) for row in found)
    return {
        "data": [row for row in rendered if row is not None],
        "page": {"next": following, "has_more": has_more},
    }


def page_of_rows(
    request: Request, rows: QuerySet[M], key: str, render: Callable[[M], dict[str, Any]]
) -> dict[str, Any]:
    """One page of `rows` by a text column, ascending, as the database orders text."""
    size = page_size(request)
    cursor = request.query_params.get("cursor")
    if cursor:
        rows = rows.filter(**{f"{key}__gt": _open(request, cursor)})
    found = list(rows.order_by(key)[: size + 1])
    has_more = len(found) > size
    found = found[:size]
    following = _seal(request, getattr(found[-1], key)) if has_more else None
    return {
        "data": [render(row) for row in found],
        "page": {"next": following, "has_more": has_more},
    }


def page_of_places(
    request: Request,
    read: Callable[[str | None, int], Sequence[tuple[str, dict[str, Any] | None]]],
) -> dict[str, Any]:
    """One page of what is put together from several lists, newest first.

    Args:
        request: with `page_size` and `cursor`, as of every list.
        read: takes a place to go on behind (None: from the newest) and how many to read; gives
            pairs of a row's place, as text, and the row. A row that is None is left out.
    """
    size = page_size(request)
    cursor = request.query_params.get("cursor")
    found = read(_open(request, cursor) if cursor else None, size + 1)
    has_more = len(found) > size
    found = found[:size]
    return {
        "data": [row for _, row in found if row is not None],
        "page": {
            "next": _seal(request, found[-1][0]) if has_more else None,
            "has_more": has_more,
        },
    }


def page_of_source(
    request: Request, read: Callable[[str | None, int], tuple[list[dict[str, Any]], str | None]]
) -> dict[str, Any]:
    """One page of what is read elsewhere by a place of its own, in the order that it comes.

    Args:
        request: with `page_size` and `cursor`, as of every list.
        read: takes a place to go on from (None: from the end) and how many to read; gives rows and
            where the next page goes on, None when there is none. A page may be without any row.
    """
    cursor = request.query_params.get("cursor")
    rows, following = read(_open(request, cursor) if cursor else None, page_size(request))
    return {
        "data": rows,
        "page": {
            "next": None if following is None else _seal(request, following),
            "has_more": following is not None,
        },
    }


def page_of_list(request: Request, items: Sequence[dict[str, Any]], key: str) -> dict[str, Any]:
    """One page of dicts held in memory (read from brokers), ascending by `key`."""
    size = page_size(request)
    cursor = request.query_params.get("cursor")
    ordered = sorted(items, key=lambda item: str(item[key]))
    if cursor:
        after = _open(request, cursor)
        ordered = [item for item in ordered if str(item[key]) > after]
    has_more = len(ordered) > size
    ordered = ordered[:size]
    following = _seal(request, ordered[-1][key]) if has_more else None
    return {"data": ordered, "page": {"next": following, "has_more": has_more}}


def page_size(request: Request) -> int:
    raw = request.query_params.get("page_size", str(PAGE_SIZE_DEFAULT))
    is_number = raw.isascii() and raw.isdigit() and len(raw) < 10
    if not is_number or not 1 <= int(raw) <= PAGE_SIZE_MAX:
        raise field_problem("/page_size", f"page_size is a number from 1 to {PAGE_SIZE_MAX}.")
    return int(raw)


def _seal(request: Request, key: object) -> str:
    return signing.dumps(str(key), salt=f"{_SALT}:{request.path}")


def _open(request: Request, cursor: str) -> str:
    """The key of the last row seen; a cursor is good for the list that gave it."""
    try:
        return str(signing.loads(cursor, salt=f"{_SALT}:{request.path}"))
    except signing.BadSignature as error:
        raise field_problem("/cursor", "The cursor is not one of this list's.") from error
