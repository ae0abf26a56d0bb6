"""Protobuf's schemas: what serialized FileDescriptorProtos say of messages and enums. Pure.

Registries serve them by `?format=serialized`. They are Protobuf themselves, so they are read by
`protobuf_wire`, field by field of those that matter here; nothing is compiled and no code is made.
Schemas come from strangers: how many types, fields and levels they have is bounded.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from controlplane.messages.decoding import Undecodable
from controlplane.messages.protobuf_wire import Budget, Value, Wire, fields

NESTED_MAX = 32
TYPES_MAX = 5_000
PARTS_MAX = 200_000
"""Of all files of one schema, as Protobuf has them: options count, too."""
FIELDS_MAX = 50_000
"""Fields and names of enums, of all files of one schema."""
REPEATED = 3
(DOUBLE, FLOAT, INT64, UINT64, INT32, FIXED64, FIXED32, BOOL, STRING, GROUP, MESSAGE, BYTES) = (
    range(1, 13)
)
UINT32, ENUM, SFIXED32, SFIXED64, SINT32, SINT64 = range(13, 19)
KINDS = range(DOUBLE, SINT64 + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldType:
    """`refers_to`: full name of its message or enum, with the leading dot."""

    name: str
    number: int
    kind: int
    is_repeated: bool = False
    refers_to: str = ""
    has_presence: bool = True
    """Whether it may be left out; else what is not written is the zero of its kind."""


@dataclass(slots=True)
class MessageType:
    name: str
    is_map_entry: bool = False
    fields: dict[int, FieldType] = field(default_factory=dict)


@dataclass(slots=True)
class Types:
    """What files define, by full names."""

    messages: dict[str, MessageType] = field(default_factory=dict)
    enums: dict[str, dict[int, str]] = field(default_factory=dict)
    count: int = 0
    fields_count: int = 0
    budget: Budget = field(default_factory=lambda: Budget(PARTS_MAX))

    def counted(self, types: int = 0, rows: int = 0) -> None:
        self.count, self.fields_count = self.count + types, self.fields_count + rows
        if self.count > TYPES_MAX or self.fields_count > FIELDS_MAX:
            raise Undecodable(
                f"It has more than {TYPES_MAX} types, or more than {FIELDS_MAX} fields."
            )


@dataclass(frozen=True, slots=True)
class File:
    """`tops`: full names of its outermost messages, in their order; nested ones by their parent."""

    tops: Sequence[str]
    nested: Mapping[str, Sequence[str]]

    def message_at(self, indexes: Sequence[int]) -> str:
        """The message that the indexes in front of a record's bytes lead to."""
        rows, found = self.tops, ""
        for index in indexes:
            if not 0 <= index < len(rows):
                raise Undecodable("A message that the Protobuf schema has not.")
            found = rows[index]
            rows = self.nested.get(found, ())
        return found


def file_of(text: str, types: Types) -> File:
    """Take a file in as registries serve it: base64. Raises Undecodable: it is none."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Undecodable("The registry does not serve Protobuf schemas serialized.") from error
    return _File(raw, types).found


class _File:
    def __init__(self, raw: bytes, types: Types) -> None:
        self._types, self._budget = types, types.budget
        self._nested: dict[str, list[str]] = {}
        rows = _grouped(raw, self._budget)
        syntax = _text(rows, 12)
        # In proto3 what is not `optional`, and in proto2 nothing, has a zero instead.
        self._is_proto3 = syntax == "proto3"
        package = _text(rows, 2)
        scope = f".{package}" if package else ""
        tops = [self._message(one, scope, 0) for one in _parts(rows, 4)]
        for one in _parts(rows, 5):
            self._enum(one, scope)
        self.found = File(tops, self._nested)

    def _message(self, raw: bytes, scope: str, depth: int) -> str:
        if depth > NESTED_MAX:
            raise Undecodable("It is nested too deep.")
        self._types.counted(types=1)
        rows = _grouped(raw, self._budget)
        made = MessageType(f"{scope}.{_name(rows)}")
        # What every schema may import stays what it is.
        self._types.messages.setdefault(made.name, made)
        if options := _parts(rows, 7):
            made.is_map_entry = _number(_grouped(options[-1], self._budget), 7) == 1
        for one in _parts(rows, 2):
            self._types.counted(rows=1)
            row = self._field(one)
            made.fields[row.number] = row
        self._nested[made.name] = [
            self._message(one, made.name, depth + 1) for one in _parts(rows, 3)
        ]
        for one in _parts(rows, 4):
            self._enum(one, made.name)
        return made.name

    def _field(self, raw: bytes) -> FieldType:
        rows = _grouped(raw, self._budget)
        kind = _number(rows, 5)
        if kind not in KINDS:
            raise Undecodable("A field has no type that is known.")
        is_repeated = _number(rows, 4) == REPEATED
        is_single = not is_repeated and kind not in {MESSAGE, GROUP}
        is_bare = 9 not in rows  # of no oneof; `optional` of proto3 is one of its own
        return FieldType(
            name=_name(rows),
            number=_number(rows, 3),
            kind=kind,
            is_repeated=is_repeated,
            refers_to=_text(rows, 6),
            has_presence=not (self._is_proto3 and is_single and is_bare),
        )

    def _enum(self, raw: bytes, scope: str) -> None:
        self._types.counted(types=1)
        rows = _grouped(raw, self._budget)
        values: dict[int, str] = {}
        for one in _parts(rows, 2):
            self._types.counted(rows=1)
            row = _grouped(one, self._budget)
            values.setdefault(signed32(_number(row, 2)), _name(row))
        self._types.enums[f"{scope}.{_name(rows)}"] = values


def signed32(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - 2**32 if value >= 2**31 else value


_Rows = Mapping[int, list[Value]]


def _grouped(raw: bytes, budget: Budget) -> _Rows:
    found: dict[int, list[Value]] = {}
    for number, wire, value in fields(raw, budget):
        if wire in {Wire.VARINT, Wire.BYTES}:
            found.setdefault(number, []).append(value)
    return found


def _parts(rows: _Rows, number: int) -> list[bytes]:
    found = rows.get(number, [])
    if not all(isinstance(value, bytes) for value in found):
        raise Undecodable("The registry's answer is no Protobuf schema.")
    return [value for value in found if isinstance(value, bytes)]


def _text(rows: _Rows, number: int) -> str:
    found = _parts(rows, number)
    try:
        return found[-1].decode() if found else ""
    except UnicodeDecodeError as error:
        raise Undecodable("A name in the Protobuf schema is not UTF-8.") from error


def _name(rows: _Rows) -> str:
    return _text(rows, 1)


def _number(rows: _Rows, number: int) -> int:
    found = rows.get(number, [0])[-1]
    if not isinstance(found, int):
        raise Undecodable("The registry's answer is no Protobuf schema.")
    return found
