"""Files as kafka-consumer-groups.sh writes them, and those that only look like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.gateway.types import TP
from controlplane.groups.offset_file import LINES_MAX, FileOffset, OffsetFileError, parse


def test_an_export_of_one_group():
    assert parse("orders,0,60\norders,1,80\n", "readers") == {
        TP("orders", 0): FileOffset(60, 1),
        TP("orders", 1): FileOffset(80, 2),
    }


def test_an_export_of_several_groups_gives_the_group_s_own():
    text = "readers,orders,0,60\nothers,orders,0,7\nreaders,orders,1,80"
    assert {tp: at.offset for tp, at in parse(text, "readers").items()} == {
        TP("orders", 0): 60,
        TP("orders", 1): 80,
    }


def test_what_editors_leave_is_passed_over():
    text = '\ufefftopic,partition,offset\r\n"orders", 0 ,60\r\n\r\n'
    assert parse(text, "g") == {TP("orders", 0): FileOffset(60, 2)}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "The file holds no offset."),
        ("\n\n", "The file holds no offset."),
        ("others,orders,0,1", "The file holds no offset of g, only of others."),
        ("orders,0", "Line 1: needs topic,partition,offset"),
        ("orders,0,1,2,3", "it has 5 fields"),
        ("orders,x,1", "Line 1: the partition is no whole number from 0 on: x."),
        ("orders,0,-1", "Line 1: the offset is no whole number from 0 on: -1."),
        ("orders,0,1.5", "no whole number"),
        ("orders,0,٣", "no whole number"),
        ("orders,0," + "9" * 5_000, "no whole number"),
        ("orders,99999999999,0", "the partition is no whole number"),
        (",0,1", "Line 1: a topic has 1 to 249 characters."),
        ("t" * 250 + ",0,1", "a topic has 1 to 249"),
        ("orders,0,1\norders,0,2", "Line 2: orders-0 is in line 1 already."),
        ('"orders,0,1', "Line 1: "),
        ("a,0,1\n" * (LINES_MAX + 1), "is in line 1 already"),
    ],
)
def test_what_is_none_names_its_line(text, why):
    with pytest.raises(OffsetFileError) as caught:
        parse(text, "g")
    assert why in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_file_has_so_many_lines():
    with pytest.raises(OffsetFileError, match="more than"):
        parse("\n".join(f"t,{n},0" for n in range(LINES_MAX + 1)), "g")


@given(st.text())
def test_any_text_is_offsets_or_a_refusal(text):
    try:
        found = parse(text, "g")
    except OffsetFileError:
        return
    assert all(tp.partition >= 0 and at.offset >= 0 for tp, at in found.items())


@given(
    st.dictionaries(
        st.tuples(st.from_regex(r"\A[a-z._-]{1,20}\Z"), st.integers(0, 10_000)),
        st.integers(0, 2**53),
        min_size=1,
    )
)
def test_what_is_exported_is_read_back(offsets):
    text = "\n".join(f"{topic},{number},{at}" for (topic, number), at in offsets.items())
    found = parse(text, "g")
    assert {(tp.topic, tp.partition): at.offset for tp, at in found.items()} == offsets
