"""The checks of answers: each one is looked at, without a Python step for each small one.

The answers of one connection are alike: the same size, and zeros where an error code would stand.
So the error codes of a whole read are one slice with a stride. Pure; fed with bytes.
"""

from __future__ import annotations

import struct

_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")
_HEADER = struct.Struct(">ii")


class WrongAnswer(Exception):
    """An answer is not what a healthy broker sends."""


class ProduceAnswers:
    """Produce v8 of one topic with one partition: size, correlation id, …, error, base offset."""

    BUFFER_BYTES = 256 * 1024
    CORRELATION_ID = 7

    def __init__(self, records: int, *, is_alone: bool) -> None:
        self.is_checked = True
        self.payload_bytes = 0
        self._records = records
        self._is_alone = is_alone
        self._size = 0
        self._next_offset = -1
        self._fill = 0
        self._data = bytearray(self.BUFFER_BYTES)
        self._view = memoryview(self._data)

    def free(self) -> memoryview:
        return self._view[self._fill :]

    def add(self, count: int) -> int:
        """`count` bytes were read into `free()`; the number of answers that are whole now."""
        self._fill += count
        if not self._size:
            if self._fill < 4:
                return 0
            self._size = _INT32.unpack_from(self._data)[0] + 4
        whole = self._fill // self._size
        if whole and self.is_checked:
            self._check(whole)
        taken = whole * self._size
        left = self._fill - taken
        if taken and left:
            self._view[:left] = bytes(self._view[taken : self._fill])
        self._fill = left
        return whole

    def _check(self, whole: int) -> None:
        size, end = self._size, whole * self._size
        topic_bytes = int.from_bytes(self._data[12:14], "big")
        error_at = 14 + topic_bytes + 4 + 4
        for at in (error_at, error_at + 1):
            if any(self._data[at:end:size]):
                raise WrongAnswer(f"an error code: {bytes(self._data[:size])!r}")
        head = _HEADER.pack(size - 4, self.CORRELATION_ID)
        for at, byte in enumerate(head):
            if self._data[at:end:size].count(byte) != whole:
                raise WrongAnswer("an answer of another size or to another request")
        if self._is_alone:
            first = _INT64.unpack_from(self._data, error_at + 2)[0]
            last = _INT64.unpack_from(self._data, end - size + error_at + 2)[0]
            expected = first if self._next_offset < 0 else self._next_offset
            if first != expected or last != first + (whole - 1) * self._records:
                raise WrongAnswer(f"offsets {first} to {last}, {expected} should be the first")
            self._next_offset = last + self._records


class FetchAnswers:
    """Fetch v11 of one partition: one answer at a time, at the buffer's head."""

    ERROR_AT = 12  # size, correlation id, throttle time
    TOPICS_AT = 18  # error code, session id

    def __init__(self, offsets: list[int], fetch_bytes: int) -> None:
        self.is_checked = True
        self.payload_bytes = 0
        self._offsets = offsets
        self._fetch_bytes = fetch_bytes
        self._number = 0
        self._size = 0
        self._fill = 0
        self._data = bytearray(fetch_bytes + 4096)
        self._view = memoryview(self._data)

    def free(self) -> memoryview:
        """Never beyond the end of the present answer."""
        return self._view[self._fill : self._size or 4]

    def add(self, count: int) -> int:
        self._fill += count
        if self._fill < 4:
            return 0
        if not self._size:
            self._size = _INT32.unpack_from(self._data)[0] + 4
            if self._size > len(self._data):
                raise WrongAnswer(f"an answer of {self._size} bytes")
        if self._fill < self._size:
            return 0
        self._check()
        self._fill = self._size = 0
        self._number = (self._number + 1) % len(self._offsets)
        return 1

    def _check(self) -> None:
        data = self._data
        if not self.is_checked:
            self.payload_bytes += self._fetch_bytes
            return
        if _INT32.unpack_from(data, 4)[0] != self._number:
            raise WrongAnswer("an answer out of turn")
        topic_bytes = int.from_bytes(data[self.TOPICS_AT + 4 : self.TOPICS_AT + 6], "big")
        partition_at = self.TOPICS_AT + 6 + topic_bytes + 4
        if any(data[self.ERROR_AT : self.ERROR_AT + 2]) or any(
            data[partition_at + 4 : partition_at + 6]
        ):
            raise WrongAnswer(f"an error code: {bytes(data[:100])!r}")
        # error code, three offsets, no aborted transactions (count 0 or -1), preferred replica
        records_at = partition_at + 4 + 2 + 24 + 4 + 4
        length = _INT32.unpack_from(data, records_at)[0]
        if length != self._fetch_bytes:
            raise WrongAnswer(f"{length} bytes of records, not {self._fetch_bytes}")
        offset = _INT64.unpack_from(data, records_at + 4)[0]
        if offset != self._offsets[self._number]:
            raise WrongAnswer(f"records from {offset}, not {self._offsets[self._number]}")
        self.payload_bytes += length
