"""The audit log's changes, of an allowed few, whatever stands in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dataplane.agent.administered import OPERATIONS, PART_MAX, read_administered
from dataplane.agent.pieces import Piece
from dataplane.agent.questions import (
    ANSWER_BYTES_MAX,
    CHANGES_MAX,
    AdministeredQuery,
    QuestionError,
    decode_question,
    encode_answer,
)
from dataplane.handlers import audit_entries


def piece(*rows, name="1"):
    content = b"".join(
        row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows
    )
    return Piece(name, len(content), 5, lambda offset, length: content[offset : offset + length])


def change(at_ms, **more):
    return {
        "time_ms": at_ms,
        "event": "administered",
        "principal": "User:ann",
        "host": "10.0.0.1",
        "listener": "PLAINTEXT",
        "api": "IncrementalAlterConfigs",
        "operation": "ALTER_CONFIGS",
        "resource": "Topic:orders",
        "outcome": "SUCCESS",
        "detail": "retention.ms",
        **more,
    }


def test_the_newest_first_since_the_moment_that_is_asked_for():
    older, newer = piece(change(1), change(5)), piece(change(7, principal="User:bob"))
    found = read_administered([newer, older], AdministeredQuery(10, 5))
    assert [(row["at_ms"], row["principal"]) for row in found["changes"]] == [
        (7, "User:bob"),
        (5, "User:ann"),
    ]
    assert found["changes"][0] == {
        "at_ms": 7,
        "principal": "User:bob",
        "host": "10.0.0.1",
        "operation": "ALTER_CONFIGS",
        "resource": "Topic:orders",
        "detail": "retention.ms",
    }
    assert (found["is_whole"], found["since_ms"], found["left_out"]) == (True, 1, 0)


def test_what_failed_was_denied_or_is_of_another_kind_is_no_change():
    rows = [
        change(1, outcome="TOPIC_AUTHORIZATION_FAILED"),
        change(2, event="denied"),
        change(3, operation="ELECT"),
        b"half a li",
        b"\n[1]\n",
        change(4, time_ms="soon"),
    ]
    found = read_administered([piece(*rows)], AdministeredQuery(10, 0))
    assert (found["changes"], found["since_ms"]) == ([], 1)


def test_an_answer_is_bounded_and_says_what_it_leaves_out():
    rows = [change(at, detail="k" * 5_000) for at in range(CHANGES_MAX + 50)]
    found = read_administered([piece(*rows)], AdministeredQuery(10**6, 0))
    assert len(found["changes"]) <= CHANGES_MAX
    assert found["left_out"] == len(rows) - len(found["changes"])
    assert len(found["changes"][0]["detail"]) == PART_MAX
    assert len(encode_answer(found, at_ms=1)) < ANSWER_BYTES_MAX


def test_without_a_log_nothing_is_known():
    with pytest.raises(QuestionError, match="no audit log"):
        read_administered([], AdministeredQuery(10, 0))


def test_its_operations_are_those_of_the_audit_log():
    source = Path(audit_entries.__file__).read_text()
    assert [each for each in sorted(OPERATIONS) if f'"{each}"' not in source] == []


@pytest.mark.parametrize(
    "args", [{}, {"changes": 0, "since_ms": 0}, {"changes": 10**6, "since_ms": 0}, {"changes": 1}]
)
def test_a_question_is_checked(args):
    row = {"v": 1, "kind": "administered", "broker": "c-1", "wait_ms": 100, "args": args}
    with pytest.raises(QuestionError):
        decode_question(json.dumps(row).encode())
    row["args"] = {"changes": 5, "since_ms": 3}
    assert decode_question(json.dumps(row).encode()).query == AdministeredQuery(5, 3)
