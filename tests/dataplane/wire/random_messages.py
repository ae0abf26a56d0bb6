"""Random instances by a seeded generator: quick enough for every version of every API."""

from __future__ import annotations

import random
import uuid
from typing import Any

from dataplane.wire.schema import Field, Shape, WireType, fields_of

_BITS = {"b": 8, "h": 16, "i": 32, "q": 64}
_TEXTS = ("", "a", "topic-1", "naïve ☃ 𝄞", "x" * 126, "y" * 127, "z" * 300)
_BLOBS = (b"", b"\0", b"abc" * 50, bytes(200))


class Random:
    """`kio_safe` keeps to values that kio's richer types can hold (known errors, sane times)."""

    def __init__(self, seed: int, *, kio_safe: bool = False) -> None:
        self.rng = random.Random(seed)
        self.kio_safe = kio_safe

    def instance(self, cls: Any, version: int) -> Any:
        """Fields that `version` lacks keep their defaults, as a reader leaves them."""
        present = (item for item in fields_of(cls) if version in item.versions)
        return cls(**{item.name: self._field(item, version) for item in present})

    def _field(self, item: Field, version: int) -> Any:
        if version in item.nullable and self.rng.random() < 0.25:
            return None
        if item.tag is not None and self.rng.random() < 0.3:
            return item.fresh_default()
        if self.kio_safe and item.kind.shape is Shape.FIXED:
            if item.name.endswith("error_code") or item.name == "error":
                return self.rng.randrange(100)
            if item.name.endswith(("_ms", "timestamp")):
                return self.rng.randrange(10**9 if item.kind.code == "i" else 10**12)
        return self._value(item.kind, version)

    def _value(self, kind: WireType[Any], version: int) -> Any:
        if kind.item is not None:
            count = self.rng.choice((0, 1, 2, 3))
            if kind.item.shape is Shape.FIXED and self.rng.random() < 0.1:
                count = 200
            return [self._value(kind.item, version) for _ in range(count)]
        if kind.struct_class is not None:
            return self.instance(kind.struct_class, version)
        if kind.shape is Shape.FIXED:
            return self._number(kind.code)
        if kind.shape is Shape.STRING:
            return self.rng.choice(_TEXTS)
        if kind.shape is Shape.UUID:
            return uuid.UUID(int=self.rng.choice((0, self.rng.getrandbits(128))))
        return self.rng.choice(_BLOBS)

    def _number(self, code: str) -> Any:
        if code == "?":
            return self.rng.random() < 0.5
        if code == "d":
            return self.rng.uniform(-1e9, 1e9)
        if code in "HI":
            return self.rng.choice((0, 2**16 - 1, self.rng.getrandbits(16)))
        top = 1 << (_BITS[code] - 1)
        return self.rng.choice((0, 1, -1, top - 1, -top, self.rng.randrange(-top, top)))
