"""Protobuf without its compiler: as Google's own library reads it, and bounded against strangers."""

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.messages import protobuf, protobuf_schema
from controlplane.messages.decoding import Undecodable
from controlplane.messages.protobuf import ProtobufSchema

ORACLE = json.loads(Path(__file__).with_name("protobuf_oracle.json").read_text())
FILES = ORACLE["files"]
ORDER = b"\x02\x02"
"""Of a count and an index as zigzag: the second message of the file."""


@pytest.fixture(scope="module")
def order():
    return ProtobufSchema(FILES["order.proto"], [FILES["common/money.proto"]])


def bare(value):
    """Without empty lists and maps, which Google's JSON has and ours leaves out."""
    if isinstance(value, dict):
        return {name: bare(one) for name, one in value.items() if one not in ([], {})}
    return [bare(one) for one in value] if isinstance(value, list) else value


def as_google(ours, theirs):
    """Ours with 64-bit numbers as text, where theirs are."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return {name: as_google(one, theirs.get(name)) for name, one in ours.items()}
    if isinstance(theirs, list) and isinstance(ours, list) and len(ours) == len(theirs):
        return [as_google(one, other) for one, other in zip(ours, theirs, strict=True)]
    return str(ours) if isinstance(theirs, str) and type(ours) is int else ours


def test_a_message_is_what_googles_library_says(order):
    ours = order.decode(ORDER + base64.b64decode(ORACLE["order"]))
    theirs = ORACLE["order_json"]
    assert bare(as_google(ours, theirs)) == bare(theirs)
    assert ours["f64"] == 2**64 - 1
    assert ours["total"]["units"] == -12
    assert order.decode(ORDER) == as_ours(bare(ORACLE["empty_json"]))


def as_ours(theirs):
    return {name: int(one) if one == "0" else one for name, one in theirs.items()}


def test_proto2_with_groups_as_well():
    old = ProtobufSchema(FILES["old.proto"])
    assert old.decode(b"\0" + base64.b64decode(ORACLE["old"])) == ORACLE["old_json"]


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        (b"\0", {"a": "x"}),
        (b"\x02\0", {"a": "x"}),
        (b"\x04\0\0", {"word": "x"}),
        (b"\x04\x02\0", {"sku": "x", "count": 0}),
    ],
)
def test_the_indexes_in_front_say_which_message_it_is(order, prefix, expected):
    assert order.decode(prefix + b"\x0a\x01x") == expected


@pytest.mark.parametrize("prefix", [b"", b"\x02", b"\x02\x08", b"\x01", b"\x80", b"\x02\x01",
                                    b"\x06\0\0\0", b"\x7e" + bytes(63)])  # fmt: skip
def test_indexes_that_lead_nowhere(order, prefix):
    with pytest.raises(Undecodable):
        order.decode(prefix)


@pytest.mark.parametrize(
    "raw",
    [
        b"\x0a\x7f", b"\x0a", b"\x08\x01", b"\x0a\x01\xff", b"\x07", b"\0\x01", b"\x0c", b"\x1b",
        b"\x59\0", b"\x12\x02\x0a\x05", b"\x0b\x14", b"\xff" * 11,
    ],
)  # fmt: skip
def test_bytes_that_are_no_such_message(order, raw):
    with pytest.raises(Undecodable):
        order.decode(ORDER + raw)


def test_unknown_fields_are_left_out_and_parts_of_one_message_are_merged(order):
    unknown = b"\xf8\x3f\x01" + b"\xfa\x3f\x03abc" + b"\xfb\x3f\xfc\x3f"
    parts = b"\x12\x05\x0a\x03EUR" + b"\x12\x02\x10\x05"
    found = order.decode(ORDER + unknown + parts)
    assert found["total"] == {"currency": "EUR", "units": 5}
    assert len(found) == len(order.decode(ORDER)) + 1


def test_without_what_it_imports_nothing_is_shown_in_part():
    alone = ProtobufSchema(FILES["order.proto"])
    with pytest.raises(Undecodable, match=r"does not say what \.shop\.common\.Money is"):
        alone.decode(ORDER + base64.b64decode(ORACLE["order"]))


def test_an_any_of_an_unknown_type_hides_nothing_from_masks(order):
    packed = b"\x0a\x03x/Y" + b"\x12\x01\0"
    with pytest.raises(Undecodable, match=r"what \.Y is"):
        order.decode(ORDER + b"\xd2\x01" + bytes([len(packed)]) + packed)
    with pytest.raises(Undecodable) as caught:
        order.decode(ORDER + b"\xd2\x01\xac\x02" + b"\x0a\xa9\x02" + b"y" * 297)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "text", ["syntax = ;", "", "****", "AAAA", base64.b64encode(b"\x22\x01").decode(), "\ud800"]
)
def test_what_is_no_serialized_schema(text):
    with pytest.raises(Undecodable):
        ProtobufSchema(text).decode(b"\0")


def outcome(read):
    """What is read, as JSON; or why not. Nothing else may come of a stranger's bytes."""
    try:
        return json.dumps(read())
    except Undecodable as error:
        return str(error)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_message_or_refused(raw):
    schema = ProtobufSchema(FILES["order.proto"], [FILES["common/money.proto"]])
    assert outcome(lambda: schema.decode(ORDER + raw)) != ""


