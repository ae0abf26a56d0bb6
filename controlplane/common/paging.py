"""Cursor paging: `{data: […], page: {next, has_more}}`, newest first, ids as the tie-breaker.

The cursor is the last id seen, sealed, so that it can neither be made up nor read. Ids sort by
creation time.

Of what a caller does not see a page says nothing, neither by being short nor by saying that there
is more: filters ask about names. So rows are read until the page is full.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from django.db.models import Model, QuerySet
from rest_framework.request import Request

from controlplane.common.crypto import seal, unseal
from controlplane.common.keyring import SecretUnreadableError
from controlplane.common.problems import field_problem

PAGE_SIZE_DEFAULT = 50
PAGE_SIZE_MAX = 500
LOOKED_AT_MAX = 2_000
"""Rows that one page looks at; where none of so many may be seen it is short, and says that there
may be more."""
LOOKED_AT_ONCE = 200

Pair = tuple[Any, dict[str, Any] | None]
"""A row's place in its list, and how it is shown; None: it is left out."""
Read = Callable[[Any, int], Sequence[Pair]]
"""What follows a place (None: from the beginning) in a list, at most so many."""


M = TypeVar("M", bound=Model)


def page_of(
    request: Request, rows: QuerySet[M], render: Callable[[M], dict[str, Any] | None]
) -> dict[str, Any]:
    """One page of `rows` by descending primary key, without those that `render` gives as None."""

    def read(after: Any, limit: int) -> list[Pair]:
        behind = rows if after is None else rows.filter(pk__lt=after)
        return [(row.pk, render(row)) for row in behind.order_by("-pk")[:limit]]

    return page_of_places(request, read)


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


def page_of_places(request: Request, read: Read) -> dict[str, Any]:
    """One page of what `read` gives, newest first; with `page_size` and `cursor` as of every list.

    Places are texts, or numbers that the list takes as text.
    """
    return places_behind(read, place_asked(request), page_size(request), request.path)


def place_asked(request: Request) -> str | None:
    """The place that a list is to go on behind; None: from its beginning.

    Raises Invalid: the cursor is not one of this list's.
    """
    cursor = request.query_params.get("cursor")
    return _open(request, cursor) if cursor else None


def places_behind(read: Read, place: Any, size: int, path: str) -> dict[str, Any]:
    """As `page_of_places`, of the list that is asked for at `path`."""
    found = _filled(read, place, size)
    return {
        "data": found.rows,
        "page": {
            "next": _sealed(path, found.last) if found.has_more else None,
            "has_more": found.has_more,
        },
    }


class _Filled(NamedTuple):
    rows: list[dict[str, Any]]
    last: Any
    """The place to go on behind: of the last row that is shown, or that was looked at."""
    has_more: bool


def _filled(read: Read, after: Any, size: int) -> _Filled:
    """The next `size` rows that are shown, and whether one more is."""
    shown: list[dict[str, Any]] = []
    last, looked_at, limit = after, 0, size + 1
    while looked_at < LOOKED_AT_MAX:
        found = read(after, limit)
        for place, row in found:
            if row is None:
                continue
            if len(shown) == size:
                return _Filled(shown, last, has_more=True)
            shown.append(row)
            last = place
        if len(found) < limit:
            return _Filled(shown, last, has_more=False)
        after, looked_at = found[-1][0], looked_at + len(found)
        limit = min(max(LOOKED_AT_ONCE, size + 1), max(1, LOOKED_AT_MAX - looked_at))
    return _Filled(shown, after, has_more=True)


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
    return _sealed(request.path, key)


def _sealed(path: str, key: object) -> str:
    """Under the deployment's keys: even who may not see a row may be given its place."""
    return seal({"list": path, "key": str(key)})


def _open(request: Request, cursor: str) -> str:
    """The key of the last row seen; a cursor is good for the list that gave it."""
    try:
        found = unseal(cursor)
    except SecretUnreadableError:
        found = {}
    if found.get("list") != request.path:
        raise field_problem("/cursor", "The cursor is not one of this list's.")
    return str(found["key"])
