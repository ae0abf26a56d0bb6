"""What the bytes of a key, value or header say. Pure, and for bytes of strangers.

Nothing is guessed into text: what is not UTF-8 is hexadecimal. A failure to decode is a sentence
beside what is shown instead, never an error of the page.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from controlplane.messages.bounds import JSON_DEPTH_MAX, JSON_ITEMS_MAX, STRUCTURED_MAX_BYTES

MAGIC = b"\0"
"""The first byte of Confluent's wire format; four bytes of the schema's id follow."""
PREFIX_BYTES = 5
INTEGER_BYTES = (1, 2, 4, 8)
JSON_ITEM_MARKS = (b",", b"[", b"{")
"""Each value but the first follows one of them."""


class Format(StrEnum):
    AUTO = "auto"
    STRING = "string"
    JSON = "json"
    HEX = "hex"
    INTEGER = "integer"
    SCHEMA = "schema"


class Kind(StrEnum):
    """As what something is shown."""

    NULL = "null"
    """There is none; of a value: a tombstone."""
    STRING = "string"
    JSON = "json"
    HEX = "hex"
    INTEGER = "integer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A key, value or header.

    Attributes:
        text: as it is shown.
        data: what paths of filters and masks look into: of JSON what it holds, else the text.
        size_bytes: of the bytes; None where a mask hides it.
        schema: the kind of its schema and the id, as `avro 12`; empty without one.
        problem: why it is not shown as it was asked for; empty when it is.
        is_masked: a mask has taken something away.
    """

    kind: Kind
    text: str
    data: Any
    size_bytes: int | None
    schema: str = ""
    problem: str = ""
    is_masked: bool = False


class Undecodable(ValueError):  # noqa: N818 - what it is
    """Why these bytes are not what they are taken for, in a sentence."""


FromSchema = Callable[[int, bytes], tuple[str, Any]]
"""(kind of the schema, value) of the bytes after the prefix; raises Undecodable."""

NULL = Decoded(kind=Kind.NULL, text="", data=None, size_bytes=None)


def decoded(raw: bytes | None, wanted: Format, from_schema: FromSchema | None = None) -> Decoded:
    """`raw` as `wanted`; as text or hexadecimal, with a problem, where it is not that."""
    if raw is None:
        return NULL
    if wanted is Format.AUTO:
        return _guessed(raw, from_schema)
    if wanted is Format.SCHEMA:
        if from_schema is None:
            return replace(_plain(raw), problem="This cluster has no schema registry.")
        return _tried(raw, lambda some: _by_schema(some, from_schema))
    return _tried(raw, _BY_FORMAT[wanted])


def _tried(raw: bytes, decode: Callable[[bytes], Decoded]) -> Decoded:
    try:
        return decode(raw)
    except Undecodable as error:
        return replace(_plain(raw), problem=str(error))


def _guessed(raw: bytes, from_schema: FromSchema | None) -> Decoded:
    if from_schema is not None and raw[:1] == MAGIC and len(raw) > PREFIX_BYTES:
        return _tried(raw, lambda some: _by_schema(some, from_schema))
    if raw[:64].lstrip()[:1] in {b"{", b"["}:
        try:
            return _json(raw)
        except Undecodable:
            pass
    return _plain(raw)


def _plain(raw: bytes) -> Decoded:
    """Text where it is UTF-8, else hexadecimal, without a word on it."""
    return replace(_string(raw), problem="")


def _string(raw: bytes) -> Decoded:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return replace(_hex(raw), problem=f"Not UTF-8 from byte {error.start} on.")
    return Decoded(kind=Kind.STRING, text=text, data=text, size_bytes=len(raw))


def _hex(raw: bytes) -> Decoded:
    text = raw.hex()
    return Decoded(kind=Kind.HEX, text=text, data=text, size_bytes=len(raw))


def _integer(raw: bytes) -> Decoded:
    if len(raw) not in INTEGER_BYTES:
        raise Undecodable(f"No integer: {len(raw)} bytes, not 1, 2, 4 or 8.")
    number = int.from_bytes(raw, "big", signed=True)
    return Decoded(kind=Kind.INTEGER, text=str(number), data=number, size_bytes=len(raw))


def _json(raw: bytes) -> Decoded:
    data = json_of(raw)
    return Decoded(kind=Kind.JSON, text=raw.decode(), data=data, size_bytes=len(raw))


def _by_schema(raw: bytes, from_schema: FromSchema) -> Decoded:
    if raw[:1] != MAGIC or len(raw) <= PREFIX_BYTES:
        raise Undecodable("It does not begin as the schema registry's messages do.")
    if len(raw) > STRUCTURED_MAX_BYTES:
        raise Undecodable(f"Longer than {STRUCTURED_MAX_BYTES} bytes: not taken apart.")
    number = int.from_bytes(raw[1:PREFIX_BYTES], "big")
    kind, data = from_schema(number, raw[PREFIX_BYTES:])
    return Decoded(
        kind=Kind.JSON,
        text=json_text(data),
        data=data,
        size_bytes=len(raw),
        schema=f"{kind} {number}",
    )


_BY_FORMAT: Mapping[Format, Callable[[bytes], Decoded]] = {
    Format.STRING: _string,
    Format.HEX: _hex,
    Format.INTEGER: _integer,
    Format.JSON: _json,
}


def json_of(raw: bytes) -> Any:
    """Raises Undecodable: no JSON, or none that is taken apart."""
    if len(raw) > STRUCTURED_MAX_BYTES:
        raise Undecodable(f"Longer than {STRUCTURED_MAX_BYTES} bytes: not taken apart.")
    # Commas and brackets within texts are counted as well: it is a bound, no census.
    if sum(map(raw.count, JSON_ITEM_MARKS)) > JSON_ITEMS_MAX:
        raise Undecodable(f"More than {JSON_ITEMS_MAX} values: not taken apart.")
    try:
        found = json.loads(raw.decode(), parse_constant=_no_constant, parse_int=_bounded_int)
    except UnicodeDecodeError as error:
        raise Undecodable("No JSON: not UTF-8.") from error
    except json.JSONDecodeError as error:
        raise Undecodable(f"No JSON: {error.msg} at character {error.pos}.") from error
    except RecursionError as error:
        raise Undecodable("Nested too deep.") from error
    if _depth_beyond(found, JSON_DEPTH_MAX):
        raise Undecodable(f"Nested more than {JSON_DEPTH_MAX} deep.")
    return found


def json_text(data: Any) -> str:
    """What can be no JSON, a number that is none for example, is its name as text."""
    text = json.dumps(_finite(data), ensure_ascii=False)
    return text.encode(errors="replace").decode()  # half a character is none


def _finite(data: Any) -> Any:
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)
    if isinstance(data, dict):
        return {str(key): _finite(item) for key, item in data.items()}
    return [_finite(item) for item in data] if isinstance(data, list) else data


def _no_constant(word: str) -> Any:
    raise Undecodable(f"No JSON: {word}.")


def _bounded_int(text: str) -> int | float:
    """Python refuses to read thousands of digits, and takes the square of their time below that."""
    return int(text) if len(text) <= 400 else float(text)


def _depth_beyond(data: Any, left: int) -> bool:
    waiting = [(data, 0)] if isinstance(data, dict | list) else []
    while waiting:
        value, depth = waiting.pop()
        if depth > left:
            return True
        items = value.values() if isinstance(value, dict) else value
        waiting.extend((item, depth + 1) for item in items if isinstance(item, dict | list))
    return False