@given(st.binary(max_size=200), st.integers(0, 1_000))
def test_any_bytes_are_a_schema_or_refused(raw, at):
    good = base64.b64decode(FILES["order.proto"])
    at = at % len(good)
    for content in (raw, good[:at] + raw + good[at + len(raw) :]):
        text = base64.b64encode(content).decode()
        found = outcome(lambda text=text: ProtobufSchema(text).decode(b"\0\x0a\x01x"))
        assert found != ""


# -- hostile sizes ------------------------------------------------------------------------------
def part(number, content):
    size = len(content)
    length = bytearray()
    while size > 0x7F:
        length.append(0x80 | (size & 0x7F))
        size >>= 7
    return bytes([number << 3 | 2]) + bytes([*length, size]) + content


def file(*messages):
    raw = b"".join(part(4, one) for one in messages) + part(12, b"proto3")
    return base64.b64encode(raw).decode()


def field(name, number, kind, *, refers_to=b"", label=1):
    row = part(1, name) + bytes([3 << 3, number, 4 << 3, label, 5 << 3, kind])
    return part(2, row + (part(6, refers_to) if refers_to else b""))


def test_a_message_in_itself_is_bounded():
    schema = ProtobufSchema(file(part(1, b"M") + field(b"m", 1, 11, refers_to=b".M")))
    raw = b""
    for _ in range(200):
        raw = part(1, raw)
    with pytest.raises(Undecodable, match="too deep"):
        schema.decode(b"\0" + raw)


def test_a_schema_nested_without_end_is_refused():
    raw = part(1, b"M")
    for _ in range(protobuf_schema.NESTED_MAX + 5):
        raw = part(1, b"M") + part(3, raw)
    with pytest.raises(Undecodable, match="too deep"):
        ProtobufSchema(file(raw))


def test_groups_nested_without_end_are_refused(order):
    with pytest.raises(Undecodable, match="too deep"):
        order.decode(ORDER + b"\xfb\x3f" * 10_000)


def test_so_many_values_and_no_more(monkeypatch, order):
    monkeypatch.setattr(protobuf, "ITEMS_MAX", 100)
    few, many = b"\xaa\x01\0" * 50, b"\xaa\x01\0" * 101
    assert len(order.decode(ORDER + few)["words"]) == 50
    for raw in (many, b"\xa2\x01\xfc\x03" + bytes(508), b"\xf8\x3f\0" * 101):
        with pytest.raises(Undecodable, match="More values"):
            order.decode(ORDER + raw)


def test_so_many_types_and_fields_and_no_more(monkeypatch):
    text = file(*[part(1, b"M%d" % n) + field(b"a", 1, 9) for n in range(20)])
    ProtobufSchema(text)
    for name in ("TYPES_MAX", "FIELDS_MAX", "PARTS_MAX"):
        with monkeypatch.context() as bound:
            bound.setattr(protobuf_schema, name, 19)
            with pytest.raises(Undecodable):
                ProtobufSchema(text)


def test_many_parts_of_one_message_take_no_square_of_time(order):
    """40,000 parts of 100 bytes: put together one by one they would be copied 80 GB."""
    raw = part(2, part(1, b"x" * 98)) * 40_000
    assert order.decode(ORDER + raw)["total"]["currency"] == "x" * 98
