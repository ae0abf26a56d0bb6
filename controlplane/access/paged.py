"""Quotas and what was changed outside a page at a time. Brokers, and a comparison, give them whole:
what is asked for is found, put in order and cut here, as the database does with rows. Pure.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from controlplane.access.decisions.quotas import QUOTA_KEYS
from controlplane.access.drift import USER
from controlplane.observed.listings import Wanted, page_within

QUOTA_ORDERS = ("words", *QUOTA_KEYS)
DRIFT_ORDERS = ("name", "observed", "desired", "seen")
Row = Mapping[str, Any]


def quotas_paged(rows: Sequence[Row], wanted: Wanted) -> dict[str, Any]:
    """{data, page, size, matched, total} of rows of quotas; an order is of whom, or of a quota's
    value, in which those without one come last.
    """

    def worth(row: Row) -> Any:
        return row["words"] if wanted.sort == "words" else row["quotas"][wanted.sort]

    return _page(rows, wanted, texts=lambda row: (row["words"],), worth=worth)


def quotas_matching(rows: Sequence[Row], search: str) -> list[Row]:
    return [row for row in rows if _holds((row["words"],), search)]


SAID = ("text", "text_code", "params")
"""What is said of a difference."""


def drift_paged(drift: Row, wanted: Wanted, users: Collection[str]) -> dict[str, Any]:
    """{data, page, size, matched, total, users, acls, under_way, changed_users} of what
    `access_drift` gives; `changed_users` says which of `users`, those that a page shows, were
    changed, and how.
    """

    def worth(row: Row) -> Any:
        if wanted.sort == "seen":
            return row["seen_at"]
        return _name(row) if wanted.sort == "name" else row[wanted.sort]

    def texts(row: Row) -> tuple[str, ...]:
        return _name(row), row["observed"], row["desired"]

    changed = [
        {"username": row["name"], **{name: row[name] for name in SAID}}
        for row in drift["data"]
        if row["area"] == USER and row["name"] in users
    ]
    page = _page(drift["data"], wanted, texts=texts, worth=worth)
    ages = {name: drift[name] for name in ("users", "acls", "under_way")}
    return {**page, **ages, "changed_users": changed}


def _name(row: Row) -> str:
    return f"{row['area']} {row['name']}"


def _holds(texts: Collection[str], search: str) -> bool:
    sought = search.casefold()
    return any(sought in text.casefold() for text in texts)


def _page(
    rows: Sequence[Row],
    wanted: Wanted,
    *,
    texts: Callable[[Row], tuple[str, ...]],
    worth: Callable[[Row], Any],
) -> dict[str, Any]:
    """`texts`: what a search looks into, of which the first is unique and tells ties."""
    found = sorted((row for row in rows if _holds(texts(row), wanted.search)), key=texts)
    known = [row for row in found if worth(row) is not None]
    known.sort(key=worth, reverse=wanted.is_descending)
    ordered = [*known, *(row for row in found if worth(row) is None)]
    page = page_within(wanted, len(ordered))
    return {
        "data": ordered[(page - 1) * wanted.size : page * wanted.size],
        "page": page,
        "size": wanted.size,
        "matched": len(ordered),
        "total": len(rows),
    }
