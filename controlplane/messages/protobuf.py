"""Protobuf's messages as JSON, by the schema that they were written with. Pure.

Names are those of the schema, as filters and masks use them; what is not written is the zero of its
kind where the schema has no other word for that, as Protobuf's own JSON with defaults has it.
Whole numbers stay numbers, bytes are base64. A message whose type is nowhere to be found is not
shown in part: nobody would know what of it a mask hides. Fields that the schema has not are left
out, and masks find nothing in them.
"""

import base64
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from controlplane.messages import protobuf_schema as schema
from controlplane.messages.decoding import Undecodable
from controlplane.messages.protobuf_schema import FieldType, File, MessageType, Types, file_of
from controlplane.messages.protobuf_wire import Budget, Value, Wire, fields, varint, zigzag

DEPTH_MAX = 64
ITEMS_MAX = 100_000
"""Values and fields of one message, in all."""
NAME_SHOWN_MAX = 200
INDEXES_MAX = 32
"""Levels at which the message is named in front of its bytes."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ANY = ".google.protobuf.Any"


class ProtobufSchema:
    """A schema with what it imports, read once for many messages."""

    def __init__(self, text: str, imports: Sequence[str] = ()) -> None:
        """Texts as the registry serves them serialized. Raises Undecodable."""
        self._types = Types()
        _add_well_known(self._types)
        for one in imports:
            file_of(one, self._types)
        self._file: File = file_of(text, self._types)

    def decode(self, raw: bytes) -> Any:
        """A message behind the indexes that say which. Raises Undecodable."""
        indexes, at = _indexes(raw)
        name = self._file.message_at(indexes)
        try:
            return _Reader(self._types).message(name, raw[at:], 0)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            if isinstance(error, Undecodable):
                raise
            raise Undecodable("The bytes are not what the Protobuf schema says.") from error


def _indexes(raw: bytes) -> tuple[list[int], int]:
    """As Confluent's serializers write them: a count and the indexes; a zero alone is the first."""
    count, at = varint(raw, 0)
    count = zigzag(count)
    if count == 0:
        return [0], at
    if not 0 < count <= INDEXES_MAX:
        raise Undecodable("It does not say which message of the Protobuf schema it is.")
    found = []
    for _ in range(count):
        index, at = varint(raw, at)
        found.append(zigzag(index))
    return found, at


