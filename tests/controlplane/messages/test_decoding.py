"""Bytes of strangers as what they say, and as nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.messages.bounds import STRUCTURED_MAX_BYTES
from controlplane.messages.decoding import (
    Decoded,
    Format,
    Kind,
    Undecodable,
    decoded,
    json_text,
)


def shown(raw, wanted=Format.AUTO, from_schema=None):
    found = decoded(raw, wanted, from_schema)
    return found.kind.value, found.text


@pytest.mark.parametrize(
    ("raw", "wanted", "kind", "text"),
    [
        (None, Format.AUTO, "null", ""),
        (b"", Format.AUTO, "string", ""),
        (b"plain", Format.AUTO, "string", "plain"),
        ("<b>\u202egrün\x00".encode(), Format.AUTO, "string", "<b>\u202egrün\x00"),
        (b'{"a": 1.50}', Format.AUTO, "json", '{"a": 1.50}'),
        (b" \n[1]", Format.AUTO, "json", " \n[1]"),
        (b"{not json", Format.AUTO, "string", "{not json"),
        (b"12", Format.AUTO, "string", "12"),
        (b"12", Format.JSON, "json", "12"),
        (b"\xff\x00", Format.AUTO, "hex", "ff00"),
        (b"abc", Format.HEX, "hex", "616263"),
        (b"\xff\xff\xff\xfe", Format.INTEGER, "integer", "-2"),
        (b"\x00" * 7 + b"\x2a", Format.INTEGER, "integer", "42"),
        (b"\x00\x00\x00\x00\x05abc", Format.AUTO, "string", "\x00\x00\x00\x00\x05abc"),
    ],
)
def test_formats(raw, wanted, kind, text):
    assert shown(raw, wanted) == (kind, text)
    assert decoded(raw, wanted).problem == ""


@pytest.mark.parametrize(
    ("raw", "wanted", "kind", "word"),
    [
        (b"ab\xff", Format.STRING, "hex", "byte 2"),
        (b"{", Format.JSON, "string", "No JSON"),
        (b"NaN", Format.JSON, "string", "NaN"),
        (b"\xff", Format.JSON, "hex", "UTF-8"),
        (b"[" * 102 + b"]" * 102, Format.JSON, "string", "deep"),
        (b"[" * 100_000, Format.JSON, "string", "No JSON|deep"),
        (b"abc", Format.INTEGER, "string", "3 bytes"),
        (b"x" * (STRUCTURED_MAX_BYTES + 1), Format.JSON, "string", "not taken apart"),
        (b"abc", Format.SCHEMA, "string", "no schema registry"),
    ],
)
def test_what_is_not_as_asked_is_said_beside_what_it_is(raw, wanted, kind, word):
    found = decoded(raw, wanted)
    assert found.kind.value == kind
    assert any(each in found.problem for each in word.split("|"))


def test_by_a_schema():
    def from_schema(number, raw):
        if number != 7:
            raise Undecodable(f"There is no schema {number}.")
        return "avro", {"name": raw.decode()}

    found = decoded(b"\0\0\0\0\x07Ada", Format.AUTO, from_schema)
    assert (found.kind, found.schema, found.data) == (Kind.JSON, "avro 7", {"name": "Ada"})
    assert json.loads(found.text) == {"name": "Ada"}
    other = decoded(b"\0\0\0\0\x08Ada", Format.AUTO, from_schema)
    assert (other.kind, other.problem) == (Kind.STRING, "There is no schema 8.")
    assert decoded(b"Ada", Format.SCHEMA, from_schema).problem


def test_numbers_that_cost_much_to_read_are_not_read():
    assert decoded(b"9" * 5000, Format.JSON).kind is Kind.JSON
    assert decoded(b"[1e999]", Format.AUTO).text == "[1e999]"
    assert json_text([float("inf"), {"a": float("nan")}]) == '["inf", {"a": "nan"}]'
    assert json_text("\ud800") == '"?"'


@given(st.binary(max_size=200), st.sampled_from(Format))
def test_any_bytes_are_shown(raw, wanted):
    found = decoded(raw, wanted)
    assert isinstance(found, Decoded)
    assert found.size_bytes == len(raw)
    found.text.encode()
