"""The end of a broker's log by pages, whatever stands in it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.agent.log_lines import LINE_MAX, TEXT_BYTES_MAX, WINDOWS_MAX, read_log
from dataplane.agent.pieces import WINDOW_BYTES, Piece
from dataplane.agent.questions import ANSWER_BYTES_MAX, LogQuery, QuestionError, encode_answer


def piece(content, name="7"):
    return Piece(name, len(content), 5, lambda offset, length: content[offset : offset + length])


def line(number, level="INFO", text="said"):
    return f"2026-11-26 03:47:51,{number % 1000:03} {level} a.b: {text} {number}\n".encode()


def texts(found):
    return [row["text"] for row in found["lines"]]


def pages(pieces, lines, level=None):
    """Every page from the end to the beginning."""
    before, found = None, []
    while True:
        page = read_log(pieces, LogQuery(lines, level, before))
        found.append(page)
        before = page["next"]
        if before is None:
            return found


def test_the_last_lines_come_in_their_order_with_their_level():
    found = read_log([piece(line(1) + line(2, "ERROR") + line(3))], LogQuery(2))
    assert [(row["level"], row["cut"]) for row in found["lines"]] == [
        ("ERROR", False),
        ("INFO", False),
    ]
    assert texts(found)[-1].endswith("said 3")
    assert found["next"] == f"7:{len(line(1))}"
    assert (found["size_bytes"], found["written_at_ms"]) == (3 * len(line(1)) + 1, 5)


def test_pages_hold_every_line_once_over_all_files_and_windows():
    newer = b"".join(line(n) for n in range(9_000, 12_000))
    older = b"".join(line(n) for n in range(1, 9_000))
    assert len(older) > WINDOW_BYTES
    found = pages([piece(newer, "8"), piece(older, "7")], 500)
    numbers = [int(text.rsplit(" ", 1)[1]) for page in reversed(found) for text in texts(page)]
    assert numbers == list(range(1, 12_000))


def test_a_level_lets_through_what_is_above_it_with_what_belongs_to_it():
    log = (
        line(1)
        + line(2, "ERROR")
        + b"Traceback (most recent call last):\n  File x\nValueError: no\n"
        + line(3)
        + line(4, "WARNING")
    )
    found = read_log([piece(log)], LogQuery(100, "WARNING"))
    assert [row["level"] for row in found["lines"]] == ["ERROR"] * 4 + ["WARNING"]
    assert texts(found)[3] == "ValueError: no"
    assert texts(read_log([piece(log)], LogQuery(100, "CRITICAL"))) == []


def test_a_traceback_without_a_head_is_an_error_wherever_it_stands():
    bare = b"Traceback (most recent call last):\nKeyError: 1\n"
    behind = read_log([piece(line(1) + bare)], LogQuery(9, "ERROR"))
    alone = read_log([piece(bare)], LogQuery(9, "ERROR"))
    refused = read_log([piece(b"penstock broker: port: no\n")], LogQuery(9, "ERROR"))
    assert texts(behind)[1:] == texts(alone) == bare.decode().splitlines()
    assert texts(refused) == ["penstock broker: port: no"]


def test_an_entry_is_on_one_page():
    log = line(1) + line(2, "ERROR") + b"  one\n  two\n" + line(3)
    first, second, third = pages([piece(log)], 3)
    assert texts(first)[0].endswith("said 3")
    assert texts(second)[1:] == ["  one", "  two"]
    assert len(texts(third)) == 1


def test_an_entry_longer_than_a_page_shows_its_beginning_and_says_so():
    log = line(1) + line(2, "ERROR") + b"  more\n" * 900
    found = read_log([piece(log)], LogQuery(100))
    assert len(found["lines"]) == 100
    assert texts(found)[0].endswith("said 2")
    assert [row["cut"] for row in found["lines"][-2:]] == [False, True]
    assert texts(read_log([piece(log)], LogQuery(100, None, found["next"]))) == [
        line(1).decode().strip()
    ]


def test_a_filter_that_lets_nothing_through_stops_and_goes_on_when_asked():
    log = line(0, "CRITICAL") + line(1) * (WINDOW_BYTES * (WINDOWS_MAX + 2) // len(line(1)))
    first = read_log([piece(log)], LogQuery(10, "CRITICAL"))
    assert first["lines"] == []
    assert first["next"] is not None
    assert [len(page["lines"]) for page in pages([piece(log)], 10, "CRITICAL")][-1] == 1


def test_a_log_that_holds_nothing_is_empty_and_one_that_is_not_there_is_not():
    assert read_log([piece(b"")], LogQuery(5))["lines"] == []
    with pytest.raises(QuestionError, match="no log on this host"):
        read_log([], LogQuery(5))


@pytest.mark.parametrize("cursor", ["9:1", "7:9999"])
def test_what_a_cursor_names_may_be_gone(cursor):
    with pytest.raises(QuestionError, match="not kept any more"):
        read_log([piece(line(1))], LogQuery(5, None, cursor))


def test_a_cursor_stays_good_when_its_file_is_put_aside():
    log = line(1) + line(2)
    cursor = read_log([piece(log)], LogQuery(1))["next"]
    moved = read_log([piece(line(3), "8"), piece(log, "7")], LogQuery(5, None, cursor))
    assert [text[-1] for text in texts(moved)] == ["1"]


def test_lines_without_end_and_of_strange_bytes_are_shown_within_bounds():
    log = line(1) + b"\xff\x00\x1b[31m\xe2\x80\xae" * 100_000 + b"\r\n" + b"\n" + line(2)
    found = pages([piece(log)], 500)
    assert max(len(text) for page in found for text in texts(page)) <= LINE_MAX
    assert any(row["cut"] for page in found for row in page["lines"])
    assert texts(found[-1])[0].endswith("said 1")


@pytest.mark.parametrize("unit", [b"\x01", b"\xff", "😀".encode(), b'"', b"x"])
def test_no_answer_is_longer_than_its_bound(unit):
    log = b"".join(line(n, text=(unit * 3_000).decode(errors="replace")) for n in range(300))
    found = read_log([piece(log)], LogQuery(500))
    data = encode_answer(found, at_ms=2**62)
    assert len(data) <= TEXT_BYTES_MAX + 500 < ANSWER_BYTES_MAX
    assert json.loads(data)["answer"]["lines"]


@given(st.lists(st.binary(max_size=40), max_size=40), st.integers(1, 7))
def test_any_bytes_are_read_to_their_beginning(parts, lines):
    whole = b"\n".join(parts)
    split = len(whole) // 2
    for page in pages([piece(whole[split:], "8"), piece(whole[:split], "7")], lines):
        assert len(page["lines"]) <= lines
        json.dumps(page)
