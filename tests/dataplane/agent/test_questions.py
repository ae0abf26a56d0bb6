"""Questions are written by another program: anything may stand there. Both sides have one form."""

from __future__ import annotations

import json

import pytest

from controlplane.clusters import questions as asker
from dataplane.agent.questions import (
    ANSWER_BYTES_MAX,
    LEVELS,
    OPEN_MAX,
    QUESTION_BYTES_MAX,
    Kind,
    LogQuery,
    Question,
    QuestionError,
    decode_question,
    encode_answer,
    encode_refusal,
)

GOOD = {"v": 1, "kind": "log-tail", "broker": "kc-1", "wait_ms": 4_000, "args": {"lines": 5}}


def test_a_good_one():
    assert decode_question(json.dumps(GOOD).encode()) == Question("kc-1", 4_000, LogQuery(5))


@pytest.mark.parametrize(
    "row",
    [
        {**GOOD, "v": 2},
        {**GOOD, "kind": "shell"},
        {**GOOD, "kind": ["log-tail"]},
        {**GOOD, "broker": 7},
        {**GOOD, "wait_ms": 0},
        {**GOOD, "wait_ms": True},
        {**GOOD, "wait_ms": 10**9},
        {**GOOD, "args": []},
        {**GOOD, "args": {}},
        {**GOOD, "args": {"lines": 0}},
        {**GOOD, "args": {"lines": 501}},
        {**GOOD, "args": {"lines": 5, "level": "LOUD"}},
        {**GOOD, "args": {"lines": 5, "level": ["INFO"]}},
        {**GOOD, "args": {"lines": 5, "before": "../1"}},
        {**GOOD, "args": {"lines": 5, "before": "1:1\n"}},
        {**GOOD, "args": {"lines": 5, "before": 3}},
        [],
        None,
    ],
)
def test_what_is_none_is_refused_in_words(row):
    with pytest.raises(QuestionError) as error:
        decode_question(json.dumps(row).encode())
    assert len(str(error.value)) > 5


@pytest.mark.parametrize("data", [b"", b"\xff", b"[" * 4_000, b" " * (QUESTION_BYTES_MAX + 1)])
def test_what_is_no_json_is_refused(data):
    with pytest.raises(QuestionError):
        decode_question(data)


def test_an_answer_that_is_too_long_is_a_refusal():
    data = encode_answer({"lines": "x" * ANSWER_BYTES_MAX}, at_ms=1)
    assert json.loads(data)["refused"] == "the answer is too long"
    assert len(encode_refusal("\ud800" * 10**6, at_ms=1)) < 2_000


def test_both_planes_have_one_form():
    """They share no code (`lint-imports`)."""
    question = asker.HostQuestion(("h1", "kc-1"), asker.LOG_TAIL, {"lines": 5, "level": None})
    found = decode_question(asker.encode(question, wait_ms=4_000))
    assert found == Question("kc-1", 4_000, LogQuery(5))
    assert asker.answer_of(encode_answer({"a": 1}, at_ms=9)) == asker.Answered({"a": 1}, 9)
    said = asker.answer_of(encode_refusal("no such broker", at_ms=9))
    assert said == asker.Unanswered(
        "The agent of this broker's host says: no such broker.", is_refusal=True
    )
    assert {kind.value for kind in Kind} == {
        asker.LOG_TAIL,
        asker.DENIALS,
        asker.ADMINISTERED,
        asker.SEGMENTS,
    }
    assert asker.LEVELS == LEVELS
    assert (asker.ANSWER_BYTES_MAX, asker.OPEN_MAX) == (ANSWER_BYTES_MAX, OPEN_MAX)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"[" * 100_000,
        b"\xff",
        b'{"v":1}',
        b'{"v":1,"answer":[]}',
        b'{"v":2,"answer":{}}',
        b'{"v":1,"answer":{"a":"' + b"x" * ANSWER_BYTES_MAX + b'"}}',
        b'{"v":1,"refused":7,"answer":null}',
    ],
)
def test_an_answer_that_cannot_be_understood_is_unknown(data):
    assert asker.answer_of(data) == asker.Unanswered(asker.UNREADABLE)
