"""Avro's binary encoding, read by the schema that it was written with. Pure.

Both come from strangers: a schema may be no schema or name itself without end, and a few bytes may
announce an array of 2^60 nulls. So names, depth, items and bytes are bounded.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from controlplane.messages.decoding import Undecodable, json_of

DEPTH_MAX = 64
ITEMS_MAX = 100_000
"""Values of one message, in all."""
NAMED = ("record", "enum", "fixed", "error")
PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")


class AvroSchema:
    """A schema that was read once, for many messages."""

    def __init__(self, text: str, others: Sequence[str] = ()) -> None:
        """`others`: schemas whose names it uses. Raises Undecodable: it is none."""
        self._names: dict[str, Any] = {}
        for one in others:
            self._find_names(_parsed(one), "", 0)
        self._root = _parsed(text)
        self._find_names(self._root, "", 0)

    def _find_names(self, schema: Any, space: str, depth: int) -> None:
        if depth > DEPTH_MAX:
            raise Undecodable("The schema is nested too deep.")
        if isinstance(schema, list):
            for branch in schema:
                self._find_names(branch, space, depth + 1)
        if not isinstance(schema, dict):
            return
        kind = schema.get("type")
        if kind in NAMED:
            full = _full_name(str(schema.get("name", "")), schema.get("namespace"), space)
            self._names[full] = schema
            schema["__space"] = space = full.rpartition(".")[0]
        if kind in ("record", "error"):
            for field in _list(schema, "fields"):
                self._find_names(field.get("type"), space, depth + 1)
        elif isinstance(kind, dict | list):
            self._find_names(kind, space, depth + 1)
        for inner in ("items", "values"):
            self._find_names(schema.get(inner), space, depth + 1)

    def decode(self, raw: bytes) -> Any:
        """Raises Undecodable: the bytes are not what the schema says."""
        reader = _Reader(raw, self._names)
        try:
            found = reader.value(self._root, "", 0)
        except (KeyError, TypeError, ValueError, AttributeError, struct.error) as error:
            if isinstance(error, Undecodable):
                raise
            raise Undecodable("The bytes are not what the Avro schema says.") from error
        if reader.left:
            raise Undecodable(f"{reader.left} bytes are left behind what the Avro schema says.")
        return found


def _parsed(text: str) -> Any:
    raw = text.encode(errors="replace")
    return json_of(raw) if text.lstrip()[:1] in {"{", "["} else text.strip('" ')


def _full_name(name: str, namespace: Any, space: str) -> str:
    if "." in name:
        return name
    within = namespace if isinstance(namespace, str) else space
    return f"{within}.{name}" if within else name


def _list(schema: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = schema.get(name)
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise Undecodable(f"The Avro schema has no {name}.")
    return found


class _Reader:
    def __init__(self, raw: bytes, names: Mapping[str, Any]) -> None:
        self._raw, self._names, self._at, self._items = raw, names, 0, 0

    @property
    def left(self) -> int:
        return len(self._raw) - self._at

    def value(self, schema: Any, space: str, depth: int) -> Any:
        self._items += 1
        if depth > DEPTH_MAX:
            raise Undecodable("Nested too deep.")
        if self._items > ITEMS_MAX:
            raise Undecodable(f"More than {ITEMS_MAX} values.")
        if isinstance(schema, list):
            return self.value(schema[self._index(len(schema))], space, depth + 1)
        if isinstance(schema, str):
            return self._named(schema, space, depth)
        kind = schema["type"]
        if isinstance(kind, dict | list):
            return self.value(kind, space, depth + 1)
        read: Callable[[Any, str, int], Any] | None = {
            "record": self._record,
            "error": self._record,
            "enum": self._enum,
            "fixed": self._fixed,
            "array": self._array,
            "map": self._map,
        }.get(kind)
        if read is not None:
            return read(schema, schema.get("__space", space), depth)
        return self._named(kind, space, depth)

    def _named(self, name: str, space: str, depth: int) -> Any:
        if name in PRIMITIVES:
            return getattr(self, f"_{name}")()
        full = name if name in self._names else _full_name(name, None, space)
        return self.value(self._names[full], space, depth + 1)

    # -- primitives -----------------------------------------------------------------------------
    def _take(self, count: int) -> bytes:
        if count < 0 or count > self.left:
            raise Undecodable("The bytes end before what the Avro schema says.")
        found = self._raw[self._at : self._at + count]
        self._at += count
        return found

    def _long(self) -> int:
        found = shift = 0
        while True:
            byte = self._take(1)[0]
            found |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return (found >> 1) ^ -(found & 1)
            shift += 7
            if shift > 63:
                raise Undecodable("No number of Avro's.")

    _int = _long

    def _null(self) -> None:
        return None

    def _boolean(self) -> bool:
        return self._take(1) != b"\0"

    def _float(self) -> float:
        return float(struct.unpack("<f", self._take(4))[0])

    def _double(self) -> float:
        return float(struct.unpack("<d", self._take(8))[0])

    def _bytes(self) -> str:
        """As Avro's own JSON has them: a character a byte."""
        return self._take(self._long()).decode("latin-1")

    def _string(self) -> str:
        return self._take(self._long()).decode()

    # -- what is made of others -----------------------------------------------------------------
    def _record(self, schema: Any, space: str, depth: int) -> dict[str, Any]:
        return {
            str(field["name"]): self.value(field["type"], space, depth + 1)
            for field in _list(schema, "fields")
        }

    def _index(self, below: int) -> int:
        found = self._long()
        if not 0 <= found < below:
            raise Undecodable("A branch that the Avro schema has not.")
        return found

    def _enum(self, schema: Any, _space: str, _depth: int) -> str:
        return str(schema["symbols"][self._index(len(schema["symbols"]))])

    def _fixed(self, schema: Any, _space: str, _depth: int) -> str:
        return self._take(int(schema["size"])).decode("latin-1")

    def _array(self, schema: Any, space: str, depth: int) -> list[Any]:
        found: list[Any] = []
        while count := self._block():
            found += [self.value(schema["items"], space, depth + 1) for _ in range(count)]
        return found

    def _map(self, schema: Any, space: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while count := self._block():
            for _ in range(count):
                name = self._string()
                found[name] = self.value(schema["values"], space, depth + 1)
        return found

    def _block(self) -> int:
        count = self._long()
        if count < 0:
            self._long()  # its size in bytes
            count = -count
        if count > ITEMS_MAX:
            raise Undecodable(f"More than {ITEMS_MAX} values.")
        return count
