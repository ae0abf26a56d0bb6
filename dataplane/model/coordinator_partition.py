"""Which partition of a coordinator's topic owns an id: Java's String.hashCode, as in Kafka."""

from __future__ import annotations

import functools

_INT_SIGN = 1 << 31
_INT_MASK = (1 << 32) - 1


def java_string_hash(text: str) -> int:
    """`text.hashCode()` of Java: a signed 32-bit polynomial over UTF-16 code units."""
    encoded = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for position in range(0, len(encoded), 2):
        unit = encoded[position] << 8 | encoded[position + 1]
        value = (31 * value + unit) & _INT_MASK
    return value - (1 << 32) if value & _INT_SIGN else value


_SHORT = 128
_hash_of_short = functools.lru_cache(maxsize=4096)(java_string_hash)  # half a MiB at most


def partition_for(coordinated_id: str, partition_count: int) -> int:
    """The partition that owns a group or transactional id.

    The smallest int hashes to 0, as Kafka's `Utils.abs`.
    """
    hash_of = _hash_of_short if len(coordinated_id) <= _SHORT else java_string_hash
    value = hash_of(coordinated_id)
    return (0 if value == -_INT_SIGN else abs(value)) % partition_count
