"""Records as one reader sees them: decoded, masked, filtered, shown. Pure.

In this order, always: a filter sees what the reader sees, so it tells nobody what a mask hides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from controlplane.common.times import iso_of_ms
from controlplane.gateway.record_port import Record
from controlplane.messages.bounds import (
    HEADER_NAME_SHOWN_MAX,
    HEADERS_SHOWN_MAX,
    HEADERS_TEXT_MAX,
    TEXT_SHOWN_MAX,
    TEXT_WHOLE_MAX,
)
from controlplane.messages.decoding import Decoded, Format, FromSchema, decoded
from controlplane.messages.expression import ROOTS, EvaluationError, is_match
from controlplane.messages.masking import Mask, Part, masked, masked_header
from controlplane.messages.query import Query

Headers = tuple[tuple[str, Decoded], ...]
UNREAD_HEADERS = f"of more than {HEADERS_SHOWN_MAX} headers only the first are read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A record as its reader sees it."""

    record: Record
    key: Decoded
    value: Decoded
    headers: Headers

    @property
    def headers_unread(self) -> int:
        """How many there are behind those that were looked at: nobody knows what they say."""
        beyond = max(len(self.record.headers) - HEADERS_SHOWN_MAX, 0)
        return self.record.headers_left_out + beyond

    @property
    def is_masked(self) -> bool:
        parts = (self.key, self.value, *(value for _, value in self.headers))
        looked_at = min(len(self.record.headers), HEADERS_SHOWN_MAX)
        return any(part.is_masked for part in parts) or len(self.headers) < looked_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Lens:
    """How one reader looks.

    Attributes:
        masks: those that apply to this topic and reader.
        secret: of the tenant's hashes.
    """

    query: Query = field(default_factory=Query)
    masks: Sequence[Mask] = ()
    secret: bytes = b""
    from_schema: FromSchema | None = None

    def see(self, record: Record) -> Seen:
        return Seen(
            record=record,
            key=self._part(Part.KEY, record.key, self.query.key_format),
            value=self._part(Part.VALUE, record.value, self.query.value_format),
            headers=self._headers(record),
        )

    def _part(self, part: Part, raw: bytes | None, wanted: Format) -> Decoded:
        if any(mask.part is part and mask.path for mask in self.masks):
            wanted = Format.AUTO  # taken apart, whatever it is asked to look like
        return masked(part, decoded(raw, wanted, self.from_schema), self.masks, self.secret)

    def _headers(self, record: Record) -> Headers:
        found = []
        for name, raw in record.headers[:HEADERS_SHOWN_MAX]:
            value = masked_header(name, decoded(raw, Format.AUTO), self.masks, self.secret)
            if value is not None:
                found.append((name, value))
        return tuple(found)

    def matches(self, seen: Seen) -> bool:
        """Raises EvaluationError: the filters cannot judge this message."""
        query = self.query
        if not (_has(seen.key, query.key) and _has(seen.value, query.value)):
            return False
        if query.header and not any(_is_header(row, query.header) for row in seen.headers):
            if seen.headers_unread:
                raise EvaluationError(UNREAD_HEADERS)
            return False
        return query.expression is None or is_match(query.expression, _Names(seen))

    def shown(self, seen: Seen) -> dict[str, Any]:
        """As JSON, texts cut to what a list shows unless they are asked for whole."""
        chars_max = TEXT_WHOLE_MAX if self.query.is_whole else TEXT_SHOWN_MAX
        record = seen.record
        return {
            "partition": record.partition,
            "offset": record.offset,
            "timestamp_ms": record.timestamp_ms,
            "timestamp": _time(record.timestamp_ms),
            "timestamp_type": "append" if record.is_log_append_time else "create",
            "key": part_dict(seen.key, chars_max),
            "value": part_dict(seen.value, chars_max),
            "headers": self._shown_headers(seen),
            "headers_left_out": seen.headers_unread,
            "masked": seen.is_masked,
        }

    def _shown_headers(self, seen: Seen) -> list[dict[str, Any]]:
        """All of them, with as much of their texts as the message's share allows."""
        each, left = TEXT_SHOWN_MAX, HEADERS_TEXT_MAX
        if self.query.is_whole:
            each = left = TEXT_WHOLE_MAX
        found = []
        for name, value in seen.headers:
            part = part_dict(value, min(each, left))
            shown = name[:HEADER_NAME_SHOWN_MAX]
            part["truncated"] = part["truncated"] or len(shown) < len(name)
            left = max(left - len(part["text"]) - len(shown), 0)
            found.append({"name": shown, **part})
        return found


def _time(at_ms: int | None) -> str | None:
    """A producer may write any number: what is no moment of a calendar has no text."""
    try:
        return iso_of_ms(at_ms)
    except (OverflowError, ValueError, OSError):
        return None


def part_dict(part: Decoded, chars_max: int) -> dict[str, Any]:
    return {
        "kind": part.kind.value,
        "text": part.text[:chars_max],
        "truncated": len(part.text) > chars_max,
        "size_bytes": part.size_bytes,
        "schema": part.schema,
        "problem": part.problem,
        "masked": part.is_masked,
    }


def _has(part: Decoded, text: str) -> bool:
    return not text or text.casefold() in part.text.casefold()


def _is_header(row: tuple[str, Decoded], wanted: str) -> bool:
    name, value = row
    wanted_name, is_pair, wanted_value = wanted.partition("=")
    if not is_pair:
        return wanted.casefold() in name.casefold()
    return wanted_name.casefold() == name.casefold() and _has(value, wanted_value)


class _Names(Mapping[str, Any]):
    """By the roots of an expression's paths; of headers with one name the last one."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    def __getitem__(self, root: str) -> Any:
        """Raises EvaluationError: headers, where some were not read; the last one may be there."""
        seen, record = self._seen, self._seen.record
        match root:
            case "key":
                return seen.key.data
            case "value":
                return seen.value.data
            case "headers" if seen.headers_unread:
                raise EvaluationError(UNREAD_HEADERS)
            case "headers":
                return {name: value.text for name, value in seen.headers}
            case "partition":
                return record.partition
            case "offset":
                return record.offset
            case "timestamp":
                return record.timestamp_ms
        raise KeyError(root)

    def __iter__(self) -> Iterator[str]:
        return iter(ROOTS)

    def __len__(self) -> int:
        return len(ROOTS)
