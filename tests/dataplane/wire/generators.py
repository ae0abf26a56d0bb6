"""Random instances of any declared message, for any version."""

from __future__ import annotations

import uuid
from typing import Any

from hypothesis import strategies as st

from dataplane.wire.schema import Field, Shape, WireType, fields_of

_BOUNDS = {
    "b": (-128, 127),
    "h": (-(2**15), 2**15 - 1),
    "H": (0, 2**16 - 1),
    "i": (-(2**31), 2**31 - 1),
    "I": (0, 2**32 - 1),
    "q": (-(2**63), 2**63 - 1),
}


def values(
    kind: WireType[Any], version: int, records: st.SearchStrategy[bytes]
) -> st.SearchStrategy[Any]:
    """Any value of a type."""
    if kind.item is not None:
        return st.lists(values(kind.item, version, records), max_size=3)
    if kind.struct_class is not None:
        return instances(kind.struct_class, version, records)
    if kind.shape is Shape.FIXED and kind.code not in "?d":
        return st.integers(*_BOUNDS[kind.code])
    return {
        Shape.FIXED: st.booleans() if kind.code == "?" else st.floats(allow_nan=False, width=64),
        Shape.STRING: st.text(max_size=12),
        Shape.BYTES: st.binary(max_size=12),
        Shape.RECORDS: records,
        Shape.UUID: st.uuids() | st.just(uuid.UUID(int=0)),
    }[kind.shape]


def instances(
    cls: Any, version: int, records: st.SearchStrategy[bytes] | None = None
) -> st.SearchStrategy[Any]:
    """Instances whose fields beyond `version` keep their defaults, as a reader leaves them."""
    records = st.binary(max_size=40) if records is None else records

    def strategy(item: Field) -> st.SearchStrategy[Any]:
        chosen = values(item.kind, version, records)
        if version in item.nullable:
            chosen = st.none() | chosen
        return chosen

    present = {f.name: strategy(f) for f in fields_of(cls) if version in f.versions}
    return st.fixed_dictionaries(present).map(lambda chosen: cls(**chosen))
