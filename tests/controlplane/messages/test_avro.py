"""Avro's bytes by their schema, and bytes and schemas of strangers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.messages.avro import AvroSchema
from controlplane.messages.decoding import Undecodable

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "who", "type": ["null", {"type": "record", "name": "Who", "fields": [
            {"name": "email", "type": "string"}, {"name": "friend", "type": ["null", "Who"]}]}]},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "more", "type": {"type": "map", "values": "double"}},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
        {"name": "paid", "type": "boolean"},
        {"name": "raw", "type": {"type": "bytes", "logicalType": "decimal"}},
    ],
}  # fmt: skip


def long(number):
    found, left = b"", (number << 1) ^ (number >> 63)
    while left > 0x7F:
        found += bytes([left & 0x7F | 0x80])
        left >>= 7
    return found + bytes([left])


def text(value):
    return long(len(value.encode())) + value.encode()


def test_every_type():
    raw = (
        long(-(2**40))
        + (long(1) + text("ada@x") + long(1) + text("bob@x") + long(0))
        + (long(-2) + long(4) + text("a") + text("b") + long(0))
        + (long(1) + text("pi") + b"\0\0\0\0\0\0\xf8?" + long(0))
        + long(1) + b"\xffz" + b"\1" + long(1) + b"\xfe"
    )  # fmt: skip
    assert AvroSchema(json.dumps(ORDER)).decode(raw) == {
        "id": -(2**40),
        "who": {"email": "ada@x", "friend": {"email": "bob@x", "friend": None}},
        "tags": ["a", "b"],
        "more": {"pi": 1.5},
        "state": "PAID",
        "hash": "ÿz",
        "paid": True,
        "raw": "þ",
    }
    assert AvroSchema('"string"').decode(text("x")) == "x"


@pytest.mark.parametrize(
    ("schema", "raw"),
    [
        ('"long"', b""),
        ('"long"', b"\xff" * 11),
        ('"string"', long(10) + b"short"),
        ('"string"', long(-1)),
        ('"string"', long(1) + b"\xff"),
        ('["null", "int"]', long(7)),
        ('{"type": "array", "items": "null"}', long(2**40) + long(0)),
        ('{"type": "array", "items": "null"}', (long(90_000) * 3) + long(0)),
        ('{"type": "enum", "name": "E", "symbols": ["A"]}', long(1)),
        ('"int"', long(1) + b"more"),
        ('{"type": "record", "name": "R", "fields": [{"name": "r", "type": "R"}]}', b""),
        ('{"type": "nothing"}', b""),
        ('{"type": "record", "name": "R", "fields": [{"name": "r"}]}', b"x"),
    ],
)
def test_bytes_that_are_not_so(schema, raw):
    with pytest.raises(Undecodable):
        AvroSchema(schema).decode(raw)


@pytest.mark.parametrize(
    "schema",
    ['{"type": "record", "name": "R"}', "{", "[" * 200 + "]" * 200,
     '{"type": "record", "name": "R", "fields": [1]}'],
)  # fmt: skip
def test_schemas_that_are_none(schema):
    with pytest.raises(Undecodable):
        AvroSchema(schema)


@given(st.binary(max_size=100))
def test_any_bytes_end_in_a_value_or_a_sentence(raw):
    schema = AvroSchema(json.dumps(ORDER))
    try:
        found = schema.decode(raw)
    except Undecodable as error:
        found = str(error)
    assert found
