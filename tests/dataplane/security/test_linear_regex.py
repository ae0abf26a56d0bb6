"""The expressions of mapping rules: the same answers as a backtracking one, in linear time."""

from __future__ import annotations

import contextlib
import re
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dataplane.security.linear_regex import LinearRegex, RegexError, Replacement

ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\.", "^", "$", r"\W", "[b-d,]"])


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    # Nothing that can be empty is repeated: there engines differ, and rules do not ask for it.
    signs = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{1,}?"]
    repeated = st.tuples(st.sampled_from("ab"), st.sampled_from(signs)).map("".join)
    return st.one_of(
        repeated,
        st.lists(inner, min_size=1, max_size=3).map("".join),
        inner.map(lambda each: f"({each})"),
        inner.map(lambda each: f"(?:{each})"),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
    )


EXPRESSIONS = st.recursive(ATOMS, nested, max_leaves=8)


@settings(max_examples=400)
@given(expression=EXPRESSIONS, text=st.text("abc,1.", max_size=8))
def test_it_finds_what_a_backtracking_engine_finds(expression: str, text: str) -> None:
    ours, theirs = LinearRegex(expression), re.compile(expression, re.ASCII)
    assert ours.groups == theirs.groups
    assert ours.matches(text) == (theirs.fullmatch(text) is not None)
    groups = range(ours.groups + 1)
    wanted = Replacement("<" + "|".join(f"${each}" for each in groups) + ">", ours.groups)
    # Python looks for a match at the end of the last one too; Java and we go on behind an empty one
    # in the same way, so that only matches that are not empty are compared.
    assume(all(found.group() for found in theirs.finditer(text)))
    assert ours.replaced(text, wanted) == theirs.sub(
        lambda found: "<" + "|".join(found.group(each) or "" for each in groups) + ">", text
    )


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("(a+)+b", "a" * 2_000),
        ("(a|aa)+b", "a" * 2_000),
        ("(a*)*(a*)*b", "a" * 2_000),
        ("^CN=(.*?),(.*?),(.*?),(.*?),(.*?)X$", "CN=" + "," * 2_000),
        ("(?:a?){50}a{50}", "a" * 49),
    ],
)
def test_no_text_takes_long(expression: str, text: str) -> None:
    regex = LinearRegex(expression)
    started = time.process_time()
    with contextlib.suppress(RegexError):  # or it is refused
        assert not regex.matches(text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "expression",
    [
        r"(a)\1",
        "(?=a)",
        "(?i)a",
        "(?<n>a)",
        "a*+",
        "a**",
        "(",
        ")",
        "a{2",
        "a{3,2}",
        "a{999999999}",
        "*a",
        "[",
        "[]",
        "[[a]]",
        "[a&&b]",
        "[b-a]",
        "\\",
        r"\b",
        r"\p{L}",
        "(?:a{1000}){1000}",
        "(" * 60 + ")" * 60,
    ],
)
def test_what_is_not_taken_is_refused(expression: str) -> None:
    with pytest.raises(RegexError):
        LinearRegex(expression)


def test_replacements_are_those_of_java() -> None:
    assert LinearRegex("(a)(b)").replaced("xabab", Replacement(r"$2\$1$1-", 2)) == "xb$1a-b$1a-"
    assert LinearRegex("(a)").replaced("a", Replacement("$12$9", 1)) == "a2$9"
    assert LinearRegex(".*").replaced("ab", Replacement("x", 0)) == "xx"  # and the empty one behind
    for wrong in ("$", "$x", "a\\"):
        with pytest.raises(RegexError):
            Replacement(wrong, 1)
