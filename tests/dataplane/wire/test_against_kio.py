"""Our codec against kio's, an independent implementation generated from Kafka's own schemas.

For every API and every version that kio has: what we write kio reads with the same meaning, and
writes again byte for byte; what kio writes we read to the same object.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import importlib
import io
import pathlib
import uuid
from typing import Any

import kio.schema
import pytest
from kio.serial import entity_reader, entity_writer

from dataplane.wire.apis import API_TABLE, ApiSpec, load
from dataplane.wire.codec import decode, encode
from dataplane.wire.schema import fields_of
from tests.dataplane.wire.random_messages import Random

_SCHEMA = pathlib.Path(kio.schema.__file__).parent
_ROUNDS = 12


def _versions(spec: ApiSpec) -> list[int]:
    return [
        version
        for version in range(spec.min_version, spec.max_version + 1)
        if (_SCHEMA / spec.module / f"v{version}").is_dir()
    ]


KNOWN = [spec for spec in API_TABLE.values() if _versions(spec)]


def test_kio_knows_all_but_the_controllers_messages() -> None:
    assert len(KNOWN) == len(API_TABLE) - 4


@pytest.mark.parametrize("side", ["request", "response"])
@pytest.mark.parametrize("spec", KNOWN, ids=lambda spec: spec.name)
def test_both_codecs_agree(spec: ApiSpec, side: str) -> None:
    ours_class = load(spec.key)[0 if side == "request" else 1]
    for version in _versions(spec):
        module = importlib.import_module(f"kio.schema.{spec.module}.v{version}.{side}")
        theirs_class = getattr(module, f"{spec.name}{side.capitalize()}")
        generator = Random(int(spec.key) * 100 + version, kio_safe=True)
        for _ in range(_ROUNDS):
            _check(generator.instance(ours_class, version), theirs_class, version)


def _check(ours: Any, theirs_class: Any, version: int) -> None:
    encoded = encode(ours, version)
    theirs, read_bytes = entity_reader(theirs_class)(encoded, 0)
    assert read_bytes == len(encoded)
    _assert_same(ours, theirs, version)
    buffer = io.BytesIO()
    entity_writer(theirs_class)(buffer, theirs)
    assert buffer.getvalue() == encoded
    back, end = decode(type(ours), version, buffer.getvalue())
    assert end == len(encoded)
    assert back == ours


def _assert_same(ours: Any, theirs: Any, version: int) -> None:
    seen = set()
    for item in fields_of(type(ours)):
        if version not in item.versions:
            continue
        name = item.name if hasattr(theirs, item.name) else item.name.removesuffix("_ms")
        seen.add(name)
        _assert_same_value(getattr(ours, item.name), getattr(theirs, name), version)
    assert seen == {f.name for f in dataclasses.fields(theirs)}


def _assert_same_value(ours: Any, theirs: Any, version: int) -> None:
    if isinstance(ours, list):
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            _assert_same_value(mine, other, version)
    elif dataclasses.is_dataclass(theirs):
        _assert_same(ours, theirs, version)
    elif isinstance(theirs, dt.timedelta):
        assert ours == round(theirs.total_seconds() * 1000)
    elif isinstance(theirs, dt.datetime):
        assert ours == round(theirs.timestamp() * 1000)
    elif isinstance(ours, uuid.UUID):
        assert ours == (theirs or uuid.UUID(int=0))
    elif isinstance(ours, (bytes, memoryview)):
        assert bytes(ours) == bytes(theirs)
    else:
        assert ours == theirs
