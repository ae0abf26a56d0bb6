"""What a mask hides is nowhere: not in a text, not in a filter's answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.common.grants import (
    ANY,
    LIMITED,
    OPERATOR,
    OWNER,
    VIEWER,
    Grant,
    Match,
    Over,
    Pattern,
    scope_of,
)
from controlplane.gateway.record_port import Record
from controlplane.messages.decoding import Format, Undecodable, decoded
from controlplane.messages.expression import parse
from controlplane.messages.lens import Lens
from controlplane.messages.masking import (
    REPLACEMENT,
    Act,
    Mask,
    Part,
    masked,
    masks_for,
    path_of,
)
from controlplane.messages.query import Query

SECRET = "ada@example.org"


def mask(path="", act=Act.REPLACE, part=Part.VALUE, see=(), topics=ANY):
    steps = (path,) if part is Part.HEADER and path else path_of(path)
    return Mask(topics=topics, part=part, path=steps, act=act, see_through=frozenset(see))


def seen(value, *masks, wanted=Format.AUTO):
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return masked(Part.VALUE, decoded(raw, wanted), masks, b"secret")


def test_fields_are_replaced_removed_hashed():
    value = {"id": 1, "who": {"email": SECRET, "name": "Ada"}, "list": [{"email": SECRET}, 3]}
    replaced = seen(value, mask("who.email"), mask("list.email"))
    assert replaced.data == {
        "id": 1, "who": {"email": REPLACEMENT, "name": "Ada"}, "list": [{"email": REPLACEMENT}, 3],
    }  # fmt: skip
    assert json.loads(replaced.text) == replaced.data
    assert replaced.is_masked
    assert replaced.size_bytes is None
    assert seen(value, mask("who.email", Act.REMOVE)).data["who"] == {"name": "Ada"}
    assert seen(value, mask("who.*", Act.REMOVE)).data["who"] == {}
    assert seen(value, mask("list.*", Act.REMOVE)).data["list"] == []
    hashed = seen(value, mask("who.email", Act.HASH), mask("list.*.email", Act.HASH)).data
    assert hashed["who"]["email"] == hashed["list"][0]["email"]
    assert hashed["who"]["email"].startswith("hash:")
    assert not seen({"id": 1}, mask("who.email")).is_masked


@pytest.mark.parametrize("wanted", list(Format))
@pytest.mark.parametrize(
    "raw",
    [
        SECRET.encode(),
        json.dumps(SECRET).encode(),
        b'{"email": "' + SECRET.encode(),
        b"\xff" + SECRET.encode(),
        b"12345678",
    ],
)
def test_what_cannot_be_taken_apart_is_hidden_whole(raw, wanted):
    found = Lens(query=Query(value_format=wanted), masks=[mask("email")], secret=b"s").see(
        Record(partition=0, offset=0, timestamp_ms=0, key=None, value=raw)
    )
    assert (found.value.text, found.value.size_bytes) == (REPLACEMENT, None)


def test_a_field_that_stands_twice_is_not_shown_by_its_first():
    raw = b'{"email": "ada@example.org", "email": "\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2"}'
    assert SECRET not in seen(raw, mask("email")).text


@given(
    st.recursive(
        st.just(SECRET) | st.integers() | st.none(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["email", "a", "b"]), inner, max_size=3)
        ),
        max_leaves=12,
    ),
    st.sampled_from(Act),
    st.sampled_from(list(Format)),
)
def test_under_a_mask_of_the_whole_nothing_is_left(value, act, wanted):
    record = Record(
        partition=0, offset=0, timestamp_ms=0, key=SECRET.encode(),
        value=json.dumps(value).encode(), headers=(("h", SECRET.encode()),),
    )  # fmt: skip
    masks = [mask(act=act, part=part) for part in Part]
    lens = Lens(query=Query(key_format=wanted, value_format=wanted), masks=masks, secret=b"s")
    shown = json.dumps(lens.shown(lens.see(record)))
    assert SECRET not in shown
    assert SECRET.encode().hex() not in shown
    assert len(lens.see(record).headers) == (0 if act is Act.REMOVE else 1)


@pytest.mark.parametrize("filtered", [
    Query(value="ada@"), Query(key="ada@"), Query(header="h=ada@"),
    Query(expression=parse('value.email == "ada@example.org"')),
    Query(expression=parse('key contains "ada"')),
    Query(expression=parse('headers.h startsWith "ada"')),
    Query(expression=parse("size(value.email) == 15")),
])  # fmt: skip
def test_a_filter_is_no_way_to_ask_what_is_hidden(filtered):
    record = Record(
        partition=0, offset=0, timestamp_ms=0, key=SECRET.encode(),
        value=json.dumps({"email": SECRET}).encode(), headers=(("h", SECRET.encode()),),
    )  # fmt: skip
    masks = [mask("email"), mask(part=Part.KEY), mask(part=Part.HEADER)]
    open_lens, through = Lens(query=filtered), Lens(query=filtered, masks=masks, secret=b"s")
    assert open_lens.matches(open_lens.see(record))
    assert not through.matches(through.see(record))


def test_masks_hold_for_what_a_schema_says_too():
    def from_schema(number, raw):
        if number == 9:
            raise Undecodable("There is no schema 9.")
        return "avro", {"email": raw.decode(), "id": 1}

    lens = Lens(masks=[mask("email")], secret=b"s", from_schema=from_schema)
    for number in (1, 9):
        value = b"\0\0\0\0" + bytes([number]) + SECRET.encode()
        record = Record(partition=0, offset=0, timestamp_ms=0, key=None, value=value)
        assert SECRET not in json.dumps(lens.shown(lens.see(record)))


def test_for_whom_and_where_a_mask_holds():
    rule = mask(see=["owner"], topics=Pattern(Match.PREFIX, "pay-"))
    hides = lambda scope, topic="pay-a": bool(masks_for([rule], scope, "main", topic))  # noqa: E731
    assert not hides(scope_of(OWNER, []))
    assert hides(scope_of(OPERATOR, []))
    assert hides(scope_of(VIEWER, []))
    assert not hides(scope_of(OPERATOR, []), "other")
    # A key of an owner sees no more than the key's own role does.
    assert hides(scope_of(OPERATOR, []).within(scope_of(OWNER, [])))
    rule = mask(see=["message-reader"])
    over = Grant(role="message-reader", over=Over.TOPIC, names=Pattern(Match.PREFIX, "pay-"))
    reader = scope_of(LIMITED, [over.as_row()])
    assert not hides(reader)
    assert hides(reader, "other")


@pytest.mark.parametrize("text", ["a..b", ".a", "a.", ".".join("a" * 21), "a" * 501])
def test_paths_that_are_none(text):
    with pytest.raises(ValueError, match="path"):
        path_of(text)