class _Reader:
    def __init__(self, types: Types) -> None:
        self._types, self._budget = types, Budget(ITEMS_MAX)

    def message(self, name: str, raw: bytes, depth: int) -> Any:
        if depth > DEPTH_MAX:
            raise Undecodable("Nested too deep.")
        made = self._types.messages.get(name)
        if made is None:
            # The name may be the message's own word, and as long as it likes.
            said = name[:NAME_SHOWN_MAX]
            raise Undecodable(f"The Protobuf schema does not say what {said} is.")
        found = self._fields(made, raw, depth)
        if name == _ANY:
            return self._any(found, depth)
        shown = _WELL_KNOWN_JSON.get(name)
        return found if shown is None else shown(found)

    def _fields(self, made: MessageType, raw: bytes, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        parts: dict[int, list[bytes]] = {}
        for number, wire, value in fields(raw, self._budget):
            row = made.fields.get(number)
            if row is None:
                continue
            if row.is_repeated:
                self._extend(found, row, wire, value, depth)
            elif row.kind in {schema.MESSAGE, schema.GROUP}:
                # Parts of one message are merged, which is what their bytes together say.
                parts.setdefault(number, []).append(_bytes(value))
            else:
                found[row.name] = self._single(row, wire, value)
        for number, part in parts.items():
            row = made.fields[number]
            found[row.name] = self.message(row.refers_to, b"".join(part), depth + 1)
        for row in made.fields.values():
            if not (row.has_presence or row.is_repeated or row.name in found):
                self._budget.take()
                found[row.name] = self._zero(row)
        return {row.name: found[row.name] for row in made.fields.values() if row.name in found}

    def _extend(
        self, found: dict[str, Any], row: FieldType, wire: Wire, value: Value, depth: int
    ) -> None:
        if row.kind in {schema.MESSAGE, schema.GROUP}:
            entry = self._types.messages.get(row.refers_to)
            item = self.message(row.refers_to, _bytes(value), depth + 1)
            if entry is not None and entry.is_map_entry:
                self._put(found.setdefault(row.name, {}), entry, item, depth)
            else:
                found.setdefault(row.name, []).append(item)
            return
        rows = found.setdefault(row.name, [])
        if wire is Wire.BYTES and row.kind not in {schema.STRING, schema.BYTES}:
            rows += self._packed(row, _bytes(value))
        else:
            rows.append(self._single(row, wire, value))

    def _put(self, rows: dict[str, Any], entry: MessageType, item: Any, depth: int) -> None:
        kinds = [entry.fields.get(number) for number in (1, 2)]
        key, value = kinds
        if key is None or value is None or not isinstance(item, dict):
            raise Undecodable("A map of the Protobuf schema is none.")
        named = item.get(key.name, "" if key.kind == schema.STRING else self._zero(key))
        name = named if isinstance(named, str) else str(named).lower()
        if value.name in item:
            rows[name] = item[value.name]
        elif value.kind in {schema.MESSAGE, schema.GROUP}:
            rows[name] = self.message(value.refers_to, b"", depth + 1)
        else:
            rows[name] = self._zero(value)

    def _packed(self, row: FieldType, raw: bytes) -> list[Any]:
        found = []
        at = 0
        wire = _WIRES.get(row.kind, Wire.VARINT)
        size = {Wire.FIXED64: 8, Wire.FIXED32: 4}.get(wire)
        while at < len(raw):
            self._budget.take()
            value: Value
            if size is None:
                value, at = varint(raw, at)
            else:
                if at + size > len(raw):
                    raise Undecodable("The bytes end within a number of Protobuf's.")
                value = int.from_bytes(raw[at : at + size], "little")
                at += size
            found.append(self._single(row, wire, value))
        return found

    def _single(self, row: FieldType, wire: Wire, value: Value) -> Any:
        if wire is not _WIRES.get(row.kind, Wire.VARINT):
            raise Undecodable(f"The field {row.number} is not written as the Protobuf schema says.")
        if isinstance(value, bytes):
            if row.kind == schema.BYTES:
                return base64.b64encode(value).decode()
            try:
                return value.decode()
            except UnicodeDecodeError as error:
                raise Undecodable(f"The text of field {row.number} is not UTF-8.") from error
        if row.kind == schema.ENUM:
            return self._enum(row, value)
        return _NUMBERS[row.kind](value)

    def _enum(self, row: FieldType, value: int) -> str | int:
        number = schema.signed32(value)
        return self._types.enums.get(row.refers_to, {}).get(number, number)

    def _zero(self, row: FieldType) -> Any:
        if row.kind in {schema.STRING, schema.BYTES}:
            return ""
        return self._enum(row, 0) if row.kind == schema.ENUM else _NUMBERS[row.kind](0)

    def _any(self, found: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """Of a type that the schema has; else nobody knows what is in it."""
        url = str(found.get("type_url", ""))
        name = "." + url.rpartition("/")[2]
        value = self.message(name, base64.b64decode(found.get("value", "")), depth + 1)
        rest = value if isinstance(value, dict) else {"value": value}
        return {"@type": url, **rest}


def _bytes(value: Value) -> bytes:
    if not isinstance(value, bytes):
        raise Undecodable("A field is not written as the Protobuf schema says.")
    return value


def _signed64(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def _float(value: int) -> float:
    return float(struct.unpack("<f", value.to_bytes(4, "little"))[0])


def _double(value: int) -> float:
    return float(struct.unpack("<d", value.to_bytes(8, "little"))[0])


_WIRES: Mapping[int, Wire] = {
    schema.DOUBLE: Wire.FIXED64,
    schema.FIXED64: Wire.FIXED64,
    schema.SFIXED64: Wire.FIXED64,
    schema.FLOAT: Wire.FIXED32,
    schema.FIXED32: Wire.FIXED32,
    schema.SFIXED32: Wire.FIXED32,
    schema.STRING: Wire.BYTES,
    schema.BYTES: Wire.BYTES,
}
_NUMBERS: Mapping[int, Callable[[int], Any]] = {
    schema.DOUBLE: _double,
    schema.FLOAT: _float,
    schema.INT64: _signed64,
    schema.UINT64: int,
    schema.INT32: schema.signed32,
    schema.FIXED64: int,
    schema.FIXED32: int,
    schema.BOOL: bool,
    schema.UINT32: lambda value: value & 0xFFFFFFFF,
    schema.SFIXED32: schema.signed32,
    schema.SFIXED64: _signed64,
    schema.SINT32: lambda value: schema.signed32(zigzag(value & 0xFFFFFFFF)),
    schema.SINT64: zigzag,
}


# -- what every schema may import and no registry serves ----------------------------------------
def _timestamp(found: Mapping[str, Any]) -> Any:
    """As RFC 3339, to the nanosecond where it has them; what is no moment stays what it is."""
    seconds, nanos = found["seconds"], found["nanos"]
    try:
        at = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return dict(found)
    return f"{at:%Y-%m-%dT%H:%M:%S}{_fraction(nanos)}Z"


def _duration(found: Mapping[str, Any]) -> str:
    seconds, nanos = found["seconds"], found["nanos"]
    sign = "-" if seconds < 0 or nanos < 0 else ""
    return f"{sign}{abs(seconds)}{_fraction(abs(nanos))}s"


def _fraction(nanos: int) -> str:
    """Of three, six or nine digits."""
    digits = f"{nanos:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}" if digits else ""


def _struct_value(found: Mapping[str, Any]) -> Any:
    shown = {name: value for name, value in found.items() if name != "null_value"}
    return next(reversed(shown.values()), None)


_WRAPPED = {
    "DoubleValue": schema.DOUBLE,
    "FloatValue": schema.FLOAT,
    "Int64Value": schema.INT64,
    "UInt64Value": schema.UINT64,
    "Int32Value": schema.INT32,
    "UInt32Value": schema.UINT32,
    "BoolValue": schema.BOOL,
    "StringValue": schema.STRING,
    "BytesValue": schema.BYTES,
}
_SPACE = ".google.protobuf."
_WELL_KNOWN_JSON: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    f"{_SPACE}Timestamp": _timestamp,
    f"{_SPACE}Duration": _duration,
    f"{_SPACE}Struct": lambda found: found.get("fields", {}),
    f"{_SPACE}ListValue": lambda found: found.get("values", []),
    f"{_SPACE}Value": _struct_value,
    f"{_SPACE}FieldMask": lambda found: ",".join(found.get("paths", [])),
    **{f"{_SPACE}{name}": lambda found: found["value"] for name in _WRAPPED},
}


def _add_well_known(types: Types) -> None:
    def add(name: str, *rows: FieldType, is_map_entry: bool = False) -> None:
        by_number = {row.number: row for row in rows}
        types.messages[f"{_SPACE}{name}"] = MessageType(name, is_map_entry, by_number)

    def bare(name: str, number: int, kind: int) -> FieldType:
        return FieldType(name=name, number=number, kind=kind, has_presence=False)

    def of(name: str, number: int, refers_to: str, *, is_repeated: bool = False) -> FieldType:
        return FieldType(
            name=name,
            number=number,
            kind=schema.MESSAGE,
            is_repeated=is_repeated,
            refers_to=f"{_SPACE}{refers_to}",
        )

    for name in ("Timestamp", "Duration"):
        add(name, bare("seconds", 1, schema.INT64), bare("nanos", 2, schema.INT32))
    for name, kind in _WRAPPED.items():
        add(name, bare("value", 1, kind))
    add("Any", bare("type_url", 1, schema.STRING), bare("value", 2, schema.BYTES))
    add("Empty")
    add("FieldMask", FieldType(name="paths", number=1, kind=schema.STRING, is_repeated=True))
    add("Struct", of("fields", 1, "Struct.FieldsEntry", is_repeated=True))
    add(
        "Struct.FieldsEntry",
        bare("key", 1, schema.STRING),
        of("value", 2, "Value"),
        is_map_entry=True,
    )
    add("ListValue", of("values", 1, "Value", is_repeated=True))
    add(
        "Value",
        FieldType(name="null_value", number=1, kind=schema.INT32),
        FieldType(name="number_value", number=2, kind=schema.DOUBLE),
        FieldType(name="string_value", number=3, kind=schema.STRING),
        FieldType(name="bool_value", number=4, kind=schema.BOOL),
        of("struct_value", 5, "Struct"),
        of("list_value", 6, "ListValue"),
    )
