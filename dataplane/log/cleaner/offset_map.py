"""From a record's key to the newest offset that carries it, densely packed.

24 bytes a slot in three flat arrays, open addressing with double hashing. Keys are known by 128
bits of keyed SipHash, so two keys that only share a slot are never taken for one.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataplane.log.cleaner.spans import Span

SLOT_BYTES = 24
_SLOTS_MIN = 16
_SALT = b"\x8f\x1d\xe2\x57\x06\xb3\x9a\x4c"


class OffsetMap:
    """Fixed memory: made for `expected_keys`, or for as many as `memory_bytes` can hold."""

    __slots__ = ("_first", "_mask", "_offsets", "_second", "capacity", "latest_offset", "size")

    def __init__(self, memory_bytes: int, load_factor: float, expected_keys: int) -> None:
        most = max(_SLOTS_MIN, memory_bytes // SLOT_BYTES)
        wanted = min(most, max(_SLOTS_MIN, int(expected_keys / max(load_factor, 0.01)) + 1))
        slots = 1 << (wanted - 1).bit_length()  # odd steps visit every slot of a power of two
        if slots > most:
            slots >>= 1
        self._mask = slots - 1
        self._first = array("q", bytes(8)) * slots
        self._second = array("q", bytes(8)) * slots
        self._offsets = array("q", bytes(8)) * slots
        self.capacity = max(1, min(slots - 1, int(slots * load_factor)))
        self.size = 0
        self.latest_offset = -1

    @property
    def memory_bytes(self) -> int:
        return (self._mask + 1) * SLOT_BYTES

    def put_all(self, base_offset: int, spans: Iterable[Span], start_offset: int) -> bool:
        """Note every keyed record from `start_offset` on; False once no further key fits."""
        mask, firsts, seconds = self._mask, self._first, self._second
        offsets = self._offsets
        free = self.capacity - self.size
        for _start, _end, _time_delta, offset_delta, key, _has_value in spans:
            offset = base_offset + offset_delta
            if key is None or offset < start_offset:
                continue
            first = hash(key)
            second = hash(key + _SALT)
            slot = first & mask
            while offsets[slot]:
                if firsts[slot] == first and seconds[slot] == second:
                    break
                slot = (slot + (second | 1)) & mask
            else:
                if not free:
                    self.size = self.capacity
                    return False
                free -= 1
                firsts[slot] = first
                seconds[slot] = second
            offsets[slot] = offset + 1  # 0 is an empty slot
        self.size = self.capacity - free
        return True

    def newest_of(
        self, spans: Iterable[Span], base_offset: int, *, keeps_deletes: bool
    ) -> tuple[list[Span], bool]:
        """The records that stay, and whether a tombstone is among them.

        What lies beyond the mapped offsets stays, and so does each key's newest record.
        """
        mask, firsts, seconds = self._mask, self._first, self._second
        offsets, latest = self._offsets, self.latest_offset
        kept: list[Span] = []
        has_tombstone = False
        for span in spans:
            _start, _end, _time_delta, offset_delta, key, has_value = span
            offset = base_offset + offset_delta
            if offset <= latest:
                if key is None or not (has_value or keeps_deletes):
                    continue
                first = hash(key)
                second = hash(key + _SALT)
                slot = first & mask
                while stored := offsets[slot]:
                    if firsts[slot] == first and seconds[slot] == second:
                        break
                    slot = (slot + (second | 1)) & mask
                if stored > offset + 1:
                    continue
            if not has_value:
                has_tombstone = True
            kept.append(span)
        return kept, has_tombstone

    def get(self, key: bytes) -> int:
        """The newest offset noted for `key`, -1 if none was."""
        first = hash(key)
        second = hash(key + _SALT)
        slot = first & self._mask
        offsets = self._offsets
        while stored := offsets[slot]:
            if self._first[slot] == first and self._second[slot] == second:
                return stored - 1
            slot = (slot + (second | 1)) & self._mask
        return -1
