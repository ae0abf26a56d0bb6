"""Where the records of a batch lie, and the little of each that compaction looks at.

Written for speed: a record costs about a microsecond, and nothing is copied but its key.
"""

from __future__ import annotations

from dataplane.wire.errors import WireError
from dataplane.wire.primitives import read_varlong

Span = tuple[int, int, int, int, bytes | None, bool]
"""Begin and end within the body, timestamp delta, offset delta, key, whether there is a value."""


def record_spans(body: bytes, count: int) -> list[Span]:
    """The records of an uncompressed batch body. WireError if they are not just `count`."""
    spans: list[Span] = []
    total = len(body)
    at = 0
    try:
        for _ in range(count):
            start = at
            # Nearly every record: a size of two bytes, and deltas and key size of one each.
            size, more, _attributes, time_delta, offset_delta, key_size = body[at : at + 6]
            if size > 0x7F and more < 0x80 and (time_delta | offset_delta | key_size) < 0x80:
                size = (size & 0x7F) | more << 7
                end = at + 2 + (size >> 1) if not size & 1 else -1
                time_delta = (time_delta >> 1) ^ -(time_delta & 1)
                offset_delta = (offset_delta >> 1) ^ -(offset_delta & 1)
                key_size = (key_size >> 1) ^ -(key_size & 1)
                at += 6
            else:
                end, time_delta, offset_delta, key_size, at = _any_head(body, at)
            key: bytes | None = None
            if key_size >= 0:
                key = body[at : at + key_size]
                at += key_size
            if at >= end or end > total or offset_delta < 0:
                break
            # A zigzag varint is negative, which is "no value", when its lowest bit is set.
            spans.append((start, end, time_delta, offset_delta, key, not body[at] & 1))
            at = end
    except (IndexError, ValueError) as error:
        raise WireError("record is cut off") from error
    if len(spans) != count or at != total:
        raise WireError(f"batch claims {count} records in {total} bytes, {len(spans)} fit")
    return spans


def _any_head(body: bytes, at: int) -> tuple[int, int, int, int, int]:
    """End of the record, timestamp delta, offset delta, key size, where the key begins."""
    size, at = read_varlong(body, at)
    end = at + size
    time_delta, at = read_varlong(body, at + 1)  # behind the record's attributes
    offset_delta, at = read_varlong(body, at)
    key_size, at = read_varlong(body, at)
    return end, time_delta, offset_delta, key_size, at
