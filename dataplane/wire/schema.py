"""How a message is declared: slotted structs whose fields know their type and their versions.

A declaration is read twice: by people and mypy as a typed class, and by `codec` which compiles a
reader and a writer for each version. Field names, versions and tags are those of Kafka's protocol
guide; versions are spelled as there: `"0+"`, `"3-7"`, `"5"`.
"""

from __future__ import annotations

import enum
import uuid
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    TypeVar,
    cast,
    dataclass_transform,
    overload,
)

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

MAX_VERSION = 32767
NEVER_FLEXIBLE = MAX_VERSION + 1
ZERO_UUID = uuid.UUID(int=0)


class Shape(enum.Enum):
    """How a value lies on the wire."""

    FIXED = enum.auto()
    STRING = enum.auto()
    BYTES = enum.auto()
    RECORDS = enum.auto()
    UUID = enum.auto()
    ARRAY = enum.auto()
    STRUCT = enum.auto()


class WireType(Generic[T]):
    """A type of the protocol; `T` is what Python code sees."""

    __slots__ = ("code", "item", "shape", "struct_class", "zero")

    def __init__(
        self,
        shape: Shape,
        zero: object,
        *,
        code: str = "",
        item: WireType[Any] | None = None,
        struct_class: type | None = None,
    ) -> None:
        self.shape = shape
        self.zero = zero
        self.code = code
        self.item = item
        self.struct_class = struct_class


RecordsLike = memoryview | bytes | bytearray

BOOL: WireType[bool] = WireType(Shape.FIXED, False, code="?")
INT8: WireType[int] = WireType(Shape.FIXED, 0, code="b")
INT16: WireType[int] = WireType(Shape.FIXED, 0, code="h")
INT32: WireType[int] = WireType(Shape.FIXED, 0, code="i")
INT64: WireType[int] = WireType(Shape.FIXED, 0, code="q")
FLOAT64: WireType[float] = WireType(Shape.FIXED, 0.0, code="d")
STRING: WireType[str] = WireType(Shape.STRING, "")
BYTES: WireType[bytes] = WireType(Shape.BYTES, b"")
RECORDS: WireType[RecordsLike] = WireType(Shape.RECORDS, b"")
"""Record batches: read as a memoryview of the frame, never copied."""
UUID: WireType[uuid.UUID] = WireType(Shape.UUID, ZERO_UUID)


def _as_wire_type(kind: WireType[T] | type[T]) -> WireType[T]:
    if isinstance(kind, WireType):
        return kind
    return WireType(Shape.STRUCT, None, struct_class=kind)


def array(item: WireType[T] | type[T]) -> WireType[list[T]]:
    """An array of primitives or of structs."""
    return WireType(Shape.ARRAY, None, item=_as_wire_type(item))


class VersionRange:
    """Inclusive range of versions; empty when `lowest > highest`."""

    __slots__ = ("highest", "lowest")

    def __init__(self, text: str) -> None:
        if not text:
            self.lowest, self.highest = 1, 0
        elif text.endswith("+"):
            self.lowest, self.highest = int(text[:-1]), MAX_VERSION
        else:
            first, _, last = text.partition("-")
            self.lowest, self.highest = int(first), int(last or first)

    def __contains__(self, version: int) -> bool:
        return self.lowest <= version <= self.highest


class Field:
    """One field of a struct, with the versions in which it exists, may be null, or is tagged."""

    __slots__ = ("default", "kind", "name", "nullable", "tag", "tagged", "versions")

    def __init__(
        self,
        kind: WireType[Any],
        versions: str,
        *,
        default: object,
        nullable: str,
        tag: int | None,
        tagged: str,
    ) -> None:
        self.name = ""
        self.kind = kind
        self.versions = VersionRange(versions)
        self.default = default
        self.nullable = VersionRange(nullable)
        self.tag = tag
        self.tagged = VersionRange(tagged if tagged or tag is None else versions)

    def is_tagged(self, version: int) -> bool:
        return self.tag is not None and version in self.tagged

    def fresh_default(self) -> object:
        """The default value; lists and structs are new each time, because they are mutable."""
        if self.default is not _UNSET:
            return self.default
        if self.kind.shape is Shape.ARRAY:
            return []
        if self.kind.struct_class is not None:
            return self.kind.struct_class()
        return self.kind.zero


