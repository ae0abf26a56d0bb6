"""Writes the straight-line Python source of readers and writers from struct declarations.

The source holds only our own field names and numbered constants; nothing from the wire gets in.
Runs of fixed-width fields become one `struct` call; lengths are checked before anything is built.
"""

from __future__ import annotations

import struct as _struct
import uuid
from collections.abc import Callable
from typing import Any, cast

from dataplane.wire import primitives
from dataplane.wire.errors import WireError
from dataplane.wire.schema import Field, Shape, WireType, fields_of

Reader = Callable[[memoryview, int, int], tuple[Any, int]]
Writer = Callable[[Any, bytearray], None]

WIDTHS = {"?": 1, "b": 1, "h": 2, "i": 4, "q": 8, "d": 8}


def compile_reader(cls: type, version: int, flexible: bool) -> Reader:
    """A function (buf, pos, size) -> (object, pos). May raise struct.error and IndexError."""
    return cast("Reader", _Compiler(version, flexible).build_reader(cls))


def compile_writer(cls: type, version: int, flexible: bool) -> Writer:
    """A function (object, out) that appends to `out`."""
    return cast("Writer", _Compiler(version, flexible).build_writer(cls))


def minimum_size(
    kind: WireType[Any], version: int, flexible: bool, *, nullable: bool = False
) -> int:
    """The fewest bytes that one value can take: bounds array lengths before a list is built."""
    if kind.shape is Shape.FIXED:
        return WIDTHS[kind.code]
    if kind.shape is Shape.UUID:
        return 16
    if kind.struct_class is not None:
        if nullable:
            return 1
        present = (
            f
            for f in fields_of(kind.struct_class)
            if version in f.versions and not f.is_tagged(version)
        )
        return int(flexible) + sum(
            minimum_size(f.kind, version, flexible, nullable=version in f.nullable) for f in present
        )
    if flexible:
        return 1
    return 2 if kind.shape is Shape.STRING else 4


