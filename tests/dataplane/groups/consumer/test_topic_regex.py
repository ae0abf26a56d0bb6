"""Expressions of RE2's syntax mean what they mean to RE2, and cost no more than they may."""

import contextlib
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.groups.consumer.regex_syntax import InvalidRegexError
from dataplane.groups.consumer.topic_regex import TopicRegex

names = st.text("abAB09._-", max_size=8)


def means(text, *candidates):
    return sorted(TopicRegex(text).matching(candidates))


@pytest.mark.parametrize(
    ("text", "matching", "others"),
    [
        ("orders", ["orders"], ["orders2", "my-orders"]),
        ("orders.*", ["orders", "orders-eu"], ["xorders"]),
        ("^orders-.+$", ["orders-eu"], ["orders-", "orders"]),
        ("a|b|", ["", "a", "b"], ["ab"]),
        ("(a|b)*c", ["c", "abac"], ["ab"]),
        (r"a\.b", ["a.b"], ["axb"]),
        (r"\d{2,3}", ["12", "123"], ["1", "1234"]),
        ("x{2}", ["xx"], ["x", "xxx"]),
        ("x{2,}", ["xx", "xxxx"], ["x"]),
        ("x{,2}", [], ["x", "xx"]),  # not a repetition: a brace, which no name has
        ("[a-c_]+", ["abc_"], ["d", "a-"]),
        ("[^a-c]", ["d", "-"], ["a"]),
        ("[]a]", ["a"], ["b"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[[:alpha:]]+", ["abC"], ["a1"]),
        ("[[:^digit:]]", ["a", "."], ["1"]),
        (r"\pL\p{Nd}", ["a1"], ["1a", "aa"]),
        (r"\P{L}", ["1", "_"], ["a"]),
        (r"\p{^L}", ["1"], ["a"]),
        (r"\p{Latin}|\p{Greek}", ["a"], ["1"]),
        (r"[\pN\-.]", ["1", "-", "."], ["a"]),
        (r"\w\W", ["a-"], ["aa", "-a"]),
        (r"a\bb|a\b-", ["a-"], ["ab"]),
        (r"a\Bb", ["ab"], ["a-"]),
        (r"\Aa\z", ["a"], ["aa"]),
        (r"\Qa.b\E+", ["a.b", "a.bb"], ["axb"]),
        ("(?i)orders", ["orders", "ORDERS", "oRders"], []),
        ("(?i:a)b", ["ab", "Ab"], ["aB"]),
        ("(a(?i)b|c)d", ["abd", "aBd", "Cd"], ["abD"]),
        ("(?i)a(?-i)b", ["Ab"], ["AB"]),
        ("(?i)[^a]", ["b"], ["a", "A"]),
        ("(?P<name>a)(?<other>b)(?:c)", ["abc"], ["ab"]),
        ("(?msU)a*?", ["", "aa"], ["b"]),
        (r"\x61\x{62}\141", ["aba"], ["abc"]),
        ("", [""], ["a"]),
        ("()*", [""], ["a"]),
        ("(a*)*b", ["b", "aab"], ["aa"]),
        ("(?:a*)*", ["", "aa"], ["b"]),
        (r"é|a", ["a"], ["e"]),
        ("(?i)\u212a", ["k", "K"], ["a"]),
        (r"\C.", ["ab"], ["a"]),
    ],
)
def test_an_expression_means_whole_names(text, matching, others):
    assert means(text, *matching, *others) == sorted(matching)


@pytest.mark.parametrize(
    "text",
    [
        "(", ")", "a)", "(a", "[a", "[z-a]", "*", "+a", "a**", "a+*", "a{2}{3}", "a{1001}",
        "a{3,2}", r"\1", r"(a)\1", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", r"\8", r"\_", r"\y",
        r"\xg0", r"\x{110000}", r"\x{", r"\p{nonsense}", r"\p{", "[[:nonsense:]]", "[[:alpha",
        "(?P<a", "(?P<1a>b)", "(?x)a", "(?", "\\", r"\Z", "(?--i)a",
        "(" * 101 + ")" * 101, "(a{1000}){1000}", "(((){1000}){1000}){1000}", "a" * 40_000,
    ],
)  # fmt: skip
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(InvalidRegexError):
        TopicRegex(text)


# Expressions whose meaning Python's `re` and RE2 agree about.
atoms = st.sampled_from(["a", "b", "A", "0", r"\.", "-", "_", ".", "[ab]", "[^a]", r"\d", r"\w"])
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda c: "(" + "|".join(c) + ")"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,2}", "{0,}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
        inner.map(lambda e: f"(?i:{e})"),
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(expressions, st.lists(names, max_size=6))
def test_it_agrees_with_a_backtracking_engine(text, candidates):
    expected = {name for name in candidates if re.fullmatch(text, name, re.ASCII)}
    assert TopicRegex(text).matching(candidates) == expected


@pytest.mark.parametrize("text", ["(a*)*b", "(a|a)*b", "(a|aa)+$", "(.*)(.*)(.*)(.*)(.*)[^a]"])
def test_what_makes_others_backtrack_for_ever_is_quick(text):
    started = time.process_time()
    assert TopicRegex(text).matching(["a" * 249] * 1000) in (frozenset(), frozenset({"a" * 249}))
    assert time.process_time() - started < 1


def test_an_expression_that_needs_too_much_work_is_refused_in_time():
    # Which of the last 500 characters were an "a" takes a machine of very many situations.
    greedy = TopicRegex("(.*a.{1000}){9}|.*a.{900}")
    hostile = [f"{number:0249b}".replace("1", "a") for number in range(1, 2**40, 2**40 // 2000)]
    started = time.process_time()
    with pytest.raises(InvalidRegexError, match="work"):
        greedy.matching(hostile)
    assert time.process_time() - started < 5


@given(st.text(max_size=40))
def test_any_text_is_an_expression_or_refused(text):
    with contextlib.suppress(InvalidRegexError):
        assert TopicRegex(text).matching(["a", "b.c"]) <= {"a", "b.c"}