_UNSET = object()


@overload
def field(
    kind: WireType[T],
    versions: str = ...,
    *,
    default: T | None = ...,
    nullable: str = ...,
    tag: int | None = ...,
    tagged: str = ...,
) -> T: ...
@overload
def field(
    kind: type[T],
    versions: str = ...,
    *,
    default: T | None = ...,
    nullable: str = ...,
    tag: int | None = ...,
    tagged: str = ...,
) -> T: ...
def field(
    kind: WireType[T] | type[T],
    versions: str = "0+",
    *,
    default: object = _UNSET,
    nullable: str = "",
    tag: int | None = None,
    tagged: str = "",
) -> T:
    """Declare a field.

    `default` is what the field holds when a version does not carry it, or nobody set it. `nullable`
    names the versions that may carry null. A field with `tag` is tagged in `tagged`, by default in
    all its `versions`.
    """
    declared = Field(
        _as_wire_type(kind), versions, default=default, nullable=nullable, tag=tag, tagged=tagged
    )
    # What mypy sees is the value's type; what the class decorator finds is the declaration.
    return cast("T", declared)


class Message:
    """Base of whatever has versions: requests, responses, keys and values inside records.

    `FLEXIBLE` is the first version with compact encodings. Only requests and responses have an
    `API_KEY`.
    """

    __slots__ = ()

    API_KEY: ClassVar[int]
    VERSIONS: ClassVar[tuple[int, int]]
    FLEXIBLE: ClassVar[int] = NEVER_FLEXIBLE


def fields_of(cls: type) -> tuple[Field, ...]:
    """The declared fields, in wire order."""
    found = cls.__dict__.get("__wire_fields__")
    if found is None:
        raise TypeError(f"{cls.__name__} is not a wire struct")
    return cast("tuple[Field, ...]", found)


@dataclass_transform(kw_only_default=True)
def struct(cls: type[T]) -> type[T]:
    """Class decorator: make a slotted, keyword-only, comparable struct out of declared fields."""
    declared: list[Field] = []
    namespace: dict[str, Any] = {}
    for name, value in cls.__dict__.items():
        if isinstance(value, Field):
            value.name = name
            declared.append(value)
        elif name not in ("__dict__", "__weakref__"):
            namespace[name] = value
    namespace["__slots__"] = tuple(item.name for item in declared)
    namespace["__wire_fields__"] = tuple(declared)
    namespace["__init__"] = _make_init(cls.__name__, declared)
    namespace["__eq__"] = _equals
    namespace["__hash__"] = None
    namespace.setdefault("__repr__", _represent)
    rebuilt = type(cls.__name__, cls.__bases__, namespace)  # slots cannot be added to a made class
    return cast("type[T]", rebuilt)


def _make_init(name: str, declared: list[Field]) -> Callable[..., None]:
    """Straight-line `__init__`; the source holds only field names and numbered defaults."""
    scope: dict[str, Any] = {"_UNSET": _UNSET}
    parameters, body = [], []
    for number, item in enumerate(declared):
        constant = item.default is not _UNSET or item.kind.shape not in (Shape.ARRAY, Shape.STRUCT)
        if constant:
            scope[f"_d{number}"] = item.fresh_default()
            parameters.append(f"{item.name}=_d{number}")
            body.append(f" self.{item.name} = {item.name}")
        else:
            scope[f"_d{number}"] = item.fresh_default
            parameters.append(f"{item.name}=_UNSET")
            body.append(
                f" self.{item.name} = _d{number}() if {item.name} is _UNSET else {item.name}"
            )
    signature = ", ".join(["self", "*", *parameters]) if parameters else "self"
    source = f"def __init__({signature}):\n" + ("\n".join(body) or " pass")
    exec(compile(source, f"<init {name}>", "exec"), scope)  # noqa: S102 - source is our own field names
    return cast("Callable[..., None]", scope["__init__"])


def _equals(self: object, other: object) -> object:
    if type(self) is not type(other):
        return NotImplemented
    names = (item.name for item in fields_of(type(self)))
    return all(bool(getattr(self, name) == getattr(other, name)) for name in names)


def _represent(self: object) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields_of(type(self)))
    return f"{type(self).__name__}({shown})"