class _Compiler:
    """Compiles one struct and, recursively, the structs inside it."""

    def __init__(self, version: int, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {
            "WireError": WireError,
            "too_long": primitives.too_long,
            "read_uvarint": primitives.read_uvarint,
            "write_uvarint": primitives.write_uvarint,
            "read_fixed_array": primitives.read_fixed_array,
            "UUID": uuid.UUID,
            "pack": _struct.pack,
        }

    # -- shared -----------------------------------------------------------------------------

    def constant(self, value: object, hint: str) -> str:
        name = f"{hint}{len(self.scope)}"
        self.scope[name] = value
        return name

    def emit(self, depth: int, *lines: str) -> None:
        self.lines.extend(" " * depth + line for line in lines)

    def finish(self, header: str, cls: type) -> object:
        source = "\n".join([header, *self.lines])
        filename = f"<{cls.__name__} v{self.version}>"
        exec(compile(source, filename, "exec"), self.scope)  # noqa: S102 - our own field names only
        return self.scope["compiled"]

    def split_fields(self, cls: type) -> tuple[list[Field], list[Field], list[Field]]:
        """Fields in line, tagged fields in tag order, fields that this version lacks."""
        inline, tagged, absent = [], [], []
        for item in fields_of(cls):
            if self.version not in item.versions:
                absent.append(item)
            elif self.flexible and item.is_tagged(self.version):
                tagged.append(item)
            else:
                inline.append(item)
        return inline, sorted(tagged, key=lambda item: item.tag or 0), absent

    # -- readers ----------------------------------------------------------------------------

    def build_reader(self, cls: type) -> object:
        inline, tagged, absent = self.split_fields(cls)
        self.emit(1, f"o = new({self.constant(cls, 'C')})")
        self.scope["new"] = object.__new__
        for item in (*absent, *tagged):
            self.read_default(item)
        run: list[Field] = []
        for item in inline:
            if item.kind.shape is Shape.FIXED:
                run.append(item)
                continue
            self.read_run(run)
            run = []
            self.read_value(1, f"o.{item.name}", item.kind, self.version in item.nullable)
        self.read_run(run)
        if self.flexible:
            self.read_tags(tagged)
        self.emit(1, "return o, pos")
        return self.finish("def compiled(buf, pos, size):", cls)

    def read_default(self, item: Field) -> None:
        value = item.fresh_default()
        if isinstance(value, list):
            self.emit(1, f"o.{item.name} = []")
        elif item.kind.struct_class is not None and value is not None:
            self.emit(1, f"o.{item.name} = {self.constant(item.kind.struct_class, 'C')}()")
        else:
            self.emit(1, f"o.{item.name} = {self.constant(value, 'D')}")

    def read_run(self, run: list[Field]) -> None:
        if not run:
            return
        codes = "".join(item.kind.code for item in run)
        unpack = self.constant(_struct.Struct(">" + codes).unpack_from, "U")
        targets = ", ".join(f"o.{item.name}" for item in run) + ("," if len(run) == 1 else "")
        self.emit(1, f"{targets} = {unpack}(buf, pos)", f"pos += {_struct.calcsize('>' + codes)}")

    def read_length(self, depth: int, code: str) -> None:
        """Leave the length in `n`; -1 is null."""
        if self.flexible:
            self.emit(depth, "n = buf[pos]", "pos += 1")
            self.emit(depth, "if n > 127: n, pos = read_uvarint(buf, pos - 1)", "n -= 1")
        else:
            unpack = self.constant(_struct.Struct(">" + code).unpack_from, "U")
            self.emit(depth, f"n, = {unpack}(buf, pos)", f"pos += {WIDTHS[code]}")

    def read_value(self, depth: int, target: str, kind: WireType[Any], nullable: bool) -> None:
        if kind.shape is Shape.FIXED:
            unpack = self.constant(_struct.Struct(">" + kind.code).unpack_from, "U")
            self.emit(depth, f"{target}, = {unpack}(buf, pos)", f"pos += {WIDTHS[kind.code]}")
        elif kind.shape is Shape.UUID:
            self.emit(depth, "if pos + 16 > size: raise too_long('uuid', 16)")
            self.emit(depth, f"{target} = UUID(bytes=bytes(buf[pos:pos + 16]))", "pos += 16")
        elif kind.struct_class is not None:
            self.read_struct(depth, target, kind.struct_class, nullable)
        else:
            self.read_sized(depth, target, kind, nullable)

    def read_struct(self, depth: int, target: str, cls: type, nullable: bool) -> None:
        reader = self.constant(_Compiler(self.version, self.flexible).build_reader(cls), "R")
        if nullable:
            self.emit(depth, "n = buf[pos]", "pos += 1", f"if n > 127: {target} = None", "else:")
            depth += 1
        self.emit(depth, f"{target}, pos = {reader}(buf, pos, size)")

    def read_sized(self, depth: int, target: str, kind: WireType[Any], nullable: bool) -> None:
        """Strings, bytes, records, arrays: a length, then so much content."""
        label = target.rpartition(".")[2]
        self.read_length(depth, "h" if kind.shape is Shape.STRING else "i")
        null = f"{target} = None" if nullable else f"raise WireError('{label} may not be null')"
        self.emit(depth, "if n < 0:")
        self.emit(
            depth + 1, *([] if self.flexible else ["if n < -1: raise too_long('length', n)"]), null
        )
        self.emit(depth, "else:")
        depth += 1
        if kind.item is not None:
            self.read_array(depth, target, kind.item)
            return
        self.emit(depth, "end = pos + n", f"if end > size: raise too_long('{label}', n)")
        if kind.shape is Shape.STRING:
            if self.flexible:
                self.emit(depth, f"if n > 32767: raise too_long('{label}', n)")
            self.emit(depth, f"{target} = str(buf[pos:end], 'utf-8')")
        elif kind.shape is Shape.BYTES:
            self.emit(depth, f"{target} = bytes(buf[pos:end])")
        else:
            self.emit(depth, f"{target} = buf[pos:end]")
        self.emit(depth, "pos = end")

    def read_array(self, depth: int, target: str, item: WireType[Any]) -> None:
        label = target.rpartition(".")[2]
        if item.shape is Shape.FIXED:
            call = f"read_fixed_array(buf, pos, n, '{item.code}', {WIDTHS[item.code]})"
            self.emit(depth, f"{target}, pos = {call}")
            return
        least = max(1, minimum_size(item, self.version, self.flexible))
        self.emit(depth, f"if n * {least} > size - pos: raise too_long('{label}', n)")
        self.emit(depth, f"items = {target} = []", "for _ in range(n):")
        self.read_value(depth + 1, "x", item, nullable=False)
        self.emit(depth + 1, "items.append(x)")

    def read_tags(self, tagged: list[Field]) -> None:
        self.emit(1, "tags = buf[pos]", "pos += 1")
        self.emit(1, "if tags:")
        self.emit(2, "if tags > 127: tags, pos = read_uvarint(buf, pos - 1)")
        self.emit(2, "for _ in range(tags):")
        self.emit(3, "tag, pos = read_uvarint(buf, pos)", "n, pos = read_uvarint(buf, pos)")
        self.emit(3, "tag_end = pos + n", "if tag_end > size: raise too_long('tagged field', n)")
        for number, item in enumerate(tagged):
            self.emit(3, f"{'elif' if number else 'if'} tag == {item.tag}:")
            self.read_value(4, f"o.{item.name}", item.kind, self.version in item.nullable)
            self.emit(4, f"if pos != tag_end: raise WireError('{item.name} does not fill its tag')")
        self.emit(3, "else: pos = tag_end" if tagged else "pos = tag_end")

    # -- writers ----------------------------------------------------------------------------

    def build_writer(self, cls: type) -> object:
        inline, tagged, _absent = self.split_fields(cls)
        run: list[Field] = []
        for item in inline:
            if item.kind.shape is Shape.FIXED:
                run.append(item)
                continue
            self.write_run(run)
            run = []
            self.write_value(1, "out", f"o.{item.name}", item.kind, self.version in item.nullable)
        self.write_run(run)
        if self.flexible:
            self.write_tags(tagged)
        if not self.lines:
            self.emit(1, "pass")
        return self.finish("def compiled(o, out):", cls)

    def write_run(self, run: list[Field]) -> None:
        if run:
            codes = "".join(item.kind.code for item in run)
            pack = self.constant(_struct.Struct(">" + codes).pack, "P")
            self.emit(1, f"out += {pack}({', '.join(f'o.{item.name}' for item in run)})")

    def write_length(self, depth: int, out: str, code: str) -> None:
        """Write the length held in `n`."""
        if self.flexible:
            self.emit(
                depth, f"if n < 127: {out}.append(n + 1)", f"else: write_uvarint({out}, n + 1)"
            )
        else:
            self.emit(depth, f"{out} += {self.constant(_struct.Struct('>' + code).pack, 'P')}(n)")

    def write_value(
        self, depth: int, out: str, source: str, kind: WireType[Any], nullable: bool
    ) -> None:
        if kind.shape is Shape.FIXED:
            self.emit(
                depth,
                f"{out} += {self.constant(_struct.Struct('>' + kind.code).pack, 'P')}({source})",
            )
        elif kind.shape is Shape.UUID:
            self.emit(depth, f"{out} += {source}.bytes")
        elif kind.struct_class is not None:
            self.write_struct(depth, out, source, kind.struct_class, nullable)
        else:
            self.write_sized(depth, out, source, kind, nullable)

    def write_struct(self, depth: int, out: str, source: str, cls: type, nullable: bool) -> None:
        writer = self.constant(_Compiler(self.version, self.flexible).build_writer(cls), "W")
        if nullable:
            self.emit(depth, f"if {source} is None: {out}.append(255)", "else:")
            depth += 1
            self.emit(depth, f"{out}.append(1)")
        self.emit(depth, f"{writer}({source}, {out})")

    def write_sized(
        self, depth: int, out: str, source: str, kind: WireType[Any], nullable: bool
    ) -> None:
        code = "h" if kind.shape is Shape.STRING else "i"
        self.emit(depth, f"v = {source}")
        self.emit(depth, "if v is None:")
        if nullable:
            null = b"\0" if self.flexible else b"\xff" * WIDTHS[code]
            self.emit(depth + 1, f"{out} += {null!r}")
        else:
            label = source.rpartition(".")[2]
            self.emit(depth + 1, f"raise WireError('{label} may not be null')")
        self.emit(depth, "else:")
        depth += 1
        if kind.shape is Shape.STRING:
            self.emit(depth, "v = v.encode()")
        self.emit(depth, "n = len(v)")
        if kind.shape is Shape.STRING:
            self.emit(depth, "if n > 32767: raise too_long('string', n)")
        self.write_length(depth, out, code)
        if kind.item is None:
            self.emit(depth, f"{out} += v")
        elif kind.item.shape is Shape.FIXED:
            self.emit(depth, f"{out} += pack(f'>{{n}}{kind.item.code}', *v)")
        else:
            self.emit(depth, "for x in v:")
            self.write_value(depth + 1, out, "x", kind.item, nullable=False)

    def write_tags(self, tagged: list[Field]) -> None:
        if not tagged:
            self.emit(1, "out.append(0)")
            return
        self.emit(1, "tags = []")
        for item in tagged:
            default = self.constant(item.fresh_default(), "D")
            self.emit(1, f"if o.{item.name} != {default}:", " t = bytearray()")
            self.write_value(2, "t", f"o.{item.name}", item.kind, self.version in item.nullable)
            self.emit(2, f"tags.append(({item.tag}, t))")
        self.emit(1, "write_uvarint(out, len(tags))", "for tag, t in tags:")
        self.emit(2, "write_uvarint(out, tag)", "write_uvarint(out, len(t))", "out += t")
