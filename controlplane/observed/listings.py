"""One page of a list by number: searched, filtered and ordered by the database.

Other than pages by cursor (`api`) these can be in any order, and say how many there are. A page
takes two statements however long the list is; rows that are not on it are not read.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Aggregate, Case, Count, F, Q, QuerySet, Value, When
from django.db.models.expressions import Combinable

from controlplane.observed.models import ObservedRow
from controlplane.observed.readers import Reader
from controlplane.observed.selectors import cut

SIZE_DEFAULT, SIZE_MAX = 50, 200
PAGE_MAX = 1_000_000
SEARCH_MAX = 250
EXPORT_ROWS_MAX = 100_000
EXPORT_BATCH = 500
NEVER_UNKNOWN = frozenset({"key", "harm"})
"""Columns in whose order nothing comes last for being unknown, so that an index has it."""
FOR_EVER = 2**62
"""What an unlimited time counts as where lists are ordered by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What of a list is asked for.

    Attributes:
        search: a part of the name, in any case.
        sort: a name of the list's orders; empty: the list's own.
        page: from 1; one that is too far is the last.
        first: names that come before all others, whatever the order.
        only_first: leaves all others out.
        filters: of the list's own, by name.
    """

    search: str = ""
    sort: str = ""
    is_descending: bool = False
    page: int = 1
    size: int = SIZE_DEFAULT
    first: frozenset[str] = frozenset()
    only_first: bool = False
    filters: frozenset[str] = frozenset()

    def matching(self) -> Q:
        found = Q(key__icontains=self.search) if self.search else Q()
        return found & Q(key__in=sorted(self.first)) if self.only_first else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A page of rows, and of how many.

    Attributes:
        matched: rows that are searched for and not filtered out.
        total: rows there are at all for who reads.
        figures: of all that match.
    """

    rows: tuple[ObservedRow, ...]
    page: int
    matched: int
    total: int
    figures: Mapping[str, Any] = field(default_factory=dict)


def listed(
    reader: Reader,
    rows: QuerySet[ObservedRow],
    wanted: Wanted,
    *,
    match: Q,
    order: str | Combinable,
    figures: Mapping[str, tuple[type[Aggregate], str]] | None = None,
) -> Listed:
    """The page of `rows` (of `rows_to_cut`) that match, in `order`; what is unknown comes last
    either way.

    `figures` are by name: what is made of which column of all that match.
    """
    own = {name: kind(column, filter=match) for name, (kind, column) in (figures or {}).items()}
    counted = rows.aggregate(total=Count("pk"), matched=Count("pk", filter=match), **own)
    page = page_within(wanted, counted["matched"])
    ordered = in_order(rows.filter(match), wanted, order)
    found = ordered[(page - 1) * wanted.size : page * wanted.size] if counted["matched"] else ()
    return Listed(
        rows=tuple(cut(reader, row) for row in found),
        page=page,
        matched=counted["matched"],
        total=counted["total"],
        figures={name: counted[name] for name in own},
    )


def page_within(wanted: Wanted, matched: int) -> int:
    return min(wanted.page, max(1, -(-matched // wanted.size)))


def in_order(
    rows: QuerySet[ObservedRow], wanted: Wanted, order: str | Combinable
) -> QuerySet[ObservedRow]:
    by = F(order) if isinstance(order, str) else order
    ordering: list[Any] = []
    if wanted.first:
        ours = When(key__in=sorted(wanted.first), then=Value(0))
        ordering.append(Case(ours, default=Value(1)))
    if order in NEVER_UNKNOWN:
        ordering.append(f"-{order}" if wanted.is_descending else order)
    else:
        ordering += [
            by.desc(nulls_last=True) if wanted.is_descending else by.asc(nulls_last=True)  # type: ignore[attr-defined] # F and Case have both
        ]
    # A tie is told by the name, in one direction whatever the order's.
    return rows.order_by(*ordering, *([] if order == "key" else ["key"]))


def names_of(rows: QuerySet[ObservedRow], wanted: Wanted, order: str | Combinable) -> list[str]:
    """Of all rows, in order; one more than a file may have, so that one sees whether it has all."""
    ordered = in_order(rows, wanted, order).values_list("key", flat=True)
    return list(ordered[: EXPORT_ROWS_MAX + 1])


def named(
    reader: Reader, rows: QuerySet[ObservedRow], names: Collection[str]
) -> tuple[ObservedRow, ...]:
    """The rows of these names, in the names' order."""
    found = {row.key: row for row in rows.filter(key__in=names)}
    return tuple(cut(reader, found[name]) for name in names if name in found)


def names_in_order(values: Mapping[str, Any], wanted: Wanted) -> list[str]:
    """Names by what each is worth, as `in_order` has rows: for what no column says. Pure."""
    names = sorted(values)
    known = [name for name in names if values[name] is not None]
    known.sort(key=values.__getitem__, reverse=wanted.is_descending)
    found = [*known, *(name for name in names if values[name] is None)]
    if not wanted.first:
        return found
    return sorted(found, key=lambda name: name not in wanted.first)
