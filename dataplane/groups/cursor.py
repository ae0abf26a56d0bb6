"""Reading and writing the small binary structures that are stored inside records.

They are not requests, so the message codec does not know them; every read is bounds-checked.
"""

from __future__ import annotations

import struct

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")
_INT64 = struct.Struct(">q")
_SHORTEST_ITEM_BYTES = 1


class Cursor:
    """Reads forward through one value. ValueError when the bytes end too early.

    With `flexible` set, strings, bytes and arrays are read in their compact form (KIP-482).
    """

    __slots__ = ("_data", "_position", "flexible")

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = memoryview(data)
        self._position = 0
        self.flexible = False

    def _take(self, length_bytes: int) -> memoryview:
        end = self._position + length_bytes
        if length_bytes < 0 or end > len(self._data):
            raise ValueError("the value ends too early")
        taken = self._data[self._position : end]
        self._position = end
        return taken

    def int16(self) -> int:
        value: int = _INT16.unpack(self._take(2))[0]
        return value

    def int32(self) -> int:
        value: int = _INT32.unpack(self._take(4))[0]
        return value

    def int64(self) -> int:
        value: int = _INT64.unpack(self._take(8))[0]
        return value

    def _uvarint(self) -> int:
        value = shift = 0
        while shift < 35:
            byte = self._take(1)[0]
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return value
            shift += 7
        raise ValueError("a variable-length integer is too long")

    def nullable_string(self) -> str | None:
        length = self._uvarint() - 1 if self.flexible else self.int16()
        return None if length < 0 else str(self._take(length), "utf-8")

    def string(self) -> str:
        """A string; null reads as empty, as old releases wrote either."""
        return self.nullable_string() or ""

    def blob(self) -> bytes:
        length = self._uvarint() - 1 if self.flexible else self.int32()
        return b"" if length < 0 else bytes(self._take(length))

    def array_length(self) -> int:
        length = self._uvarint() - 1 if self.flexible else self.int32()
        if length * _SHORTEST_ITEM_BYTES > len(self._data) - self._position:
            raise ValueError("an array is longer than the value that holds it")
        return max(length, 0)

    def skip_tags(self) -> None:
        """Skip tagged fields; nothing to do in a version without them."""
        if not self.flexible:
            return
        for _ in range(self._uvarint()):
            self._uvarint()
            self._take(self._uvarint())


def put_string(out: bytearray, text: str | None) -> None:
    if text is None:
        out += _INT16.pack(-1)
        return
    encoded = text.encode()
    out += _INT16.pack(len(encoded))
    out += encoded


def put_bytes(out: bytearray, data: bytes) -> None:
    out += _INT32.pack(len(data))
    out += data
