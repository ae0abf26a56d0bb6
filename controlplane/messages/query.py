"""What somebody asks to see of a topic, and the cursor of the page after. Pure."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from controlplane.gateway.record_port import Isolation, Span
from controlplane.messages.bounds import PAGE_DEFAULT, PARTITIONS_MAX
from controlplane.messages.decoding import Format
from controlplane.messages.expression import Node

OFFSET_MAX = 2**63 - 1
CURSOR_CHARS_MAX = 40 * PARTITIONS_MAX


class From(StrEnum):
    BEGINNING = "beginning"
    END = "end"
    OFFSET = "offset"
    TIME = "time"


class Order(StrEnum):
    OLDEST = "oldest"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A page, or a live tail.

    Attributes:
        partitions: empty: all.
        start: where to begin; `OFFSET` with `offset`, of each partition, `TIME` with `time_ms`.
        key, value, header: parts of the text as it is shown, in any case; empty: any. A header is
            matched by `name` or `name=value`.
        expression: as `expression.parse` made it.
        spans: where the page before ended; then `start` counts no more.
        is_whole: texts are not cut to what a list shows.
        isolation: whether records of aborted and open transactions are read, too.
    """

    partitions: frozenset[int] = frozenset()
    start: From = From.END
    order: Order = Order.NEWEST
    offset: int = 0
    time_ms: int = 0
    limit: int = PAGE_DEFAULT
    key: str = ""
    value: str = ""
    header: str = ""
    expression: Node | None = None
    key_format: Format = Format.AUTO
    value_format: Format = Format.AUTO
    spans: Mapping[int, Span] = field(default_factory=dict)
    is_whole: bool = False
    isolation: Isolation = Isolation.READ_UNCOMMITTED

    @property
    def is_filtered(self) -> bool:
        return bool(self.key or self.value or self.header or self.expression is not None)


def default_order(start: From) -> Order:
    return Order.NEWEST if start is From.END else Order.OLDEST


def spans_of(
    query: Query, bounds: Mapping[int, Span], at_time: Mapping[int, int]
) -> dict[int, Span]:
    """What to read, by partition.

    Args:
        query: not a tail.
        bounds: of the partitions that are asked for, as they are now.
        at_time: the first offset at or after the query's time; what is left out has none.
    """
    if query.spans:
        return {
            number: _within(span, bounds[number])
            for number, span in query.spans.items()
            if number in bounds
        }
    found = {}
    for number, (low, high) in bounds.items():
        place = _place(query, Span(low, high), at_time.get(number, high))
        if query.order is Order.OLDEST:
            found[number] = _within(Span(place, high), Span(low, high))
        else:
            # The record at an offset that is named belongs to the page either way.
            end = place + 1 if query.start is From.OFFSET else place
            found[number] = _within(Span(low, end), Span(low, high))
    return found


def _place(query: Query, bounds: Span, at_time: int) -> int:
    match query.start:
        case From.BEGINNING:
            return bounds.start
        case From.END:
            return bounds.end
        case From.OFFSET:
            return query.offset
        case From.TIME:
            return at_time


def _within(span: Span, bounds: Span) -> Span:
    start = min(max(span.start, bounds.start), bounds.end)
    return Span(start, max(min(span.end, bounds.end), start))


# -- the cursor ---------------------------------------------------------------------------------
def cursor_of(order: Order, spans: Mapping[int, Span]) -> str:
    """Offsets and nothing else: it opens no more than the query that it goes with.

    Oldest first the page after may reach further than this one could: its end is left open.
    """
    rows = {
        str(number): [span.start, OFFSET_MAX if order is Order.OLDEST else span.end]
        for number, span in spans.items()
    }
    text = json.dumps([order.value, rows], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def opened(cursor: str) -> tuple[Order, dict[int, Span]]:
    """Raises ValueError: it is none of ours."""
    if len(cursor) > CURSOR_CHARS_MAX:
        raise ValueError("too long")
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        order, rows = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        spans = {_number(number, PARTITIONS_MAX * 1000): _span(row) for number, row in rows.items()}
        return Order(order), spans
    except (binascii.Error, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("no cursor") from error


def _span(row: Any) -> Span:
    start, end = row
    if type(start) is not int or type(end) is not int or not 0 <= start <= end <= OFFSET_MAX:
        raise ValueError("no span")
    return Span(start, end)


def _number(text: str, below: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) >= below:
        raise ValueError("no partition")
    return int(text)
