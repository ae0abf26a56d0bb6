"""Reads and writes declared messages: one specialised function per (struct, version).

A request's version is in its header; what is stored inside records begins with its version
(`versioned_decoder`, `encode_versioned`).

`compiler` writes the straight-line source of these functions at first use; here are its callers and
the translation of every way in which bytes can be wrong into `WireError`.
"""

from __future__ import annotations

import struct as _struct
from typing import TYPE_CHECKING, Any, TypeVar

from dataplane.wire.compiler import compile_reader, compile_writer
from dataplane.wire.errors import WireError
from dataplane.wire.schema import MAX_VERSION, NEVER_FLEXIBLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataplane.wire.compiler import Reader, Writer

T = TypeVar("T")

_VERSION = _struct.Struct(">h")
VERSION_BYTES = _VERSION.size
_READERS: dict[tuple[type, int], Reader] = {}
_WRITERS: dict[tuple[type, int], Writer] = {}


def decode(
    cls: type[T], version: int, buf: memoryview | bytes | bytearray, pos: int = 0
) -> tuple[T, int]:
    """Read one `cls` of `version` from `buf` at `pos`; answers the object and the end position.

    Record fields are views of `buf`, everything else is copied. Unknown tagged fields are skipped.
    Raises WireError when the bytes are truncated, malformed, or claim lengths beyond the buffer.
    """
    reader = _READERS.get((cls, version))
    if reader is None:
        _check_version(cls, version)
        reader = _READERS[cls, version] = compile_reader(cls, version, is_flexible(cls, version))
    if not isinstance(buf, memoryview):
        buf = memoryview(buf)
    try:
        obj, end = reader(buf, pos, len(buf))
    except (_struct.error, IndexError, UnicodeDecodeError) as error:
        raise WireError(f"{cls.__name__} v{version}: {error}") from error
    return obj, end


def encode_into(obj: object, version: int, out: bytearray) -> None:
    """Append `obj` in `version` to `out`. Fields that the version does not carry are left out."""
    cls = type(obj)
    writer = _WRITERS.get((cls, version))
    if writer is None:
        _check_version(cls, version)
        writer = _WRITERS[cls, version] = compile_writer(cls, version, is_flexible(cls, version))
    try:
        writer(obj, out)
    except (_struct.error, AttributeError, TypeError, UnicodeEncodeError) as error:
        raise WireError(f"{cls.__name__} v{version} cannot be written: {error}") from error


def encode(obj: object, version: int) -> bytes:
    """The bytes of `obj` in `version`, without header or size."""
    out = bytearray()
    encode_into(obj, version, out)
    return bytes(out)


def leading_version(buf: memoryview | bytes) -> int:
    """The int16 that what is stored inside a record begins with. WireError for fewer bytes."""
    try:
        version: int = _VERSION.unpack_from(buf)[0]
    except _struct.error as error:
        raise WireError(f"{len(buf)} bytes hold no version") from error
    return version


def versioned_decoder(*classes: type[T]) -> Callable[[memoryview | bytes], T]:
    """What reads one of `classes` that follows its own version; their versions are disjoint.

    What comes after it is not looked at. The decoder raises WireError when no class has such a
    version, and as `decode` does. It is one call, because topics hold millions of such values.
    """
    readers: dict[int, Reader] = {}
    unpack = _VERSION.unpack_from

    def compiled(version: int) -> Reader:
        cls = next((each for each in classes if _has_version(each, version)), classes[0])
        _check_version(cls, version)
        reader = readers[version] = compile_reader(cls, version, is_flexible(cls, version))
        return reader

    def decode_one(buf: memoryview | bytes) -> T:
        try:
            (version,) = unpack(buf)
            reader = readers.get(version) or compiled(version)
            found: T = reader(memoryview(buf), VERSION_BYTES, len(buf))[0]
        except (_struct.error, IndexError, UnicodeDecodeError) as error:
            names = " or ".join(each.__name__ for each in classes)
            raise WireError(f"{names} v{leading_version(buf)}: {error}") from error
        return found

    return decode_one


def encode_versioned(obj: object, version: int) -> bytes:
    """`version`, then the bytes of `obj` in it."""
    out = bytearray(_VERSION.pack(version))
    encode_into(obj, version, out)
    return bytes(out)


def is_flexible(cls: Any, version: int) -> bool:
    """Whether `version` of this message uses compact encodings and tag buffers (KIP-482)."""
    return version >= int(getattr(cls, "FLEXIBLE", NEVER_FLEXIBLE))


def _versions_of(cls: Any) -> tuple[int, int]:
    return getattr(cls, "VERSIONS", (0, MAX_VERSION))


def _has_version(cls: type, version: int) -> bool:
    lowest, highest = _versions_of(cls)
    return lowest <= version <= highest


def _check_version(cls: Any, version: int) -> None:
    if not _has_version(cls, version):
        lowest, highest = _versions_of(cls)
        raise WireError(f"{cls.__name__} has no version {version}; only {lowest} to {highest}")
