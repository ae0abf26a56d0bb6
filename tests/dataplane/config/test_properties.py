"""Properties files: the round trip over all of Unicode, and Java's own word on the grammar."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.config.properties import PropertiesError, format_properties, parse_properties
from tests.dataplane.config import java_oracle
from tests.dataplane.config.java_oracle import EXPECTED, NO_LINE_ENDS, TEXTS

ROWS = json.loads(EXPECTED.read_text())
LAST_CHARACTER = 0x10FFFF
MEANING = "=: \t\f\n\r\\#!u0\u2028\u2029\x85\v\x1c\x1d\x1e\0é\U0001f600"
"""Characters that mean something in the format, or to other readers of lines."""

HALVES = ("\ud800", "\udbff", "\udc00", "\udfff", "\ude00\ud83d")

any_text = st.text(max_size=12) | st.text(st.sampled_from(MEANING), max_size=12)
pairs = st.dictionaries(any_text, any_text, max_size=4)
needs_java = pytest.mark.skipif(not java_oracle.is_here(), reason="needs a JDK")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: ascii(row["text"])[:40])
def test_texts_are_read_as_java_reads_them(row: dict) -> None:
    if row["pairs"] is None:
        with pytest.raises(PropertiesError, match=r"line 1: .*hexadecimal"):
            parse_properties(row["text"])
    else:
        assert parse_properties(row["text"]) == row["pairs"]


def test_java_was_asked_about_every_text() -> None:
    assert [row["text"] for row in ROWS] == list(TEXTS)
    assert sum(row["pairs"] is None for row in ROWS) == 4


@settings(max_examples=500)
@given(pairs)
def test_what_is_written_is_read_back(wanted: dict[str, str]) -> None:
    text = format_properties(wanted)
    assert parse_properties(text) == wanted
    assert text.isascii()
    assert len(text.splitlines()) == len(wanted), "one line a pair, for every reader of lines"


def test_every_character_survives_in_keys_and_values() -> None:
    """All of Unicode, 256 characters a pair: at the beginning, in the middle and at the end."""
    wanted = {}
    for first in range(0, LAST_CHARACTER + 1, 256):
        block = "".join(
            chr(code) for code in range(first, first + 256) if not 0xD800 <= code <= 0xDFFF
        )
        wanted[block] = block[::-1]
    for code in range(0x3000):
        wanted[f"{chr(code)}.{chr(code)}"] = f"{chr(code)}.{chr(code)}"
    assert parse_properties(format_properties(wanted)) == wanted


@pytest.mark.parametrize("half", HALVES, ids=ascii)
def test_half_a_surrogate_pair_is_refused_by_name(half: str) -> None:
    for unwritable in ({"a.key": f"x{half}"}, {f"a.key{half}": "x"}):
        with pytest.raises(PropertiesError, match=r"a\.key.*half of a surrogate pair"):
            format_properties(unwritable)
    for raw in (half, *("".join(f"\\u{ord(unit):04x}" for unit in half),)):
        with pytest.raises(PropertiesError, match="line 2: half of a surrogate pair"):
            parse_properties(f"a=1\nb={raw}\n")


def test_a_refusal_does_not_show_the_value() -> None:
    with pytest.raises(PropertiesError) as refused:
        format_properties({"password": "hunter2\ud800"})
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("char", [*NO_LINE_ENDS, "\n", "\r", "\r\n", "\f", "\0", " "])
@pytest.mark.parametrize("place", ["value", "key"])
def test_no_character_begins_another_pair(char: str, place: str) -> None:
    injected = f"x{char}log.dirs=/etc{char}super.users=User:mallory"
    wanted = {"a": injected} if place == "value" else {injected: "a"}
    assert parse_properties(format_properties(wanted)) == wanted


@needs_java
def test_java_still_says_what_is_kept() -> None:
    assert java_oracle.load(TEXTS) == [row["pairs"] for row in ROWS]


@needs_java
def test_java_and_we_read_what_the_other_writes() -> None:
    chance = random.Random(7)
    many = [
        {_text(chance, 8): _text(chance, 8) for _ in range(chance.randrange(4))}
        for _ in range(3_000)
    ]
    assert java_oracle.load(format_properties(each) for each in many) == many
    for to_bytes in (False, True):
        stored = java_oracle.store(many, to_bytes=to_bytes)
        assert [parse_properties(text) for text in stored] == many


@needs_java
def test_any_text_is_read_as_java_reads_it() -> None:
    chance = random.Random(7)
    # A backslash before the end of the file has an empty pair in Java, see parse_properties.
    texts = [_text(chance, 20) + "\n." for _ in range(10_000)]
    refused = 0
    for text, wanted in zip(texts, java_oracle.load(texts), strict=True):
        if wanted is None:
            refused += 1
            with pytest.raises(PropertiesError):
                parse_properties(text)
        else:
            assert parse_properties(text) == wanted
    assert 0 < refused < len(texts) / 2


def _text(chance: random.Random, length_max: int) -> str:
    return "".join(chance.choices(MEANING + "\\\nab", k=chance.randrange(length_max)))
