"""The price book: what a GiB costs from which day on. From PENSTOCK_PRICE_BOOK, a JSON list."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from itertools import pairwise

VARIABLE = "PENSTOCK_PRICE_BOOK"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Valid from `from_ms` until the next one's; by GiB, in `currency`."""

    from_ms: int
    currency: str
    gib_hour: Decimal
    gib_in: Decimal
    gib_out: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """[from_ms, to_ms), and what holds in it; None where nothing does."""

    from_ms: int
    to_ms: int
    price: Price | None


def price_book() -> tuple[Price, ...]:
    """In time. Raises ValueError with the variable's name when it cannot be read."""
    text = os.environ.get(VARIABLE, "")
    try:
        found = [_price(row) for row in json.loads(text)] if text else []
    except (ValueError, KeyError, TypeError, InvalidOperation) as error:
        raise ValueError(f"{VARIABLE}: {error!r}") from None
    return tuple(sorted(found, key=lambda price: price.from_ms))


def _price(row: dict[str, str]) -> Price:
    day = date.fromisoformat(row["from"])
    values = {name: Decimal(row[name]) for name in ("gib_hour", "gib_in", "gib_out")}
    if not all(value.is_finite() and value >= 0 for value in values.values()):
        raise ValueError("a price must be a number of 0 or more")
    if len(row["currency"]) != 3:
        raise ValueError("a currency has three letters")
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return Price(from_ms=int(start.timestamp() * 1000), currency=row["currency"], **values)


def spans(book: Sequence[Price], from_ms: int, to_ms: int) -> list[Span]:
    """The range in parts of one price each, in time, without gaps."""
    cuts = [price.from_ms for price in book if from_ms < price.from_ms < to_ms]
    edges = [from_ms, *cuts, to_ms]
    found = []
    for begin, end in pairwise(edges):
        valid = [price for price in book if price.from_ms <= begin]
        if begin < end:
            found.append(Span(from_ms=begin, to_ms=end, price=valid[-1] if valid else None))
    return found
